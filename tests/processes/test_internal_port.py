"""Probes, metrics and the documentation of the API on a port of their own, which a proxy does not forward to."""

import asyncio
import re
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import httpx
import pytest

from tests.support.clients import open_client
from tests.support.command import run_flagstaff
from tests.support.connections import Client
from tests.support.ports import free_port
from tests.support.server import ServerProcess
from tests.support.stores import Store, sqlite_store

INTERNAL = (
    "/health",
    "/ready",
    "/ready?for=evaluations",
    "/metrics",
    "/docs",
    "/docs/start.js",
    "/docs/assets/swagger-ui.css",
    "/openapi.json",
    "/openapi/ofrep.json",
)
OTHERS = ("/", "/favicon.svg", "/scheme.js", "/auth/sso", "/api/me", "/sdk/v1/evaluate", "/ofrep/v1/evaluate/flags")
ACCEPTED = ("*/*", "text/html")


@pytest.fixture
def store(sqlite_template: Path, data_directory: Path) -> Store:
    return sqlite_store(sqlite_template, data_directory)


@pytest.fixture(params=["1", "2"], ids=["one process", "two workers"])
async def server(request: pytest.FixtureRequest, store: Store) -> AsyncIterator[ServerProcess]:
    environ = {"FLAGSTAFF_WORKERS": request.param, "FLAGSTAFF_MAX_CONNECTIONS": "20"}
    async with ServerProcess(store, environ, internal_port=free_port()) as process:
        yield process
        assert "Traceback" not in process.log


async def statuses(url: str, *paths: str, method: str = "GET") -> set[int]:
    """The statuses of the paths at a URL, whatever the client accepts."""
    async with open_client(url) as client:
        asked = [(path, accepted) for path in paths for accepted in ACCEPTED]
        answers = [await client.request(method, path, headers={"accept": accepted}) for path, accepted in asked]
        return {answer.status_code for answer in answers}


@pytest.mark.parametrize(
    ("port", "said"),
    [
        ("0", "FLAGSTAFF_INTERNAL_PORT must be a whole number from 1 to 65535, not '0'."),
        ("8000", "FLAGSTAFF_INTERNAL_PORT must be another port than FLAGSTAFF_PORT."),
        ("http", "FLAGSTAFF_INTERNAL_PORT must be a whole number from 1 to 65535, not 'http'."),
    ],
)
def test_a_port_that_is_none_stops_the_start(tmp_path: Path, port: str, said: str) -> None:
    environ = {"FLAGSTAFF_DATA_DIR": str(tmp_path / "data"), "FLAGSTAFF_INTERNAL_PORT": port}
    outcome = run_flagstaff("serve", environ=environ)
    assert (outcome.returncode, outcome.stderr.splitlines()[-1]) == (1, f"flagstaff: {said}")
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_port_in_use_stops_the_start(tmp_path: Path, workers: str) -> None:
    with socket.create_server(("127.0.0.1", 0), reuse_port=True) as other:
        port = str(other.getsockname()[1])
        environ = {
            "FLAGSTAFF_DATA_DIR": str(tmp_path / "data"),
            "FLAGSTAFF_WORKERS": workers,
            "FLAGSTAFF_PORT": str(free_port()),
            "FLAGSTAFF_INTERNAL_PORT": port,
        }
        outcome = run_flagstaff("serve", environ=environ)
    assert outcome.returncode == 1
    assert outcome.stderr.splitlines()[-1] == (
        f"flagstaff: Cannot listen on 127.0.0.1:{port}: Address already in use. "
        "Stop the program that listens there, or choose another FLAGSTAFF_INTERNAL_PORT or FLAGSTAFF_HOST."
    )


async def test_each_port_has_its_own_paths_and_nothing_of_the_other(server: ServerProcess) -> None:
    assert await statuses(server.url, *INTERNAL) == {404}
    assert await statuses(server.internal_url, *OTHERS) == {404}
    assert await statuses(server.internal_url, *OTHERS, "/x", "/sdk/v1/events", method="POST") == {404}
    assert await statuses(server.internal_url, *INTERNAL) == {200}
    assert await statuses(server.url, *OTHERS) == {200, 401, 405}
    assert await statuses(server.url, "/sdk/v1/evaluate", method="POST") == {401}


async def test_paths_that_only_begin_like_those_of_the_other_port_are_the_dashboards(server: ServerProcess) -> None:
    async with open_client(server.url, headers={"accept": "text/html"}) as client:
        for path in ("/healthy", "/documents", "/readyx", "/projects/1/metrics"):
            assert (await client.get(path)).status_code == 200
        for path in ("/docs/", "/metrics/", "/openapi/x"):
            assert (await client.get(path)).status_code == 404


async def test_the_metrics_of_any_worker_are_those_of_all(server: ServerProcess) -> None:
    counted = re.compile(r'^flagstaff_http_requests_total\{.*"/auth/sso".*\} 3\.0$', re.MULTILINE)
    for _ in range(3):
        async with open_client(server.url) as client:
            await client.get("/auth/sso")
    async with open_client(server.internal_url) as client:
        async with asyncio.timeout(20):
            while not counted.search((await client.get("/metrics")).text):
                await asyncio.sleep(0.05)


async def test_probes_are_answered_while_the_other_port_is_full(server: ServerProcess) -> None:
    async with AsyncExitStack() as stack:
        for _ in range(60):
            await stack.enter_async_context(await Client.connect(server.port))
        with pytest.raises(httpx.HTTPError):
            async with open_client(server.url) as client:
                (await client.get("/auth/sso")).raise_for_status()
        assert await statuses(server.internal_url, "/health", "/ready", "/metrics") == {200}


async def test_the_internal_port_has_32_connections_of_which_an_address_gets_16(store: Store) -> None:
    async with ServerProcess(store, internal_port=free_port()) as server, AsyncExitStack() as stack:
        port = server.internal_port
        assert port is not None
        for source in ("127.0.0.2", "127.0.0.3"):
            for _ in range(16):
                client = await stack.enter_async_context(await Client.connect(port, source=source))
                await client.send(b"GET /health HTTP/1.1\r\nHost: flags\r\n\r\n")
                assert (await client.receive()).status == 200
            async with await Client.connect(port, source=source) as client:
                assert (await client.receive()).status == 503
        async with await Client.connect(port, source="127.0.0.4") as client:
            assert (await client.receive()).status == 503
        assert await statuses(server.url, "/auth/sso") == {200}


async def test_without_it_everything_is_on_one_port(store: Store) -> None:
    async with ServerProcess(store) as server:
        assert await statuses(server.url, *INTERNAL) == {200}


async def test_a_drain_is_shown_on_the_internal_port(store: Store) -> None:
    environ = {"FLAGSTAFF_DRAIN_SECONDS": "2"}
    async with (
        ServerProcess(store, environ, internal_port=free_port()) as server,
        open_client(server.internal_url) as client,
    ):
        ending = asyncio.create_task(server.stop())
        while (await client.get("/ready")).status_code != 503:
            await asyncio.sleep(0.01)
        assert (await client.get("/health")).status_code == 200
        assert await ending == 0
