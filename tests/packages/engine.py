"""podman with runc, which builds images and runs containers and has its own storage in `build/containers`.

No image can be pulled where the tests run. `base` makes the base image of the others from Debian's packages, and
`images/` has replacements for PostgreSQL, Valkey and Caddy.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from flagstaff import __version__
from tests.packages.tools import program
from tests.support.debian import find_or_install, leave_out
from tests.support.postgres import installation
from tests.support.valkey import server_program

ROOT = Path(__file__).parents[2]
IMAGE = f"localhost/flagstaff:{__version__}"
BASE = "localhost/flagstaff-test-base"
_PYTHON = "docker.io/library/python:3.11-slim-bookworm"
_STAND_INS = {
    "postgresql": "docker.io/library/postgres:18",
    "valkey": "docker.io/valkey/valkey:9.1",
    "caddy": "docker.io/library/caddy:2.11",
}
_FOLDER = ROOT / "build" / "containers"
_IMAGES = Path(__file__).parent / "images"
_PACKAGES = "python3,python3-venv,python3-pip,python3-dev,ca-certificates"
# Build steps need the certificates and settings with which the machine reaches registries.
_PASSED_ON = re.compile(r"PIP_(CERT|INDEX_URL|DEFAULT_TIMEOUT)|.*_(CERTS?|PROXY)|SSL_CERT_FILE", re.IGNORECASE)
_CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
# Some machines do not allow a container to raise its limits, or have no systemd or version 2 of cgroups.
_CONTAINERS = """
[containers]
default_ulimits = ["nofile=16384:16384", "nproc=4096:4096"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
"""
_STORAGE = """
[storage]
driver = "overlay"
graphroot = "{folder}/images"
runroot = "{folder}/run"
"""


class Engine:
    """Installs podman on entry; skips the test if podman cannot be installed."""

    def __init__(self) -> None:
        wanted = {"podman": "podman", "runc": "runc", "mmdebstrap": "mmdebstrap", "netavark": "netavark"}
        wanted["aardvark-dns"] = "aardvark-dns"
        found = {name: find_or_install([name], package) for name, package in wanted.items()}
        if os.geteuid() != 0 or not all((found["podman"], found["runc"], found["mmdebstrap"])):
            leave_out("Containers take root, podman, runc and mmdebstrap.")
        self._podman, self._mmdebstrap = str(found["podman"]), str(found["mmdebstrap"])
        _FOLDER.mkdir(parents=True, exist_ok=True)
        (_FOLDER / "containers.conf").write_text(_CONTAINERS)
        (_FOLDER / "storage.conf").write_text(_STORAGE.format(folder=_FOLDER))
        self.environ = {
            **os.environ,
            "CONTAINERS_CONF": str(_FOLDER / "containers.conf"),
            "CONTAINERS_STORAGE_CONF": str(_FOLDER / "storage.conf"),
        }

    def __call__(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run podman. With `check`, a failure fails the test and shows podman's message."""
        done = subprocess.run(
            [self._podman, *arguments], env=self.environ, capture_output=True, text=True, timeout=900, check=False
        )
        assert done.returncode == 0 or not check, f"podman {' '.join(arguments)}\n{done.stdout}\n{done.stderr}"
        return done

    def build_image(self) -> None:
        """Build Flagstaff's image from the checkout, as packaging/README.md says."""
        self.build_base()
        self("build", "--format", "docker", "--file", str(ROOT / "Containerfile"), "--tag", IMAGE, str(ROOT))

    def build_base(self) -> None:
        """Build the replacement for the base image of the Containerfile, under its name."""
        if self("image", "exists", _PYTHON, check=False).returncode == 0:
            return
        folder = _FOLDER / "base"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        archive = folder / "debian.tar"
        bootstrap = [self._mmdebstrap, "--variant=minbase", f"--include={_PACKAGES}", "bookworm", str(archive)]
        subprocess.run(bootstrap, check=True, capture_output=True)
        lines = ["FROM scratch", "ADD debian.tar /", "RUN ln -s /usr/bin/python3 /usr/local/bin/python"]
        if _CERTIFICATES.exists():
            shutil.copy(_CERTIFICATES, folder)
            lines.append(f"COPY {_CERTIFICATES.name} {_CERTIFICATES}")
        lines += [f'ENV {name}="{value}"' for name, value in os.environ.items() if _PASSED_ON.fullmatch(name)]
        (folder / "Containerfile").write_text("\n".join(lines))
        self("build", "--format", "docker", "--tag", BASE, "--tag", _PYTHON, str(folder))
        archive.unlink()

    def build_stand_ins(self) -> None:
        """Build the images of the other services of compose.yaml, under their names."""
        self.build_base()
        for name, image in _STAND_INS.items():
            if self("image", "exists", image, check=False).returncode == 0:
                continue
            folder = _FOLDER / name
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(_IMAGES / name, folder)
            _add_program(name, folder)
            self("build", "--format", "docker", "--tag", image, str(folder))

    def compose(self, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run podman-compose in a folder with a compose.yaml."""
        module = program("podman-compose")
        if not module.exists():
            pip = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(module), "podman-compose==1.6.0"]
            subprocess.run(pip, check=True)
        path = os.pathsep.join((str(Path(self._podman).parent), self.environ["PATH"]))
        environ = {**self.environ, "PYTHONPATH": str(module), "PATH": path}
        command = [sys.executable, "-m", "podman_compose", *arguments]
        return subprocess.run(
            command, cwd=folder, env=environ, capture_output=True, text=True, timeout=900, check=False
        )


def _add_program(name: str, folder: Path) -> None:
    match name:
        case "postgresql":
            package = installation()
            for part in (package, package.with_name(f"{package.name}.libs")):
                shutil.copytree(part, folder / part.name, symlinks=True)
        case "valkey":
            shutil.copy(server_program(), folder)
        case "caddy":
            shutil.copy(program("caddy"), folder)


def main() -> None:
    """Build all images: `python -m tests.packages.engine`. The first build takes minutes, too long for a test."""
    engine = Engine()
    engine.build_image()
    engine.build_stand_ins()


if __name__ == "__main__":
    main()
