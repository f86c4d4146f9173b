"""Tests of the image that podman builds from the Containerfile: it runs unprivileged with a read-only root."""

import json
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from uuid import uuid4

import pytest

from tests.packages.engine import IMAGE, Engine
from tests.support.ports import free_port

# The arguments of packaging/README.md. The engine's health timer needs systemd, so the tests run the check instead.
_OPTIONS = (
    *("--read-only", "--tmpfs", "/tmp", "--cap-drop", "ALL", "--security-opt", "no-new-privileges"),
    *("--health-interval", "disable", "--env", "FLAGSTAFF_PUBLIC_URL=http://127.0.0.1:8000"),
)
_DRAIN_AND_FINISH_SECONDS = 11


@pytest.fixture(scope="module")
def engine() -> Engine:
    """podman, with the image built from the checkout."""
    podman = Engine()
    podman.build_image()
    return podman


@pytest.fixture
def volume(engine: Engine) -> Iterator[str]:
    """A named volume, which starts as a copy of the image's folder /data."""
    name = f"flagstaff-test-{uuid4().hex}"
    engine("volume", "create", name)
    yield f"{name}:/data"
    engine("volume", "rm", "--force", name)


@contextmanager
def container(engine: Engine, volume: str, **environ: str) -> Iterator[tuple[str, str]]:
    """A running container with the image's own command; yields its name and its URL."""
    name, port = f"flagstaff-test-{uuid4().hex}", free_port()
    settings = [word for key, value in environ.items() for word in ("--env", f"{key}={value}")]
    published = ("--publish", f"127.0.0.1:{port}:8000", "--volume", volume)
    engine("run", "--detach", "--name", name, *published, *_OPTIONS, *settings, IMAGE)
    try:
        url = f"http://127.0.0.1:{port}"
        deadline = time.monotonic() + 60
        while not answers(f"{url}/ready"):
            assert state(engine, name)["Running"], engine("logs", name).stderr
            assert time.monotonic() < deadline, "it is not ready"
            time.sleep(0.05)
        yield name, url
    finally:
        engine("rm", "--force", "--time", "0", name)


def answers(url: str) -> bool:
    with suppress(OSError, urllib.error.URLError), urllib.request.urlopen(url, timeout=5) as response:
        return bool(response.status == 200)
    return False


def state(engine: Engine, name: str) -> dict[str, object]:
    """Return a field of the engine's state of a container, such as its exit code."""
    found: dict[str, object] = json.loads(engine("inspect", name, "--format", "{{json .State}}").stdout)
    return found


def stop(engine: Engine, name: str) -> float:
    """Stop a container gracefully; return the seconds that it took."""
    began = time.monotonic()
    engine("stop", "--time", "15", name)
    assert state(engine, name)["ExitCode"] == 0, engine("logs", name).stderr
    return time.monotonic() - began


def run(engine: Engine, volume: str, *command: str) -> str:
    """Return the output of another command in a container, with the image's entry point or, as `sh …`, without."""
    entry = ("--entrypoint", command[0], IMAGE) if command[0] != "flagstaff" else (IMAGE,)
    return engine("run", "--rm", "--volume", volume, *_OPTIONS, *entry, *command[1:]).stdout


def test_the_image_says_what_it_is_and_contains_no_tools(engine: Engine, volume: str) -> None:
    image = json.loads(engine("inspect", IMAGE).stdout)[0]
    assert image["User"] == "10001:10001"
    assert {"title", "licenses", "version", "revision"} <= {name.rpartition(".")[2] for name in image["Labels"]}
    found = run(engine, volume, "find", "/opt/flagstaff", "-name", "pip", "-o", "-name", "node_modules")
    assert found == ""
    assert "index.html" in run(engine, volume, "find", "/opt/flagstaff", "-path", "*/dashboard/static/index.html*")


def test_it_can_write_to_its_data_and_nowhere_else(engine: Engine, volume: str) -> None:
    script = "id -u; for f in / /opt/flagstaff /usr /etc /data /tmp; do [ -w $f ] && echo $f; done"
    assert run(engine, volume, "sh", "-c", script).split() == ["10001", "/data", "/tmp"]


def test_it_serves_reports_its_health_and_stops_in_order(engine: Engine, volume: str) -> None:
    with container(engine, volume, FLAGSTAFF_DRAIN_SECONDS="1") as (name, url):
        assert answers(f"{url}/")
        assert answers(f"{url}/docs")
        engine("healthcheck", "run", name)
        engine("pause", name)
        assert engine("healthcheck", "run", name, check=False).returncode != 0
        engine("unpause", name)
        assert 1 <= stop(engine, name) < _DRAIN_AND_FINISH_SECONDS
        assert '"evaluation": "compiled"' in engine("logs", name).stderr
    files = run(engine, volume, "ls", "-ln", "/data").splitlines()[1:]
    assert {line.split()[-1] for line in files} >= {"flagstaff.sqlite", "history.sqlite", "secret-key"}
    assert {line.split()[2] for line in files} == {"10001"}


def test_it_serves_with_workers(engine: Engine, volume: str) -> None:
    with container(engine, volume, FLAGSTAFF_WORKERS="2", FLAGSTAFF_DRAIN_SECONDS="0") as (name, _):
        assert stop(engine, name) < _DRAIN_AND_FINISH_SECONDS


def test_what_was_stored_is_there_after_a_kill(engine: Engine, volume: str) -> None:
    account = json.dumps({"email": "ada@example.com", "password": "correct horse battery staple"}).encode()
    headers = {"Content-Type": "application/json"}
    with container(engine, volume) as (name, url):
        urllib.request.urlopen(urllib.request.Request(f"{url}/auth/register", account, headers))
        engine("kill", name)
    with (
        container(engine, volume) as (_, url),
        urllib.request.urlopen(urllib.request.Request(f"{url}/auth/login", account, headers)) as response,
    ):
        assert "token" in json.load(response)


def test_migrate_and_doctor_run_in_it(engine: Engine, volume: str) -> None:
    assert run(engine, volume, "flagstaff", "migrate").endswith("Done.\n")
    assert "agrees with the database's" in run(engine, volume, "flagstaff", "doctor")
