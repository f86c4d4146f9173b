"""With the dashboard's settings, npm installs only what its lock file allows, and a renewed file is complete."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from hatch_build import DASHBOARD, Node, find_node, lock
from tests.support.registry import Registry


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[Registry]:
    folder = tmp_path / "registry"
    folder.mkdir()
    offered = Registry(folder)
    yield offered
    offered.close()


@pytest.fixture
def node() -> Node:
    found = find_node()
    assert found is not None, "make test brings one"
    return found


def project(folder: Path, integrity: str | None) -> Path:
    """A project with the dashboard's settings that needs pennant, locked with this hash or, without one, not at all."""
    folder.mkdir()
    shutil.copy(DASHBOARD / ".npmrc", folder)
    manifest = {"name": "mast", "version": "1.0.0", "dependencies": {"pennant": "1.0.0"}}
    (folder / "package.json").write_text(json.dumps(manifest))
    if integrity:
        packages = {
            "": manifest,
            "node_modules/pennant": {"version": "1.0.0", "integrity": integrity, "hasInstallScript": True},
        }
        lock = {"name": "mast", "version": "1.0.0", "lockfileVersion": 3, "requires": True, "packages": packages}
        (folder / "package-lock.json").write_text(json.dumps(lock))
    return folder


def settings(folder: Path, registry: Registry) -> dict[str, str]:
    """Return the test's own registry and cache, without the settings of the user who runs it."""
    own = {"registry": registry.url, "cache": str(folder.parent / "cache"), "userconfig": str(folder.parent / "none")}
    return {f"npm_config_{name}": value for name, value in own.items()}


def npm(node: Node, command: str, folder: Path, registry: Registry) -> subprocess.CompletedProcess[str]:
    """Run npm in a project, with the test's registry."""
    path = f"{node.binary.parent}{os.pathsep}{os.environ['PATH']}"
    environ = {"PATH": path, "HOME": str(folder.parent), **settings(folder, registry)}
    return subprocess.run(
        [*node.npm, command], cwd=folder, env=environ, capture_output=True, text=True, timeout=60, check=False
    )


def locked_pennant(folder: Path) -> dict[str, object]:
    """The package's entry in the project's lock file."""
    entry: dict[str, object] = json.loads((folder / "package-lock.json").read_text())["packages"][
        "node_modules/pennant"
    ]
    return entry


def test_npm_refuses_a_package_that_is_not_the_locked_one(tmp_path: Path, registry: Registry, node: Node) -> None:
    locked = registry.offer("the locked one")
    registry.offer("tampered with")
    careful = project(tmp_path / "careful", locked)
    refusal = npm(node, "ci", careful, registry)
    assert refusal.returncode
    assert "EINTEGRITY" in refusal.stderr
    assert not (careful / "node_modules" / "pennant").exists()


def test_npm_refuses_it_from_its_cache_as_well(tmp_path: Path, registry: Registry, node: Node) -> None:
    locked = registry.offer("the locked one")
    registry.offer("tampered with")
    careless = project(tmp_path / "careless", None)
    assert npm(node, "install", careless, registry).returncode == 0
    assert (careless / "node_modules" / "pennant" / "index.js").read_text() == "tampered with"
    careful = project(tmp_path / "careful", locked)
    assert "EINTEGRITY" in npm(node, "ci", careful, registry).stderr
    assert not (careful / "node_modules" / "pennant").exists()


def test_npm_installs_the_locked_package_and_runs_no_script_of_its(
    tmp_path: Path, registry: Registry, node: Node
) -> None:
    careful = project(tmp_path / "careful", registry.offer("the locked one"))
    outcome = npm(node, "ci", careful, registry)
    assert outcome.returncode == 0, outcome.stderr
    pennant = careful / "node_modules" / "pennant"
    assert (pennant / "index.js").read_text() == "the locked one"
    assert not (pennant / "ran").exists()


@pytest.mark.parametrize("lost", ["the lock file", "its hash"])
def test_a_renewed_lock_file_has_every_hash(
    tmp_path: Path, registry: Registry, node: Node, monkeypatch: pytest.MonkeyPatch, lost: str
) -> None:
    integrity = registry.offer("the locked one")
    careful = project(tmp_path / "careful", integrity)
    assert npm(node, "ci", careful, registry).returncode == 0
    (careful / "node_modules" / ".package-lock.json").unlink()  # npm stores the hash of the installed package only here
    locked = careful / "package-lock.json"
    if lost == "its hash":
        locked.write_text(locked.read_text().replace(f', "integrity": "{integrity}"', ""))
        assert "integrity" not in locked_pennant(careful)
    else:
        locked.unlink()
    for name, value in settings(careful, registry).items():
        monkeypatch.setenv(name, value)
    lock(careful)
    assert locked_pennant(careful)["integrity"] == integrity
    assert "resolved" not in locked_pennant(careful)
