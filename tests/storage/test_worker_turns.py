"""With SQLite, a kill of one worker comes before the other writes of another, and starves none of them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
import sqlalchemy as sa

from flagstaff.concurrency.claims import Priority, claiming
from flagstaff.database.database import Database
from tests.support.builders import make_account, store_all
from tests.support.stores import sqlite_store


@pytest.fixture
async def workers(sqlite_template: Path, data_directory: Path) -> AsyncIterator[tuple[Database, Database]]:
    """Two workers' views of one file, to which something has been written."""
    store = sqlite_store(sqlite_template, data_directory)
    async with AsyncExitStack() as opened:
        both = Database(None, store.data_directory), Database(None, store.data_directory)
        for each in both:
            opened.push_async_callback(each.close)
        await store_all(both[0], make_account())
        yield both


async def test_a_kill_waits_for_one_write_of_another_worker_that_writes_without_end(
    workers: tuple[Database, Database],
) -> None:
    here, other = workers
    done: list[str] = []
    attacks = [asyncio.create_task(_write_again_and_again(other, f"eve{at}", Priority.LONG, done)) for at in range(10)]
    for _ in range(30):
        before = len(done)
        while len(done) < before + 3:
            await asyncio.sleep(0)
        before = len(done)
        await _write(here, "ada", Priority.KILL, done)
        # The one that has begun, and one more if that was looking for kills at the very moment.
        assert done.index("ada", before) - before <= 2
    await _end(attacks)


async def test_a_kill_waits_for_no_write_of_its_own_worker_that_waits_for_another(
    workers: tuple[Database, Database],
) -> None:
    here, other = workers
    hold, done = asyncio.Event(), list[str]()
    writing = asyncio.create_task(_write(other, "eve", Priority.LONG, done, hold))
    while not done:
        await asyncio.sleep(0)
    waiting = [asyncio.create_task(_write(here, "eve", Priority.LONG, done)) for _ in range(3)]
    await asyncio.sleep(0)
    kill = asyncio.create_task(_write(here, "ada", Priority.KILL, done))
    await asyncio.sleep(0)
    hold.set()
    await asyncio.gather(writing, kill, *waiting)
    assert done == ["eve", "ada", "eve", "eve", "eve"]


async def test_a_long_write_gets_its_turn_beside_kills_of_another_worker_without_end(
    workers: tuple[Database, Database],
) -> None:
    here, other = workers
    done: list[str] = []
    kills = [asyncio.create_task(_write_again_and_again(other, f"eve{at}", Priority.KILL, done)) for at in range(10)]
    await asyncio.wait_for(_write(here, "ada", Priority.LONG, done), 30)
    await _end(kills)


async def test_a_write_that_is_cancelled_while_another_worker_writes_keeps_nothing(
    workers: tuple[Database, Database],
) -> None:
    here, other = workers
    hold, done = asyncio.Event(), list[str]()
    writing = asyncio.create_task(_write(other, "eve", Priority.LONG, done, hold))
    while not done:
        await asyncio.sleep(0)
    for priority in Priority:
        waiting = asyncio.create_task(_write(here, "ada", priority, done))
        await asyncio.sleep(0.002)
        waiting.cancel()
        await asyncio.wait([waiting])
    hold.set()
    await writing
    for database in workers:
        for priority in Priority:
            await asyncio.wait_for(_write(database, "bob", priority, done), 30)
    assert done == ["eve", *["bob"] * 6]


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
    statement = "WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 20000) "
    while True:
        with claiming(who, priority):
            async with database.transaction() as transaction:
                await transaction.connection.execute(sa.text(statement + "SELECT count(*) FROM numbers"))
                done.append(who)


async def _end(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
