"""The Python versions on the machine that Flagstaff supports."""

import json
import os
import subprocess
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
_NEWEST_MINOR = 19
# The interpreter itself: neither a launcher that chooses among versions, nor one in a virtual environment.
_ASK = (
    "import json, sys, venv; print(json.dumps([sys.implementation.name, sys._base_executable, *sys.version_info[:3]]))"
)


class Interpreter(NamedTuple):
    """An interpreter, and its version."""

    version: tuple[int, int, int]
    path: Path

    @property
    def name(self) -> str:
        """The minor version, such as 3.13."""
        return "{}.{}".format(*self.version)


def find_interpreters() -> list[Interpreter]:
    """Return all supported interpreters on the path or installed by pyenv, oldest first."""
    oldest = _oldest_promised()
    found = {inspect(path) for path in _candidates(oldest[1])}
    return sorted(each for each in found if each is not None and each.version >= oldest)


def newest_of_each(interpreters: Iterable[Interpreter]) -> list[Interpreter]:
    """Return the newest interpreter of each minor version."""
    return list({each.name: each for each in sorted(interpreters)}.values())


def inspect(path: Path) -> Interpreter | None:
    """Return the interpreter at a path, or None if it does not run or cannot create virtual environments."""
    try:
        answer = subprocess.run([path, "-c", _ASK], capture_output=True, timeout=30, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    name, own, *version = json.loads(answer)
    return Interpreter((version[0], version[1], version[2]), Path(own)) if name == "cpython" else None


def _oldest_promised() -> tuple[int, int, int]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    major, minor = project["requires-python"].removeprefix(">=").split(".")
    return int(major), int(minor), 0


def _candidates(oldest_minor: int) -> Iterator[Path]:
    names = ["python3", *(f"python3.{minor}" for minor in range(oldest_minor, _NEWEST_MINOR + 1))]
    folders = [Path(folder) for folder in os.get_exec_path()]
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    for folder in [*folders, *pyenv.glob("versions/*/bin")]:
        yield from (folder / name for name in names if (folder / name).is_file())
