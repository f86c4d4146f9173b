"""Builds the programs of this folder into build/sdks with the installed tools, and prints which tools are missing.

`python -m tests.interop.build` builds all of them; with names of TOOLS it builds only those. With CI=true, a missing
tool is an error.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

from tests.support.built import CARGO_TARGET, FOLDER

SOURCES = Path(__file__).parent
EDGE_VERSION = "19.15.1"
CARGO = {"CARGO_TARGET_DIR": str(CARGO_TARGET)}
TOOLS = {"go": "go", "java": "mvn", "rust": "cargo", "edge": "cargo"}


def main(names: list[str]) -> None:
    """Build the programs for which there are tools."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    missing = []
    for name in names or TOOLS:
        if shutil.which(TOOLS[name]) is None:
            missing.append(f"{name}: {TOOLS[name]} is not installed")
            continue
        tell(f"Building {name} …")
        BUILDERS[name]()
    if missing:
        tell("\n  ".join(["Left out:", *missing]))
        sys.exit(os.environ.get("CI") == "true")


def build_go() -> None:
    """One binary for each protocol."""
    run("go", "build", "-o", f"{FOLDER / 'go'}{os.sep}", "./...", folder=SOURCES / "go")


def build_java() -> None:
    """The classes, and the libraries beside them."""
    run("mvn", "--quiet", "--batch-mode", "compile", f"-DbuildFolder={FOLDER / 'java'}", folder=SOURCES / "java")


def build_rust() -> None:
    """Build one binary for each protocol, from the locked versions."""
    folder = FOLDER / "rust"
    shutil.copytree(SOURCES / "rust", folder, dirs_exist_ok=True)
    lock = folder / "Cargo.lock"
    locked = (folder / "locked.txt").read_text()
    lock.write_text(with_registry(locked, folder))
    run("cargo", "build", "--quiet", "--locked", folder=folder, environ=CARGO)


def with_registry(locked: str, folder: Path) -> str:
    """Return the lock file with the address of Cargo's registry for each package, which our file lacks."""
    (folder / "Cargo.lock").unlink(missing_ok=True)
    run("cargo", "generate-lockfile", "--quiet", folder=folder)
    found = re.search(r'^source = ".+"$', (folder / "Cargo.lock").read_text(), re.MULTILINE)
    assert found, "Cargo writes the registry of each package"
    return re.sub(r"^(version = .+)(?=\nchecksum)", rf"\1\n{found.group()}", locked, flags=re.MULTILINE)


def build_edge() -> None:
    """Build Unleash Edge, without its storage in S3. This takes about twenty minutes, once."""
    pages = swagger_pages(FOLDER / "swagger-ui.zip")
    environ = {**CARGO, "CARGO_PROFILE_DEV_DEBUG": "0", "SWAGGER_UI_DOWNLOAD_URL": pages.as_uri()}
    options = ["--locked", "--no-default-features", "--debug", "--quiet", "--root", str(FOLDER / "edge")]
    run("cargo", "install", "unleash-edge", "--version", f"={EDGE_VERSION}", *options, folder=FOLDER, environ=environ)


def swagger_pages(file: Path) -> Path:
    """Write an archive with an empty page about Edge's own API, which its build would download; return the file."""
    with ZipFile(file, "w") as archive:
        archive.writestr("swagger-ui/dist/swagger-initializer.js", "")
    return file


def tell(line: str) -> None:
    """Print a message before the output of the tools."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def run(*command: str, folder: Path, environ: dict[str, str] | None = None) -> None:
    """Run a tool; end this program if it fails."""
    if subprocess.run(command, cwd=folder, env={**os.environ, **(environ or {})}, check=False).returncode:
        sys.exit(f"`{' '.join(command)}` failed in {folder}; see its output above.")


BUILDERS = {"go": build_go, "java": build_java, "rust": build_rust, "edge": build_edge}

if __name__ == "__main__":
    main(sys.argv[1:])
