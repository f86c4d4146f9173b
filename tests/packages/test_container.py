"""The Containerfile builds an image that runs as an unprivileged user with a read-only root."""

import os
import shutil
import signal
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.packages.containerfile import Image, build
from tests.support.debian import find_or_install, leave_out
from tests.support.ports import free_port

ROOT = Path(__file__).parents[2]
BASE = ROOT / "build" / "tools" / "debian"
_PACKAGES = "python3,python3-venv,python3-pip,ca-certificates"


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Image:
    """The image, built from the checkout."""
    debootstrap = find_or_install(["debootstrap"], "debootstrap") if os.geteuid() == 0 else None
    if debootstrap is None or shutil.which("unshare") is None:
        leave_out("The image is built in a chroot, which takes root, debootstrap and unshare.")
    if not (BASE / "usr/bin/python3").exists():
        shutil.rmtree(BASE, ignore_errors=True)
        BASE.parent.mkdir(parents=True, exist_ok=True)
        command = [str(debootstrap), "--variant=minbase", f"--include={_PACKAGES}", "bookworm", str(BASE)]
        subprocess.run(command, check=True, capture_output=True)
    return build(ROOT / "Containerfile", ROOT, BASE, tmp_path_factory.mktemp("image"))


@pytest.fixture
def data(image: Image, tmp_path: Path) -> Path:
    """A volume, which begins as a copy of the image's folder."""
    volume = tmp_path / "data"
    subprocess.run(["cp", "--archive", image.root / "data", volume], check=True)
    for folder in (tmp_path, *tmp_path.parents[:2]):
        folder.chmod(0o755)
    return volume


@contextmanager
def container(image: Image, data: Path, environ: Mapping[str, str]) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A running container with the image's own command; yields the process and its URL."""
    port = free_port()
    settings = {**image.environ, **environ, "FLAGSTAFF_PORT": str(port)}
    command = image.contained([*image.entrypoint, *image.command], data)
    process = subprocess.Popen(command, env=settings, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        url = f"http://127.0.0.1:{port}"
        deadline = time.monotonic() + 60
        while not answers(f"{url}/ready"):
            assert process.poll() is None, process.communicate()[0]
            assert time.monotonic() < deadline, "it is not ready"
            time.sleep(0.05)
        yield process, url
    finally:
        process.kill()
        process.communicate()


def answers(url: str) -> bool:
    with suppress(OSError, urllib.error.URLError), urllib.request.urlopen(url, timeout=5) as response:
        return bool(response.status == 200)
    return False


def first_process(process: subprocess.Popen[str]) -> int:
    """The process that an engine signals: the first one of the container."""
    return int(Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()[0])


def run(image: Image, data: Path, *command: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run another command in a container."""
    whole, settings = image.contained(command, data), {**image.environ, **environ}
    return subprocess.run(whole, env=settings, capture_output=True, text=True, timeout=60, check=False)


def test_the_image_says_what_it_is_and_needs_no_root(image: Image) -> None:
    assert image.user == "10001:10001"
    assert {"title", "licenses", "version", "revision"} <= {name.rpartition(".")[2] for name in image.labels}
    assert not (image.root / "opt/flagstaff/bin/pip").exists()
    assert not list((image.root / "opt/flagstaff").rglob("node_modules"))
    assert next((image.root / "opt/flagstaff").rglob("flagstaff/web/dashboard/static/index.html*"))


def test_it_can_write_to_its_data_and_nowhere_else(image: Image, data: Path) -> None:
    said = run(
        image, data, "sh", "-c", "id -u; for f in / /opt/flagstaff /usr /etc /data /tmp; do [ -w $f ] && echo $f; done"
    )
    assert said.stdout.split() == ["10001", "/data", "/tmp"], said.stderr


def test_it_serves_reports_its_health_and_stops_in_order(image: Image, data: Path) -> None:
    with container(image, data, {"FLAGSTAFF_DRAIN_SECONDS": "1"}) as (process, url):
        port = url.rpartition(":")[2]
        assert answers(f"{url}/")
        assert answers(f"{url}/docs")
        healthy = run(image, data, *image.health, FLAGSTAFF_PORT=port)
        assert healthy.returncode == 0, healthy.stderr
        began = time.monotonic()
        os.kill(first_process(process), signal.SIGTERM)
        said, _ = process.communicate(timeout=30)
        assert process.returncode == 0, said
        assert 1 <= time.monotonic() - began < 11
    assert run(image, data, *image.health, FLAGSTAFF_PORT=port).returncode != 0
    assert '"event": "data_directory_open"' not in said
    assert {path.name for path in data.iterdir()} >= {"flagstaff.sqlite", "history.sqlite", "secret-key"}


def test_it_serves_with_workers(image: Image, data: Path) -> None:
    with container(image, data, {"FLAGSTAFF_WORKERS": "2", "FLAGSTAFF_DRAIN_SECONDS": "0"}) as (process, _):
        os.kill(first_process(process), signal.SIGTERM)
        said, _ = process.communicate(timeout=30)
        assert process.returncode == 0, said


def test_migrate_and_doctor_run_in_it(image: Image, data: Path) -> None:
    migrated = run(image, data, "flagstaff", "migrate")
    assert migrated.returncode == 0, migrated.stderr
    assert migrated.stdout.endswith("Done.\n")
    examined = run(image, data, "flagstaff", "doctor")
    assert "agrees with the database's" in examined.stdout, examined.stdout + examined.stderr
