"""Instances that are restarted one after the other behind a load balancer: no request fails."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from tests.support.haproxy import HAProxy
from tests.support.nginx import Nginx
from tests.support.postgres import PostgresServer
from tests.support.remote import RemoteCaller, under_load
from tests.support.server import ServerProcess
from tests.support.stores import Store, postgresql_store

ENVIRON = {
    "FLAGSTAFF_EVALUATE_RATE_LIMIT": "off",
    "FLAGSTAFF_API_RATE_LIMIT": "off",
    "FLAGSTAFF_ACCESS_LOG": "off",
    "FLAGSTAFF_SECRET_KEY": "k" * 32,
    "FLAGSTAFF_DRAIN_SECONDS": "1",
}
PROXIES: dict[str, Callable[[Path, int, int], Nginx | HAProxy]] = {
    "nginx": Nginx,
    "HAProxy": lambda folder, *ports: HAProxy(folder, ports),
}


@pytest.fixture
async def shared(postgres_template: PostgresServer, data_directory: Path) -> AsyncIterator[Store]:
    """A database for several instances."""
    async with postgresql_store(postgres_template, data_directory) as store:
        yield store


@pytest.mark.parametrize("kind", PROXIES)
async def test_no_request_fails_while_instances_are_restarted_one_after_the_other(
    shared: Store, tmp_path: Path, kind: str
) -> None:
    stores = [Store(shared.database_url, tmp_path / f"{name}-data") for name in ("first", "second")]
    async with (
        ServerProcess(stores[0], ENVIRON) as first,
        ServerProcess(stores[1], ENVIRON) as second,
        PROXIES[kind](tmp_path, first.port, second.port) as proxy,
        RemoteCaller(f"http://127.0.0.1:{proxy.port}") as caller,
    ):
        async with RemoteCaller(first.url) as ada:  # the proxy of these tests does not allow registration
            await ada.sign_up()
        await caller.log_in()
        async with under_load(caller) as load:
            await load.survive_a_rolling_restart(caller, first, second)
        for _ in range(2):  # the last evaluations are written within a second, and reading them takes longer
            missing = load.evaluated.keys() - await load.recorded_users(caller)
        assert not missing, f"{len(missing)} of {len(load.evaluated)} evaluations are not in the history"


async def test_a_server_that_drains_is_not_ready_and_ends_connections_with_their_responses(
    shared: Store,
) -> None:
    async with (
        ServerProcess(shared, {**ENVIRON, "FLAGSTAFF_DRAIN_SECONDS": "3"}) as server,
        RemoteCaller(server.url) as caller,
    ):
        assert "connection" not in (await caller.get("/ready")).headers
        began = time.monotonic()
        stopping = asyncio.create_task(server.stop())
        async with asyncio.timeout(3):
            while (ready := await caller.get("/ready")).status_code == 200:
                await asyncio.sleep(0.01)
        health = await caller.get("/health")
        assert (ready.status_code, ready.headers["connection"]) == (503, "close")
        assert (health.status_code, health.headers["connection"]) == (200, "close")
        assert await stopping == 0
        assert 3 <= time.monotonic() - began < 10
