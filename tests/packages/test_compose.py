"""Tests of compose.yaml: Docker Compose's library accepts it only with its secrets, and the described services run."""

import json
import os
import re
import shutil
import socket
import ssl
import stat
import subprocess
import time
from pathlib import Path

import httpx
import pytest

from flagstaff.settings import Settings
from tests.packages.engine import Engine
from tests.packages.tools import program

ROOT = Path(__file__).parents[2]
# Podman adds a second limit to a service that has one. A machine without CAP_SYS_RESOURCE refuses it.
_LIMITS = """
services:
  flagstaff-1: {ulimits: {nproc: 4096}}
  flagstaff-2: {ulimits: {nproc: 4096}}
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of the files that Compose reads, without secrets."""
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


def test_two_instances_serve_behind_caddy_and_stop_in_order(checkout: Path) -> None:
    """Start compose.yaml unchanged with podman-compose.

    Podman's health timer needs systemd, so the test runs the check.
    """
    engine = Engine()
    engine.build_image()
    engine.build_stand_ins()
    make_secrets(checkout, "localhost")
    (checkout / "limits.yaml").write_text(_LIMITS)
    files = ("--file", "compose.yaml", "--file", "limits.yaml")
    started = engine.compose(checkout, *files, "up", "--detach", "--no-build")
    try:
        assert started.returncode == 0, started.stderr
        for service in ("postgresql", "valkey", "flagstaff-1", "flagstaff-2"):
            wait_until_healthy(engine, f"flagstaff_{service}_1")
        created = engine("exec", "flagstaff_flagstaff-1_1", "flagstaff", "doctor", check=False).stdout
        assert re.search(r"OK +database +PostgreSQL 18", created), created
        assert re.search(r"OK +valkey", created), created
        with httpx.Client(base_url="https://localhost", verify=False, timeout=10) as anybody:
            assert {anybody.get("/health").status_code for _ in range(4)} == {200}
            assert anybody.post("/sdk/v1/evaluate", json={}).status_code == 401
            assert anybody.get("/metrics").status_code == 404
        assert chosen_protocol("localhost") == "h2"
        for name in ("flagstaff_flagstaff-1_1", "flagstaff_flagstaff-2_1"):
            engine("stop", "--time", "15", name)
            assert engine("inspect", name, "--format", "{{.State.ExitCode}}").stdout.strip() == "0"
    finally:
        engine.compose(checkout, *files, "down", "--volumes")


def chosen_protocol(host: str) -> str | None:
    """The protocol that a server chooses if it is offered what browsers offer."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols(["h2", "http/1.1"])
    with (
        socket.create_connection((host, 443), timeout=10) as plain,
        context.wrap_socket(plain, server_hostname=host) as encrypted,
    ):
        return encrypted.selected_alpn_protocol()


def wait_until_healthy(engine: Engine, name: str) -> None:
    """Run the service's own health check until it passes."""
    deadline = time.monotonic() + 120
    while (checked := engine("healthcheck", "run", name, check=False)).returncode != 0:
        assert time.monotonic() < deadline, (name, checked.stdout, checked.stderr, engine("logs", name).stderr[-2000:])
        time.sleep(0.2)
