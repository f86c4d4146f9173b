"""kill -9: acknowledged management writes survive, and the history loses at most the last second."""

import asyncio
import signal
import sqlite3
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing, suppress
from pathlib import Path

import asyncpg
import httpx
import pytest

from flagstaff.database.sqlite.files import CONFIGURATION_FILE
from tests.support.api import flag_path
from tests.support.remote import RemoteCaller, under_load
from tests.support.server import ServerProcess
from tests.support.stores import Store

LOST_SECONDS = 1.0


async def test_a_kill_under_load_loses_no_acknowledged_write_and_at_most_a_second_of_history(store: Store) -> None:
    unlimited = {
        "FLAGSTAFF_EVALUATE_RATE_LIMIT": "off",
        "FLAGSTAFF_API_RATE_LIMIT": "off",
        "FLAGSTAFF_ACCESS_LOG": "off",
    }
    async with ServerProcess(store, unlimited) as server:
        async with RemoteCaller(server.url) as caller:
            await caller.sign_up()
            async with under_load(caller, pause_seconds=0) as load:
                began = time.monotonic()
                await load.until_well_under_way()
                await load.until(lambda: time.monotonic() - began > 2 * LOST_SECONDS)
                killed = time.monotonic()
                await server.kill()
        await server.start()
        async with RemoteCaller(server.url) as caller:
            await caller.log_in()
            await load.assert_writes_are_there(caller)
            safe = {user for user, answered in load.evaluated.items() if answered < killed - LOST_SECONDS}
            assert safe
            missing = safe - await load.recorded_users(caller)
            assert not missing, f"{len(missing)} of {len(safe)} evaluations are not in the history"
            answer = await caller.evaluate(load.project["sdk_key"])
            stored = await caller.get(f"/api/projects/{load.project['id']}/environments/{load.environment['id']}/flags")
            assert {key: each["enabled"] for key, each in answer.json()["flags"].items()} == {
                flag["key"]: flag["enabled"] for flag in stored.json()
            }


async def test_a_request_that_was_killed_between_its_commit_and_its_response_is_not_carried_out_again(
    store: Store,
) -> None:
    key = {"idempotency-key": "once"}
    async with ServerProcess(store) as server:
        async with RemoteCaller(server.url) as caller:
            await caller.sign_up()
            flag = await caller.create_flag()
            async with no_confirmation(store):
                under_way = asyncio.create_task(caller.post(f"{flag_path(flag)}/toggle", headers=key))
                await until_off(store)
                await server.kill()
                with suppress(httpx.TransportError):  # with SQLite the response may arrive before the kill
                    await under_way
                    assert store.database_url is None
        await server.start()
        async with RemoteCaller(server.url) as caller:
            await caller.log_in()
            again = await caller.post(f"{flag_path(flag)}/toggle", headers=key)
            assert (again.status_code, again.headers["idempotency-replayed"]) == (200, "true")
            assert again.json()["enabled"] is False
            assert (await caller.get(flag_path(flag))).json() == again.json()


@asynccontextmanager
async def no_confirmation(store: Store) -> AsyncIterator[None]:
    """With PostgreSQL, run an instance that confirms no change, so that each response waits for it for seconds."""
    if store.database_url is None:
        yield
        return
    deaf = await asyncpg.connect(store.database_url, server_settings={"application_name": "flagstaff feed deaf"})
    try:
        yield
    finally:
        await deaf.close()


async def until_off(store: Store) -> None:
    """Wait until another connection sees that the flag is off."""
    async with asyncio.timeout(30):
        while not await _count(store, "SELECT count(*) FROM flags WHERE NOT enabled"):
            await asyncio.sleep(0)


async def _count(store: Store, statement: str) -> int:
    if store.database_url is None:
        with closing(sqlite3.connect(store.data_directory / CONFIGURATION_FILE)) as file:
            return int(file.execute(statement).fetchone()[0])
    connection = await asyncpg.connect(store.database_url)
    try:
        return int(await connection.fetchval(statement))
    finally:
        await connection.close()


def children(process_id: int) -> set[int]:
    """Return the processes that a process has started, from any thread."""
    lists = Path(f"/proc/{process_id}/task").glob("*/children")
    return {int(child) for each in lists for child in each.read_text().split()}


def is_alive(process_id: int) -> bool:
    try:
        state = Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
async def test_the_process_that_hashes_passwords_ends_with_the_server(store: Store, number: signal.Signals) -> None:
    async with ServerProcess(store) as server:
        async with RemoteCaller(server.url) as caller:
            await caller.sign_up()
        assert server.pid is not None
        started = children(server.pid)
        assert len(started) == 1
        server.signal(number)
        async with asyncio.timeout(30):
            while any(map(is_alive, started)):
                await asyncio.sleep(0.02)
