"""Turns at the database: kills first, and accounts take turns; what is kept for kills is never given to others."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from unittest.mock import ANY

import pytest
import sqlalchemy as sa
from structlog.testing import capture_logs

from flagstaff.concurrency.claims import Priority, claiming
from flagstaff.database import turns
from flagstaff.database.database import Database
from flagstaff.database.turns import Turns
from flagstaff.telemetry.metrics import Metrics
from flagstaff.values.errors import Code, Error
from tests.support.postgres import PostgresServer
from tests.support.stores import postgresql_store, sqlite_store


@pytest.fixture
async def on_sqlite(sqlite_template: Path, data_directory: Path) -> AsyncIterator[Database]:
    """An empty SQLite database."""
    store = sqlite_store(sqlite_template, data_directory)
    opened = Database(None, store.data_directory)
    yield opened
    await opened.close()


@pytest.fixture
async def on_postgresql(postgres_template: PostgresServer, data_directory: Path) -> AsyncIterator[Database]:
    """An empty PostgreSQL database."""
    async with postgresql_store(postgres_template, data_directory) as store:
        opened = Database(store.database_url, store.data_directory)
        yield opened
        await opened.close()


async def test_who_gets_no_turn_in_time_is_refused() -> None:
    queue = Turns(1, wait_seconds=0.01)
    async with queue.take():
        with pytest.raises(Error) as refused:
            async with queue.take():
                pass
    assert refused.value.code is Code.UNAVAILABLE
    assert refused.value.retry_after_seconds
    async with queue.take():
        pass


async def test_beside_ten_accounts_that_write_at_length_a_kill_gets_the_next_turn(on_sqlite: Database) -> None:
    done: list[str] = []
    attacks = [
        asyncio.create_task(_write_again_and_again(on_sqlite, f"eve{at % 10}", Priority.LONG, done)) for at in range(30)
    ]
    try:
        for _ in range(10):
            before = len(done)
            await _until(lambda: len(done) >= before + 8)  # noqa: B023 -- called at once
            before = len(done)
            await _write(on_sqlite, "ada", Priority.KILL, done)
            assert done.index("ada", before) - before <= 1
    finally:
        await _end(attacks)


async def test_beside_ten_accounts_that_write_with_all_connections_that_they_get_a_kill_gets_one(
    on_postgresql: Database,
) -> None:
    hold, done = asyncio.Event(), list[str]()
    tasks = [
        asyncio.create_task(_write(on_postgresql, f"eve{at % 10}", Priority(1 + at % 2), done, hold))
        for at in range(30)
    ]
    await _until(lambda: len(done) == 7)
    for _ in range(10):
        await asyncio.wait_for(_write(on_postgresql, "ada", Priority.KILL, done), 30)
    assert done[7:] == ["ada"] * 10
    hold.set()
    await asyncio.gather(*tasks)


async def test_an_account_waits_for_one_transaction_of_each_other(database: Database) -> None:
    holds = [asyncio.Event() for _ in range(_long_at_once(database))]
    done: list[str] = []
    tasks = [asyncio.create_task(_write(database, "mallory", Priority.LONG, done, hold)) for hold in holds]
    await _until(lambda: len(done) == len(holds))
    names = [*["ada"] * 3, *["eve"] * 3, "bob"]
    tasks += [asyncio.create_task(_write(database, who, Priority.LONG, done)) for who in names]
    await asyncio.sleep(0)
    holds[0].set()  # so that one of them writes at a time
    await _until(lambda: len(done) == len(holds) + len(names))
    assert done[len(holds) :] == ["ada", "eve", "bob", "ada", "eve", "ada", "eve"]
    for hold in holds:
        hold.set()
    await asyncio.gather(*tasks)


async def test_a_long_write_gets_its_turn_beside_kills_without_end(on_sqlite: Database) -> None:
    done: list[str] = []
    kills = [
        asyncio.create_task(_write_again_and_again(on_sqlite, f"eve{at}", Priority.KILL, done)) for at in range(10)
    ]
    try:
        await _until(lambda: len(done) >= 10)
        before = len(done)
        await _write(on_sqlite, "ada", Priority.LONG, done)
        assert done.index("ada", before) - before <= 9
    finally:
        await _end(kills)


async def test_a_kill_gets_through_while_all_other_connections_read(database: Database) -> None:
    async with _busy_with_reads(database):
        with claiming("ada", Priority.KILL):
            async with database.query() as connection:
                await connection.execute(sa.text("SELECT 1"))
            async with database.read() as connection:
                await connection.execute(sa.text("SELECT 1"))
            async with database.read_history() as connection:
                await connection.execute(sa.text("SELECT 1"))
        await _write(database, "ada", Priority.KILL, [])


async def test_a_write_that_keeps_its_turn_for_long_is_logged_and_measured(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    metrics = Metrics()
    database.export_metrics(metrics)
    with capture_logs() as log:
        await _write(database, "ada", Priority.KILL, [])
        monkeypatch.setattr(turns, "LONG_TURN_SECONDS", 0.0)
        await _write(database, "eve", Priority.LONG, [])
    assert [each for each in log if each["event"] == "long_write_turn" and each["client"] == "eve"] == [
        {"event": "long_write_turn", "log_level": "warning", "priority": "long", "client": "eve", "seconds": ANY}
    ]
    exported = metrics.render()[0].decode()
    for name in ("kill", "long"):
        assert f'flagstaff_write_turn_seconds_count{{class="{name}"}} 1.0' in exported
        assert f'flagstaff_write_wait_seconds_count{{class="{name}"}} 1.0' in exported
    assert 'flagstaff_writes_waiting{class="long"} 0.0' in exported


async def test_a_cancelled_write_passes_its_turn_on_whether_it_waited_or_had_begun(database: Database) -> None:
    hold, done = asyncio.Event(), list[str]()
    tasks = [asyncio.create_task(_write(database, f"eve{at}", Priority.LONG, done, hold)) for at in range(20)]
    await _until(lambda: len(done) >= _long_at_once(database))
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    for who in "abcdefghijkl":
        await asyncio.wait_for(_write(database, who, Priority.LONG, done), 30)


async def test_a_transaction_that_fails_passes_its_turn_on(database: Database) -> None:
    with pytest.raises(ZeroDivisionError):
        async with database.transaction():
            1 / 0  # noqa: B018
    await asyncio.wait_for(_write(database, "ada", Priority.SHORT, []), 30)


@asynccontextmanager
async def _busy_with_reads(database: Database) -> AsyncIterator[None]:
    """Let ten accounts read with every connection that they get, and want more."""
    hold, begun = asyncio.Event(), count()
    reading = 0

    async def read(at: int) -> None:
        nonlocal reading
        begin = (database.read, database.query, database.read_history)[at % 3]
        with claiming(f"eve{at % 10}", Priority.LONG if at % 2 else Priority.SHORT):
            async with begin() as connection:
                await connection.execute(sa.text("SELECT 1"))
                reading = next(begun) + 1
                await hold.wait()

    tasks = [asyncio.create_task(read(at)) for at in range(60)]
    await _until(lambda: reading == (7 if database.is_postgresql else 12))
    yield
    hold.set()
    await asyncio.gather(*tasks)


def _long_at_once(database: Database) -> int:
    return 5 if database.is_postgresql else 1


async def _write(
    database: Database, who: str, priority: Priority, done: list[str], hold: asyncio.Event | None = None
) -> None:
    with claiming(who, priority):
        async with database.transaction() as transaction:
            await transaction.connection.execute(sa.text("SELECT 1"))
            done.append(who)
            if hold is not None:
                await hold.wait()


async def _write_again_and_again(database: Database, who: str, priority: Priority, done: list[str]) -> None:
    while True:
        await _write(database, who, priority, done)


async def _until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not is_so():
            await asyncio.sleep(0.001)


async def _end(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
