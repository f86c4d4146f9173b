"""Transactions, announcements, and the product's own errors, which all use cases rely on."""

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import pytest
import sqlalchemy as sa

from flagstaff.changes.changes import Actor, Change, Committed, Scope, change_of
from flagstaff.database import postgresql, tables
from flagstaff.database.changes_store import record
from flagstaff.database.database import Database, Transaction
from flagstaff.database.migrate import migrate
from flagstaff.identity.accounts.accounts_store import create_account, find_account
from flagstaff.values.errors import Code, Error
from tests.support.builders import AT, make_account, make_environment, make_project, store_all
from tests.support.postgres import PostgresServer
from tests.support.stores import Store

ACCOUNT = make_account()
PROJECT = make_project(ACCOUNT.id)
CHANGE = change_of(Actor(ACCOUNT.id, ACCOUNT.email), "project.created", AT, Scope(PROJECT.id), after=PROJECT)


class Listener:
    """Records the announcements, and what had been committed when each one came."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.heard: list[Change] = []
        self.saw_the_commit = False
        self.error: Exception | None = None
        self.go_on = asyncio.Event()
        self.go_on.set()
        self.begun = asyncio.Event()
        database.announce_to(self._hear)

    async def _hear(self, committed: Committed) -> None:
        self.begun.set()
        await self.go_on.wait()
        async with self.database.read() as connection:
            self.saw_the_commit = await find_account(connection, ACCOUNT.id) is not None
        self.heard.extend(committed.changes)
        if self.error:
            raise self.error


async def write(transaction: Transaction) -> None:
    await create_account(transaction.connection, ACCOUNT)
    await record(transaction, CHANGE)


async def write_alone(database: Database) -> None:
    async with database.transaction() as transaction:
        await write(transaction)


async def count_rows(database: Database) -> tuple[int, int]:
    """Return the numbers of accounts and changes."""
    async with database.read() as connection:
        counts = [
            (await connection.execute(sa.select(sa.func.count()).select_from(table))).scalar_one()
            for table in (tables.accounts, tables.changes)
        ]
    return counts[0], counts[1]


@pytest.fixture
async def outage_database(outage_store: Store) -> AsyncIterator[Database]:
    """A database on a server that may be stopped."""
    opened = Database(outage_store.database_url, outage_store.data_directory)
    yield opened
    await opened.close()


async def each_outcome(database: Database) -> list[Code | None]:
    """Return the result of each way to use the database."""
    outcomes: list[Code | None] = []
    for use in (database.read, database.transaction, database.read_history, database.write_history):
        try:
            async with use() as opened:
                connection = opened.connection if isinstance(opened, Transaction) else opened
                await connection.execute(sa.text("SELECT 1"))
            outcomes.append(None)
        except Error as error:
            outcomes.append(error.code)
    return outcomes


@pytest.mark.parametrize("crash", [False, True])
async def test_a_stopped_server_is_unavailable_until_it_is_back(
    outage_postgres: PostgresServer, outage_database: Database, crash: bool
) -> None:
    assert await each_outcome(outage_database) == [None] * 4
    outage_postgres.stop(crash=crash)
    assert await each_outcome(outage_database) == [Code.UNAVAILABLE] * 4
    outage_postgres.start()
    assert await each_outcome(outage_database) == [None] * 4


@pytest.mark.parametrize("crash", [False, True])
async def test_connections_that_rested_during_a_restart_are_replaced_without_an_error(
    outage_postgres: PostgresServer, outage_database: Database, monkeypatch: pytest.MonkeyPatch, crash: bool
) -> None:
    monkeypatch.setattr(postgresql, "_TRUSTED_SECONDS", -1)
    assert await each_outcome(outage_database) == [None] * 4
    outage_postgres.restart(crash=crash)
    assert await each_outcome(outage_database) == [None] * 4


@pytest.mark.parametrize("crash", [False, True])
async def test_connections_whose_end_the_driver_has_seen_are_replaced_without_an_error(
    outage_postgres: PostgresServer, outage_database: Database, monkeypatch: pytest.MonkeyPatch, crash: bool
) -> None:
    monkeypatch.setattr(postgresql, "_TRUSTED_SECONDS", 3600)
    used = await driver_connection(outage_database)
    outage_postgres.restart(crash=crash)
    async with asyncio.timeout(30):
        while not used.is_closed():
            await asyncio.sleep(0.001)
    assert await each_outcome(outage_database) == [None] * 4


async def test_connections_that_do_not_respond_are_all_replaced_after_seconds(
    outage_postgres: PostgresServer, outage_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgresql, "_TRUSTED_SECONDS", -1)
    async with outage_database.read(), outage_database.read():
        pass
    with outage_postgres.hanging():
        began = time.monotonic()
        with pytest.raises(Error, match="database") as refusal:
            await driver_connection(outage_database)
        assert time.monotonic() - began < 20  # five for this request, five until another connection fails
    assert refusal.value.code is Code.UNAVAILABLE
    assert await each_outcome(outage_database) == [None] * 4


@pytest.mark.parametrize(("rested_seconds", "is_kept"), [(180, True), (0, False)])
async def test_a_connection_is_replaced_once_it_has_rested_for_long(
    outage_database: Database, monkeypatch: pytest.MonkeyPatch, rested_seconds: int, is_kept: bool
) -> None:
    monkeypatch.setattr(postgresql, "_RESTED_SECONDS", rested_seconds)
    first = await driver_connection(outage_database)
    assert (await driver_connection(outage_database) is first) is is_kept
    assert first.is_closed() is not is_kept


async def driver_connection(database: Database) -> asyncpg.Connection:
    """Return the connection that the pool gives."""
    async with database.read() as connection:
        await connection.execute(sa.text("SELECT 1"))
        driver = (await connection.get_raw_connection()).driver_connection
        assert isinstance(driver, asyncpg.Connection)
        return driver


@pytest.mark.parametrize(
    ("setting", "value", "meanwhile"),
    [
        ("default_transaction_read_only", "on", "SELECT 1"),
        ("lock_timeout", "1", "LOCK TABLE accounts"),
        ("statement_timeout", "20", "LOCK TABLE accounts"),
    ],
)
async def test_a_server_that_refuses_to_write_is_unavailable_until_it_writes_again(
    outage_store: Store, setting: str, value: str, meanwhile: str
) -> None:
    url = outage_store.database_url
    assert url is not None
    operator = await asyncpg.connect(url)
    database = Database(url, outage_store.data_directory)
    try:
        on_this_one = f"ALTER DATABASE {url.rpartition('/')[2]}"
        await operator.execute(f"{on_this_one} SET {setting} = {value}")
        async with operator.transaction():
            await operator.execute(meanwhile)
            with pytest.raises(Error) as refusal:
                await write_alone(database)
        assert refusal.value.code is Code.UNAVAILABLE
        assert refusal.value.retry_after_seconds
        await operator.execute(f"{on_this_one} RESET {setting}")
        await database.close()  # the setting applies to new connections
        await write_alone(database)
    finally:
        await operator.close()
        await database.close()


async def test_a_write_that_is_paused_half_way_ends_and_lets_others_write(
    outage_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    paused, other = (Database(outage_store.database_url, outage_store.data_directory) for _ in range(2))
    rename = tables.projects.update().values(name="Another")

    async def write_with_a_pause() -> None:
        async with paused.transaction() as transaction:
            await transaction.connection.execute(rename)
            async with asyncio.timeout(10), other.transaction() as meanwhile:
                await meanwhile.connection.execute(rename)
            await transaction.connection.execute(rename)

    try:
        await store_all(other, ACCOUNT, PROJECT)
        monkeypatch.setattr(postgresql, "IDLE_WRITE_SECONDS", 0.2)
        with pytest.raises(Error) as refusal:
            await write_with_a_pause()
        assert refusal.value.code is Code.UNAVAILABLE
        assert refusal.value.retry_after_seconds, "nothing was changed"
    finally:
        for database in (paused, other):
            await database.close()


async def test_a_server_that_stops_during_a_transaction_is_unavailable(
    outage_postgres: PostgresServer, outage_database: Database
) -> None:
    listener = Listener(outage_database)

    async def write_through_a_crash() -> None:
        async with outage_database.transaction() as transaction:
            await write(transaction)
            outage_postgres.restart(crash=True)

    with pytest.raises(Error) as refusal:
        await write_through_a_crash()
    assert refusal.value.code is Code.UNAVAILABLE
    assert "not known whether the change was stored" in refusal.value.message
    assert refusal.value.retry_after_seconds is None
    assert await count_rows(outage_database) == (0, 0)
    assert listener.heard == [CHANGE]  # it is unknown whether the commit arrived


async def test_a_failed_commit_is_reported_rather_than_a_failed_announcement(
    outage_postgres: PostgresServer, outage_database: Database
) -> None:
    listener = Listener(outage_database)
    listener.error = Error(Code.UNAVAILABLE, "The change is stored, but …")

    async def write_through_a_crash() -> None:
        async with outage_database.transaction() as transaction:
            await write(transaction)
            outage_postgres.restart(crash=True)

    with pytest.raises(Error, match="not known whether the change was stored"):
        await write_through_a_crash()
    assert listener.heard == [CHANGE]


async def test_migrating_on_a_stopped_server_is_unavailable(
    outage_postgres: PostgresServer, outage_store: Store
) -> None:
    outage_postgres.stop()
    with pytest.raises(Error) as refusal:
        await migrate(outage_store.database_url, outage_store.data_directory)
    assert refusal.value.code is Code.UNAVAILABLE


async def test_a_folder_that_is_gone_is_unavailable(tmp_path: Path) -> None:
    database = Database(None, tmp_path / "gone")
    assert await each_outcome(database) == [Code.UNAVAILABLE] * 4
    await database.close()


async def test_what_a_shared_transaction_holds_is_stored_and_announced_together_or_not_at_all(
    database: Database,
) -> None:
    listener = Listener(database)
    with pytest.raises(ZeroDivisionError):
        await write_shared_and_fail(database)
    assert await count_rows(database) == (0, 0)
    assert listener.heard == []
    async with database.shared_transaction() as shared:
        async with database.transaction() as transaction:
            assert transaction is shared
            await write(transaction)
        assert await count_rows(database) == (1, 1)
        assert await asyncio.create_task(count_rows(database)) == (0, 0)
        assert listener.heard == []
    assert await count_rows(database) == (1, 1)
    assert listener.heard == [CHANGE]
    assert listener.saw_the_commit


async def write_shared_and_fail(database: Database) -> None:
    async with database.shared_transaction():
        await write_alone(database)
        raise ZeroDivisionError


async def test_other_tasks_take_no_part_in_a_shared_transaction(database: Database) -> None:
    """These include tasks created inside it, and tasks that it creates to announce its commit."""
    seen: list[Transaction] = []

    async def note() -> None:
        async with database.transaction() as transaction:
            seen.append(transaction)

    async def hear(_: Committed) -> None:
        await note()

    database.announce_to(hear)
    async with database.shared_transaction() as shared:
        other = asyncio.create_task(note())
        await write(shared)
    await other
    assert len(seen) == 2
    assert shared not in seen


async def test_wrong_sql_is_not_an_outage(database: Database) -> None:
    for statement in ("SELECT * FROM no_such_table", "SELEKT 1"):
        with pytest.raises(sa.exc.DBAPIError):
            async with database.read() as connection:
                await connection.execute(sa.text(statement))


async def test_a_parent_that_has_been_deleted_is_not_found(database: Database) -> None:
    with pytest.raises(Error, match="has been deleted") as refusal:
        await store_all(database, make_environment())
    assert refusal.value.code is Code.NOT_FOUND


async def test_a_failed_transaction_stores_and_announces_nothing(database: Database) -> None:
    listener = Listener(database)

    async def write_and_fail() -> None:
        async with database.transaction() as transaction:
            await write(transaction)
            raise RuntimeError("half-way")

    with pytest.raises(RuntimeError, match="half-way"):
        await write_and_fail()
    assert await count_rows(database) == (0, 0)
    assert listener.heard == []


async def test_a_transaction_cancelled_half_way_stores_and_announces_nothing(database: Database) -> None:
    listener, written = Listener(database), asyncio.Event()

    async def write_and_linger() -> None:
        async with database.transaction() as transaction:
            await write(transaction)
            written.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(write_and_linger())
    async with asyncio.timeout(30):
        await written.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await count_rows(database) == (0, 0)
    assert listener.heard == []


async def test_a_transaction_cancelled_while_it_commits_is_announced_all_the_same(database: Database) -> None:
    listener = Listener(database)
    task = asyncio.create_task(write_alone(database))
    sa.event.listen(database._engines.writer.sync_engine, "commit", lambda _: task.cancel(), once=True)
    with pytest.raises(asyncio.CancelledError):
        await task
    assert listener.heard == [CHANGE]


async def test_a_caller_who_gives_up_does_not_stop_the_announcement(database: Database) -> None:
    listener = Listener(database)
    listener.go_on.clear()
    task = asyncio.create_task(write_alone(database))
    async with asyncio.timeout(30):
        await listener.begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert listener.heard == []
    listener.go_on.set()
    async with asyncio.timeout(30):
        while not listener.heard:
            await asyncio.sleep(0)
    assert listener.saw_the_commit


async def test_what_the_announcement_raises_reaches_the_caller_and_the_change_is_stored(database: Database) -> None:
    listener = Listener(database)
    listener.error = Error(Code.UNAVAILABLE, "The change is stored, but …")
    with pytest.raises(Error, match="The change is stored"):
        await write_alone(database)
    assert await count_rows(database) == (1, 1)


async def test_changes_are_announced_after_the_commit_and_before_the_use_case_returns(database: Database) -> None:
    listener = Listener(database)
    await write_alone(database)
    assert listener.heard == [CHANGE]
    assert listener.saw_the_commit
    assert await count_rows(database) == (1, 1)


async def test_a_transaction_without_changes_announces_nothing(database: Database) -> None:
    listener = Listener(database)
    async with database.transaction():
        pass
    assert not listener.begun.is_set()


async def test_readers_see_what_was_committed_and_wait_for_no_writer(database: Database) -> None:
    async with database.transaction() as transaction:
        await write(transaction)
        assert await count_rows(database) == (0, 0)
    assert await count_rows(database) == (1, 1)


async def test_a_reader_keeps_the_state_that_it_saw_first(database: Database) -> None:
    async with database.read() as connection:
        assert await find_account(connection, ACCOUNT.id) is None
        await write_alone(database)
        assert await find_account(connection, ACCOUNT.id) is None


async def test_the_history_is_written_while_a_configuration_is(database: Database) -> None:
    environment = make_environment()
    async with database.transaction() as transaction:
        await write(transaction)
        async with database.write_history() as connection:
            await connection.execute(tables.recorded_environments.insert().values(environment_id=environment.id))
    async with database.read_history() as connection:
        assert (await connection.execute(sa.select(tables.recorded_environments.c.environment_id))).scalar_one() == (
            environment.id
        )


async def test_a_database_in_use_answers(database: Database) -> None:
    await database.ping()
