"""The previous release: its wheel, built from the history of this repository.

It is the newest tag of a release before this commit. Until there is one, it is the first commit with version 1.0.0, of
which a later commit is the next release. On that commit itself, the same version plays both parts.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from packaging.requirements import Requirement

from flagstaff.database.schema_state import FIRST

ROOT = Path(__file__).parents[2]

_CACHE = Path(sys.prefix) / "previous-release"
_VERSIONS = "src/flagstaff/database/migrations/versions/"
_RELEASE_TAG = "v[0-9]*"
_FIRST_VERSION = 'version = "1.0.0"'


@dataclass(frozen=True)
class Release:
    """A release, and how its server is started."""

    command: Sequence[str]
    environ: Mapping[str, str]


def build_previous() -> Release:
    """Build the wheel once, without the dashboard, and install it beside this version.

    Without the repository's history, the test is skipped, or fails where CI is set.
    """
    commit = find_previous()
    if not commit:
        reason = "the previous release is not in this checkout; fetch the whole history with its tags"
        pytest.fail(reason) if os.environ.get("CI") else pytest.skip(reason)
    assert commit is not None
    folder = _CACHE / commit
    if not folder.exists():
        _CACHE.mkdir(exist_ok=True)
        with TemporaryDirectory(dir=_CACHE) as work:
            _build(commit, Path(work))
            for other in _CACHE.iterdir():
                if other != Path(work):
                    shutil.rmtree(other)
            (Path(work) / "release").rename(folder)
    own = folder / "venv" / "bin" / "python"
    python = own if own.exists() else Path(sys.executable)
    return Release([str(python), "-m", "flagstaff", "serve"], {"PYTHONPATH": str(folder / "site")})


@cache
def find_previous() -> str | None:
    """Return the previous release's commit, or None without the repository's history."""
    tag = _git("describe", "--tags", "--abbrev=0", "--match", _RELEASE_TAG, "HEAD^")
    if tag:
        return _git("rev-parse", f"{tag}^{{commit}}")
    commits = _git("log", "--reverse", "--format=%H", f"-S{_FIRST_VERSION}", "--", "pyproject.toml").splitlines()
    return commits[0] if commits else None


def find_previous_revision() -> str:
    """Return the newest revision in its sources; without the repository's history, the first revision of all."""
    names = _git("ls-tree", "--name-only", find_previous() or "HEAD", _VERSIONS).splitlines()
    found = [match[1] for name in names if (match := re.match(r"(\d{4})_", name.rpartition("/")[2]))]
    return max(found, default=FIRST)


def _build(commit: str, work: Path) -> None:
    """Make `release` in a folder: the installed wheel in `site`, and a `venv` if its locked versions are others."""
    source, release = work / "source", work / "release"
    source.mkdir()
    archive = subprocess.run(["git", "archive", commit], cwd=ROOT, check=True, capture_output=True).stdout
    subprocess.run(["tar", "-x"], cwd=source, input=archive, check=True)
    _run([sys.executable, "-m", "hatchling", "build", "-t", "wheel"], source, HATCH_BUILD_NO_HOOKS="true")
    (wheel,) = (source / "dist").glob("*.whl")
    pip = [str(Path(sys.executable).with_name("uv")), "pip", "install", "--quiet", "--no-deps"]
    _run([*pip, "--offline", "--python", sys.executable, "--target", str(release / "site"), str(wheel)], source)
    locked = source / "requirements" / "run.txt"
    if not _is_installed(locked):
        venv = release / "venv"
        _run([pip[0], "venv", "--quiet", "--python", sys.executable, "--relocatable", str(venv)], source)
        _run([*pip, "--require-hashes", "--python", str(venv / "bin" / "python"), "-r", str(locked)], source)


def _is_installed(locked: Path) -> bool:
    """Return whether this environment has exactly the versions of a lock file."""
    lines = re.findall(r"^([a-z0-9].*?) *\\?$", locked.read_text(), re.MULTILINE)
    for each in map(Requirement, lines):
        if each.marker is None or each.marker.evaluate():
            try:
                if version(each.name) not in each.specifier:
                    return False
            except PackageNotFoundError:
                return False
    return True


def _run(command: Sequence[str], folder: Path, **environ: str) -> None:
    outcome = subprocess.run(
        command, cwd=folder, env={**os.environ, **environ}, check=False, capture_output=True, text=True
    )
    if outcome.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{outcome.stdout}{outcome.stderr}")


def _git(*arguments: str) -> str:
    """Return git's output, or nothing if it fails, as it does outside a repository."""
    if shutil.which("git") is None:
        return ""
    outcome = subprocess.run(["git", *arguments], cwd=ROOT, check=False, capture_output=True, text=True)
    return outcome.stdout.strip() if outcome.returncode == 0 else ""
