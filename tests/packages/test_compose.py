"""The library of Docker Compose accepts compose.yaml with the secrets that are made for it, and refuses it without."""

import json
import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from flagstaff.settings import Settings
from tests.packages.tools import program

ROOT = Path(__file__).parents[2]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of what Compose reads, without secrets."""
    for name in ("compose.yaml", "Containerfile"):
        shutil.copy(ROOT / name, tmp_path)
    shutil.copytree(ROOT / "packaging", tmp_path / "packaging")
    return tmp_path


def configure(checkout: Path) -> subprocess.CompletedProcess[str]:
    environ = {"PATH": os.environ["PATH"], "HOME": str(checkout)}
    return subprocess.run(program("compose"), cwd=checkout, env=environ, capture_output=True, text=True, check=False)


def make_secrets(checkout: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = ["packaging/compose/new-secrets", *arguments]
    return subprocess.run(command, cwd=checkout, capture_output=True, text=True, check=False)


def test_without_secrets_it_says_how_to_make_them(checkout: Path) -> None:
    refused = configure(checkout)
    assert refused.returncode != 0
    assert "is not set. Run packaging/compose/new-secrets" in refused.stderr


def test_secrets_are_private_random_and_never_replaced(checkout: Path) -> None:
    assert make_secrets(checkout).returncode == 1
    assert "is not a host name" in make_secrets(checkout, "https://flags.example.com").stderr
    assert make_secrets(checkout, "flags.example.com").returncode == 0
    made = (checkout / ".env").read_text()
    assert stat.S_IMODE((checkout / ".env").stat().st_mode) == 0o600
    secrets = [line.partition("=")[2] for line in made.splitlines() if "SITE" not in line]
    assert len(set(secrets)) == 3
    assert {len(each) for each in secrets} == {64}
    assert "was not changed" in make_secrets(checkout, "localhost").stderr
    assert (checkout / ".env").read_text() == made


def test_with_them_the_instances_have_settings_that_are_accepted(checkout: Path) -> None:
    make_secrets(checkout, "flags.example.com")
    accepted = configure(checkout)
    assert accepted.returncode == 0, accepted.stderr
    services = json.loads(accepted.stdout)["services"]
    assert services.keys() == {"flagstaff-1", "flagstaff-2", "caddy", "postgresql", "valkey"}
    for name in ("flagstaff-1", "flagstaff-2"):
        settings = Settings.load({"FLAGSTAFF_DATA_DIR": "/data", **services[name]["environment"]})
        assert settings.public_url == "https://flags.example.com"
        assert settings.instance_name == name
