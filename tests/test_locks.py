"""Checks of the lock files: they are complete, so only locked packages are installed."""

import json
import re
import tomllib
from importlib.metadata import requires, version
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PROJECTS = (ROOT / "dashboard", ROOT / "tests" / "sdks" / "node", ROOT / "tests" / "interop" / "unleash_server")
CRATES = ROOT / "tests" / "interop" / "rust" / "locked.txt"
REQUIREMENTS = ROOT / "requirements"
CONSTRAINTS = REQUIREMENTS / "constraints.txt"
HASHED = sorted(path for path in REQUIREMENTS.glob("*.txt") if path != CONSTRAINTS)

_SHA512 = re.compile(r"sha512-[A-Za-z0-9+/]{86}==")
_REQUIREMENT = re.compile(r"[a-z0-9-]+==[\w.]+( ; [^\\#:]+)?")
_SHA256 = re.compile(r"--hash=sha256:[0-9a-f]{64}")

each_project = pytest.mark.parametrize("project", PROJECTS, ids=lambda path: path.name)
each_hashed = pytest.mark.parametrize("path", HASHED, ids=lambda path: path.name)


def requirements(path: Path) -> dict[str, list[str]]:
    """Return the requirements in a lock file of Python packages, each with its options."""
    lines = path.read_text().replace("\\\n", " ").splitlines()
    return {name.strip(): options.split() for name, _, options in (line.partition("  ") for line in lines)}


def names(path: Path) -> dict[str, str]:
    """Return a lock file's packages, each with its version."""
    pinned = [Requirement(each) for each in requirements(path)]
    return {each.name: str(each.specifier).removeprefix("==") for each in pinned}


@each_project
def test_every_npm_package_is_locked_with_its_hash_and_no_address(project: Path) -> None:
    packages = json.loads((project / "package-lock.json").read_text())["packages"]
    del packages[""]
    assert packages
    assert [path for path, entry in packages.items() if not _SHA512.fullmatch(entry.get("integrity", ""))] == []
    assert [path for path, entry in packages.items() if "resolved" in entry or "://" in entry["version"]] == []


@pytest.mark.parametrize("project", PROJECTS[:2], ids=lambda path: path.name)
def test_no_npm_package_needs_an_install_script(project: Path) -> None:
    """The projects' .npmrc disable install scripts. Unleash's server has packages with some, and runs without."""
    packages = json.loads((project / "package-lock.json").read_text())["packages"]
    assert [path for path, entry in packages.items() if entry.get("hasInstallScript")] == []


def test_every_crate_is_locked_with_its_hash_and_no_address() -> None:
    packages = tomllib.loads(CRATES.read_text())["package"]
    assert [each["name"] for each in packages if "checksum" not in each] == ["interop"]
    assert [each["name"] for each in packages if "source" in each] == []


@each_hashed
def test_every_python_package_is_locked_with_its_hashes(path: Path) -> None:
    locked = requirements(path)
    assert locked
    assert [each for each in locked if not _REQUIREMENT.fullmatch(each)] == []
    assert [each for each, options in locked.items() if not options] == []
    assert [option for options in locked.values() for option in options if not _SHA256.fullmatch(option)] == []


def test_the_constraints_of_the_wheel_are_what_is_locked_for_running() -> None:
    assert CONSTRAINTS.read_text().splitlines() == list(requirements(REQUIREMENTS / "run.txt"))


def test_the_constraints_hold_whatever_the_wheel_brings() -> None:
    pinned = names(CONSTRAINTS)
    waiting = {("flagstaff", "")}
    seen: set[tuple[str, str]] = set()
    while waiting:
        package, extra = each = waiting.pop()
        seen.add(each)
        for needed in map(Requirement, requires(package) or ()):
            if needed.marker is None or needed.marker.evaluate({"extra": extra}):
                name = canonicalize_name(needed.name)
                assert needed.specifier.contains(pinned[name], prereleases=True), (package, needed)
                waiting |= {(name, wanted) for wanted in ("", *needed.extras)} - seen
    for package in {package for package, _ in seen} - {"flagstaff"}:
        assert version(package) == pinned[package]  # the packages that the tests run


def test_an_isolated_build_takes_the_locked_versions() -> None:
    build_system = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]
    assert build_system["requires"] == [f"hatchling=={names(REQUIREMENTS / 'build.txt')['hatchling']}"]
