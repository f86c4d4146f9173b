"""SIGTERM: new connections are refused, running requests finish, and acknowledged writes survive."""

import asyncio
import signal
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import asyncpg
import pytest

from flagstaff.database import dialect
from tests.support.postgres import PostgresServer
from tests.support.remote import RemoteCaller, under_load
from tests.support.server import ServerProcess
from tests.support.stores import Store, postgresql_store

GRANTED_SECONDS = 10  # the time that process managers allow before they kill
UNLIMITED = {"FLAGSTAFF_EVALUATE_RATE_LIMIT": "off", "FLAGSTAFF_API_RATE_LIMIT": "off", "FLAGSTAFF_ACCESS_LOG": "off"}


async def test_a_stop_under_load_is_quick_and_loses_nothing_that_was_acknowledged(store: Store) -> None:
    async with ServerProcess(store, UNLIMITED) as server:
        async with RemoteCaller(server.url) as caller:
            await caller.sign_up()
            async with under_load(caller) as load:
                await load.until_well_under_way()
                asked = time.monotonic()
                assert await server.stop() == 0
                assert time.monotonic() - asked < GRANTED_SECONDS
            assert set(load.statuses["manage"]) | set(load.statuses["evaluate"]) == {200, 201}
        assert "Traceback" not in server.log
        await server.start()
        async with RemoteCaller(server.url) as caller:
            await caller.log_in()
            await load.assert_writes_are_there(caller)
            missing = load.evaluated.keys() - await load.recorded_users(caller)
            assert not missing, f"{len(missing)} of {len(load.evaluated)} evaluations are not in the history"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
async def test_a_running_request_is_finished_while_new_connections_are_refused(
    server: ServerProcess, number: signal.Signals
) -> None:
    body = b'{"email": "ada@example.com", "password": "correct horse battery staple"}'
    head = f"POST /auth/register HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
    async with connected(server) as (reader, writer):
        writer.write(f"{head}\r\n\r\n".encode() + body[:20])
        await until_received(server)
        server.signal(number)
        await until_refusing(server)
        writer.write(body[20:])
        answer = await asyncio.wait_for(reader.read(), GRANTED_SECONDS)
    assert answer.startswith(b"HTTP/1.1 201 ")
    assert b"ada@example.com" in answer
    assert await server.wait() == 0


async def test_a_client_that_never_finishes_its_request_does_not_delay_the_stop(server: ServerProcess) -> None:
    async with connected(server) as (_, writer):
        writer.write(b"POST /auth/register HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
        await until_received(server)
        asked = time.monotonic()
        assert await server.stop() == 0
        assert time.monotonic() - asked < GRANTED_SECONDS


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_start_that_waits_for_another_ones_migration_can_be_ended(
    postgres: PostgresServer, data_directory: Path, number: signal.Signals
) -> None:
    waiting = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
    async with postgresql_store(postgres, data_directory, template="template1") as store:
        assert store.database_url is not None
        migrating = dialect.migrating_engine(store.database_url, data_directory, data_directory)
        operator = await asyncpg.connect(store.database_url)
        server = ServerProcess(store)
        try:
            async with migrating.begin(), asyncio.timeout(30):
                await server.launch()
                while not await operator.fetchval(waiting):
                    await asyncio.sleep(0.02)
                server.signal(number)
                assert await server.wait() == 0
        finally:
            await server.kill()
            await operator.close()
            await migrating.dispose()
        assert "Traceback" not in server.log


async def test_pipelined_requests_are_all_answered_during_a_drain_and_only_the_last_answer_ends_the_connection(
    store: Store,
) -> None:
    one = b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n"
    async with ServerProcess(store, {"FLAGSTAFF_DRAIN_SECONDS": "3"}) as server:
        async with connected(server) as (reader, writer):
            stopping = asyncio.create_task(server.stop())
            async with RemoteCaller(server.url) as caller, asyncio.timeout(3):
                while (await caller.get("/ready")).status_code == 200:
                    await asyncio.sleep(0.01)
            writer.write(one * 5)
            answers = await asyncio.wait_for(reader.read(), GRANTED_SECONDS)
        assert await stopping == 0
    assert answers.count(b"HTTP/1.1 200 ") == 5
    assert answers.lower().count(b"connection: close") == 1


@asynccontextmanager
async def connected(server: ServerProcess) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """A plain connection without HTTP."""
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    try:
        yield reader, writer
    finally:
        writer.close()


async def until_received(server: ServerProcess) -> None:
    """Make a request on a later connection, so that the server has read everything sent before it."""
    async with RemoteCaller(server.url) as caller:
        assert (await caller.get("/health")).status_code == 200


async def until_refusing(server: ServerProcess) -> None:
    """Wait until the server refuses connections."""
    async with asyncio.timeout(GRANTED_SECONDS):
        with suppress(ConnectionRefusedError):
            while True:
                with suppress(ConnectionResetError):  # the connection was accepted just before the end
                    async with connected(server):
                        pass
