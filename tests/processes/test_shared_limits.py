"""Three server processes share the limits through a real Valkey server, which is killed and restarted."""

import asyncio
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import httpx
import pytest

from flagstaff.limits.shared_limits import INTERVAL_SECONDS
from tests.support.clients import open_client
from tests.support.server import ServerProcess
from tests.support.stores import sqlite_store
from tests.support.valkey import ValkeyServer

# The limit is checked before the SDK key, so the servers need no common database.
ENVIRON = {
    "FLAGSTAFF_SECRET_KEY": "k" * 32,
    "FLAGSTAFF_TRUSTED_PROXIES": "127.0.0.1",
    "FLAGSTAFF_ACCESS_LOG": "off",
    "FLAGSTAFF_LOG_FORMAT": "json",
}

_PAUSE_SECONDS = 0.01  # the error depends on the speed of the client, and so on how busy the machine is


@pytest.fixture
def valkey() -> Iterator[ValkeyServer]:
    with ValkeyServer() as server:
        yield server


@pytest.fixture
async def servers(valkey: ValkeyServer, sqlite_template: Path, tmp_path: Path) -> AsyncIterator[list[ServerProcess]]:
    environ = {**ENVIRON, "FLAGSTAFF_VALKEY_URL": valkey.url}
    made = [ServerProcess(sqlite_store(sqlite_template, tmp_path / str(number)), environ) for number in range(3)]
    async with AsyncExitStack() as stack:
        await asyncio.gather(*(stack.enter_async_context(server) for server in made))
        yield made


async def test_one_client_gets_its_limit_once_and_servers_stay_ready_without_valkey(
    servers: list[ServerProcess], valkey: ValkeyServer
) -> None:
    async with open_client(timeout=30) as client:
        await until_shared_by(client, servers, 3)
        evenly, unevenly, logins = await asyncio.gather(
            allowed(client, servers, "192.0.2.1", [0, 1, 2]),
            allowed(client, servers, "192.0.2.2", [0, 0, 0, 0, 0, 0, 0, 0, 1, 2]),
            log_in_in_turn(client, servers, "192.0.2.3"),
        )
        assert 200 <= evenly <= 210
        assert 200 <= unevenly <= 210
        assert 10 <= logins.count(401) <= 12  # each other server may allow one more

        valkey.kill()
        await until_shared_by(client, servers, 1)
        assert [(await client.get(f"{server.url}/ready")).status_code for server in servers] == [200] * 3
        assert await allowed(client, servers[:1], "192.0.2.4", [0]) == 200
        valkey.start()
        await until_shared_by(client, servers, 3)
        assert 200 <= await allowed(client, servers, "192.0.2.5", [0, 1, 2]) <= 210
    for server in servers:
        assert server.log.count("limits_not_shared") == 1
        assert server.log.count("limits_shared_again") == 1


async def until_shared_by(client: httpx.AsyncClient, servers: list[ServerProcess], count: int) -> None:
    """Wait until the metrics of the servers say that this many instances share the limits."""
    async with asyncio.timeout(30):
        for server in servers:
            while f"flagstaff_limits_instances {count}.0\n" not in (text := await metrics(client, server)):
                await asyncio.sleep(0.1)
            up = re.search(r'flagstaff_task_up\{task="shared-limits"\} (\S+)', text)
            assert up is not None
            assert float(up[1]) == (count > 1)


async def metrics(client: httpx.AsyncClient, server: ServerProcess) -> str:
    return (await client.get(f"{server.url}/metrics")).text


async def log_in_in_turn(client: httpx.AsyncClient, servers: list[ServerProcess], address: str) -> list[int]:
    """Log in 14 times with a wrong password, and give each server time to tell the others; return the statuses."""
    body = {"email": "eve@example.com", "password": "wrong password"}
    statuses = []
    for number in range(14):
        url = servers[number % len(servers)].url
        answer = await client.post(f"{url}/auth/login", json=body, headers={"x-forwarded-for": address})
        statuses.append(answer.status_code)
        await asyncio.sleep(4 * INTERVAL_SECONDS)
    return statuses


async def allowed(client: httpx.AsyncClient, servers: list[ServerProcess], address: str, turns: list[int]) -> int:
    """Return how many of a client's 300 evaluations are not refused with 429. The servers get them in this order."""
    headers = {"x-forwarded-for": address, "x-sdk-key": "sdk_" + "x" * 40}
    statuses = []
    for number in range(300):
        url = servers[turns[number % len(turns)]].url
        statuses.append((await client.post(f"{url}/sdk/v1/evaluate", headers=headers)).status_code)
        await asyncio.sleep(_PAUSE_SECONDS)
    assert set(statuses) <= {401, 429}
    return statuses.count(401)
