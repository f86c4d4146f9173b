"""`make test-pythons`: Flagstaff with each Python on the machine, and on a newcomer's machine.

The newest Python builds one wheel, which must serve with its compiled loops on each version. The oldest and the newest
version also run the unit tests and, on SQLite, the web tests. `make test` runs them with the version of the development
environment.
"""

import hashlib
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from tests.pythons.interpreters import ROOT, Interpreter, find_interpreters, newest_of_each
from tests.pythons.newcomer import serve_as_newcomer

_ENVIRONMENTS = ROOT / ".venv" / "pythons"
_WHEELS = ROOT / "build" / "pythons"
_UV = ROOT / ".venv" / "bin" / "uv"
_LOCKED = ROOT / "requirements" / "dev.txt"
_ON_EACH = ("tests/unit/evaluation/test_loops.py", "tests/processes/test_start.py")
_ON_THE_ENDS = ("tests/unit", "tests/web", "-k", "not postgresql", "-n", "3", "--dist", "worksteal")
_COMPILED = """
import flagstaff
from flagstaff.evaluation import _loops, loops
assert loops.join is _loops.join and loops.WHY_NOT_COMPILED is None
assert _loops.__file__.endswith("_loops.abi3.so") and "site-packages" in _loops.__file__, _loops.__file__
"""


def main() -> None:
    """Run everything, and print how long each part took; the first failure ends the run."""
    every = find_interpreters()
    found = newest_of_each(every)
    print("Found", ", ".join(f"Python {each.name} ({each.path})" for each in found), flush=True)
    environments = {each: _prepare(each) for each in found}
    wheel = _build_wheel(environments[found[-1]])
    for each, python in environments.items():
        _time(f"Python {each.name}: the wheel, with its compiled loops", partial(_test_wheel, python, wheel))
    own = sys.version_info[:2]
    for each in dict.fromkeys((found[0], found[-1])):
        if each.version[:2] != own:
            _time(f"Python {each.name}: units and web", partial(_pytest, environments[each], *_ON_THE_ENDS))
    print(serve_as_newcomer(every), flush=True)


def _prepare(interpreter: Interpreter) -> Path:
    """Create a virtual environment with the locked packages, again after they change; return its Python."""
    folder = _ENVIRONMENTS / interpreter.name
    python, stamp = folder / "bin" / "python", folder / "locked"
    wanted = f"{interpreter} {hashlib.sha256(_LOCKED.read_bytes()).hexdigest()}"
    if not stamp.is_file() or stamp.read_text() != wanted:
        _run(interpreter.path, "-m", "venv", "--clear", "--without-pip", folder)
        _run(_UV, "pip", "install", "--quiet", "--python", python, "--require-hashes", "--no-deps", "-r", _LOCKED)
        stamp.write_text(wanted)
    return python


def _build_wheel(python: Path) -> Path:
    for old in _WHEELS.glob("*.whl"):
        old.unlink()
    _run(python, "-m", "hatchling", "build", "-t", "wheel", "-d", _WHEELS)
    (wheel,) = _WHEELS.glob("flagstaff-*-cp311-abi3-*.whl")
    return wheel


def _test_wheel(python: Path, wheel: Path) -> None:
    _run(_UV, "pip", "install", "--quiet", "--python", python, "--no-deps", "--reinstall", wheel)
    _run(python, "-c", _COMPILED)
    _pytest(python, *_ON_EACH)


def _pytest(python: Path, *arguments: str) -> None:
    _run(python, "-m", "pytest", *arguments)


def _time(what: str, step: Callable[[], None]) -> None:
    began = time.monotonic()
    step()
    print(f"{what}: {time.monotonic() - began:.0f} s", flush=True)


def _run(*command: str | Path) -> None:
    done = subprocess.run(command, cwd=ROOT, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} failed; see its output above.")


if __name__ == "__main__":
    main()
