"""SIGTERM: new connections are refused, running requests finish, and acknowledged writes are kept."""

import asyncio
import signal
import sqlite3
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing, suppress
from pathlib import Path

import asyncpg
import pytest

from flagstaff.database import dialect
from flagstaff.database.sqlite.files import CONFIGURATION_FILE
from tests.support.api import Json, environment_path, flag_path, project_path
from tests.support.postgres import PostgresServer
from tests.support.remote import RemoteCaller, under_load
from tests.support.sdk_keys import create_key, keys_path
from tests.support.server import COMMAND, ServerProcess
from tests.support.stores import Store, postgresql_store

GRANTED_SECONDS = 10  # the time that process managers allow before they kill
UNLIMITED = {"FLAGSTAFF_EVALUATE_RATE_LIMIT": "off", "FLAGSTAFF_API_RATE_LIMIT": "off", "FLAGSTAFF_ACCESS_LOG": "off"}

_SLOW_COMMITS = """
CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(20); RETURN NULL; END $$;
CREATE CONSTRAINT TRIGGER slow AFTER UPDATE ON flags DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION wait();
"""

_END_OTHERS = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
"""


async def test_a_stop_under_load_is_quick_and_loses_nothing_that_was_acknowledged(store: Store) -> None:
    async with ServerProcess(store, UNLIMITED) as server:
        async with RemoteCaller(server.url) as caller:
            await caller.sign_up()
            async with under_load(caller, pause_seconds=0) as load:
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
    async with RemoteCaller(server.url) as caller:
        await caller.sign_up()
        authorization = caller.headers["authorization"]
    body = b'{"name": "The project that is created while the server stops"}'
    head = (
        f"POST /api/projects HTTP/1.1\r\nHost: x\r\nAuthorization: {authorization}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}"
    )
    async with connected(server) as (reader, writer):
        writer.write(f"{head}\r\n\r\n".encode() + body[:20])
        await until_received(server)
        server.signal(number)
        await until_refusing(server)
        writer.write(body[20:])
        answer = await asyncio.wait_for(reader.read(), GRANTED_SECONDS)
    assert answer.startswith(b"HTTP/1.1 201 ")
    assert b"while the server stops" in answer
    assert await server.wait() == 0


async def test_under_nohup_a_server_outlives_its_terminal(store: Store) -> None:
    async with ServerProcess(store, command=("nohup", *COMMAND)) as server, RemoteCaller(server.url) as caller:
        server.signal(signal.SIGHUP)
        assert (await caller.get("/ready")).status_code == 200
        server.signal(signal.SIGTERM)
        assert await server.wait() == 0


async def test_a_stop_keeps_when_keys_and_tokens_were_last_used(store: Store) -> None:
    async with ServerProcess(store) as server:
        async with RemoteCaller(server.url) as caller:
            await caller.sign_up()
            project = await caller.create_project()
            key = await create_key(caller, project)
            body = {"environment": key["environment"], "context": {}}
            headers = {"X-SDK-Key": key["key"]}
            assert (await caller.post("/sdk/v1/evaluate", json=body, headers=headers)).status_code == 200
            assert await server.stop() == 0
        await server.start()
        async with RemoteCaller(server.url) as caller:
            await caller.log_in()
            (listed,) = (await caller.get(keys_path(project))).json()
            assert listed["last_used_at"] is not None


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


async def test_a_request_that_a_stop_ends_before_its_commit_says_that_nothing_was_changed(store: Store) -> None:
    async with ServerProcess(store) as server, RemoteCaller(server.url) as caller:
        await caller.sign_up()
        project = await caller.create_project()
        environment = await caller.get_environment(project)
        staging = await caller.get_environment(project, "staging")
        flag = await caller.create_flag(environment)
        copy: Json = {"from": environment["id"], "to": staging["id"], "flag_keys": [flag["key"]]}
        requests = {f"{flag_path(flag)}/toggle": None, f"{project_path(project)}/copy": copy}
        if store.database_url is not None:  # readers of SQLite do not wait
            copy["dry_run"] = True
            requests[f"{environment_path(environment)}/explain"] = {"context": {"user_id": "ada"}}
        async with locked(store):
            asked = [asyncio.create_task(caller.post(path, json=body)) for path, body in requests.items()]
            await until_received(server)
            server.signal(signal.SIGTERM)
            answers = [await each for each in asked]
        assert await server.wait() == 0
    for answer in answers:
        assert (answer.status_code, "retry-after" in answer.headers) == (503, True), answer.text
        assert "Nothing was changed" in answer.json()["detail"]


async def test_a_request_that_a_stop_ends_during_its_commit_says_that_its_change_may_be_stored(
    outage_store: Store,
) -> None:
    async with ServerProcess(outage_store) as server, RemoteCaller(server.url) as caller:
        await caller.sign_up()
        flag = await caller.create_flag(await caller.get_environment(await caller.create_project()))
        await execute(outage_store, _SLOW_COMMITS)
        asked = asyncio.create_task(caller.post(f"{flag_path(flag)}/toggle"))
        await until_received(server)
        server.signal(signal.SIGTERM)
        answer = await asked
        assert await server.wait() == 0
    await execute(outage_store, _END_OTHERS)
    assert (answer.status_code, "retry-after" in answer.headers) == (503, False), answer.text
    assert "not known whether the change was stored" in answer.json()["detail"]


async def execute(store: Store, statements: str) -> None:
    """Run statements of PostgreSQL."""
    operator = await asyncpg.connect(store.database_url)
    try:
        await operator.execute(statements)
    finally:
        await operator.close()


@asynccontextmanager
async def locked(store: Store) -> AsyncIterator[None]:
    """Lock the database so that nobody can write; with PostgreSQL, nobody can read flags either."""
    if store.database_url is None:
        with closing(sqlite3.connect(store.data_directory / CONFIGURATION_FILE, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            yield
        return
    operator = await asyncpg.connect(store.database_url)
    try:
        async with operator.transaction():
            await operator.execute("LOCK TABLE flags IN ACCESS EXCLUSIVE MODE")
            yield
    finally:
        await operator.close()


@asynccontextmanager
async def connected(server: ServerProcess) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """A plain connection without HTTP."""
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    try:
        yield reader, writer
    finally:
        writer.close()


async def until_received(server: ServerProcess) -> None:
    """Send a request on a later connection, so that the server has read everything that was sent before it."""
    async with RemoteCaller(server.url) as caller:
        assert (await caller.get("/health")).status_code == 200


async def until_refusing(server: ServerProcess) -> None:
    """Wait until the server refuses connections."""
    async with asyncio.timeout(GRANTED_SECONDS):
        with suppress(ConnectionRefusedError):
            while True:
                with suppress(ConnectionResetError):  # the connection was accepted just before the server stopped
                    async with connected(server):
                        pass
