"""The driver gives the same results as aiosqlite; both run the same statements here."""

import asyncio
import gc
import os
import re
import sqlite3
import sys
import threading
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import aiosqlite
import pytest
import sqlalchemy as sa

from flagstaff.database.sqlite.connection_thread import BEGIN_TO_WRITE, use_write_ahead_log
from flagstaff.database.sqlite.driver import Connection, connect, create_engine

STATEMENTS = [
    ("CREATE TABLE people (id INTEGER PRIMARY KEY, email TEXT UNIQUE)", ()),
    ("BEGIN IMMEDIATE", ()),
    ("INSERT INTO people (email) VALUES (?), (?)", ("ada@example.com", "grace@example.com")),
    ("SELECT id, email FROM people ORDER BY id", ()),
    ("SELECT id FROM people WHERE email = ?", ("nobody@example.com",)),
    ("INSERT INTO people (email) VALUES (?) RETURNING id", ("mary@example.com",)),
    ("UPDATE people SET email = email || ? WHERE id > ?", (".invalid", 1)),
    ("DELETE FROM people WHERE id = ?", (99,)),
    ("PRAGMA user_version", ()),
    ("COMMIT", ()),
]


@pytest.fixture
async def connection(tmp_path: Path) -> AsyncIterator[Connection]:
    """A connection to a separate file."""
    opened = await connect(tmp_path / "ours.sqlite")
    yield opened
    await opened.close()


async def make_cursor(connection: Connection | aiosqlite.Connection) -> Any:
    """Return a cursor, created as SQLAlchemy's adapter creates it."""
    return await connection.cursor().__aenter__()


async def both(statements: list[tuple[str, tuple[Any, ...]]], ours: Connection, folder: Path) -> list[list[Any]]:
    """Return the results of each statement from our cursor and from aiosqlite's."""
    left: list[list[Any]] = [[], []]
    async with aiosqlite.connect(folder / "theirs.sqlite", isolation_level=None) as theirs:
        for connection, results in ((ours, left[0]), (theirs, left[1])):
            for statement, parameters in statements:
                cursor = await make_cursor(connection)
                await cursor.execute(statement, parameters)
                rows = list(await cursor.fetchall()) if cursor.description else []
                results.append((statement, rows, cursor.description, cursor.rowcount, cursor.lastrowid))
                await cursor.close()
    return left


@pytest.mark.parametrize(
    "statement", ["SELEKT 1", "SELECT * FROM nothing", "SELECT ?", "INSERT INTO people (email) VALUES ('ada')"]
)
async def test_what_sqlite_refuses_is_raised_as_sqlite_raises_it(
    connection: Connection, tmp_path: Path, statement: str
) -> None:
    for preparation in ("CREATE TABLE people (email TEXT UNIQUE)", "INSERT INTO people (email) VALUES ('ada')"):
        await connection.cursor().execute(preparation)
    with closing(sqlite3.connect(tmp_path / "ours.sqlite", isolation_level=None)) as direct:
        with pytest.raises(sqlite3.Error) as expected:
            direct.execute(statement)
        with pytest.raises(type(expected.value), match=re.escape(str(expected.value))) as raised:
            await connection.cursor().execute(statement)
    assert getattr(raised.value, "sqlite_errorcode", None) == getattr(expected.value, "sqlite_errorcode", None)


async def test_a_closed_connection_refuses_statements(connection: Connection) -> None:
    await connection.close()
    with pytest.raises(sqlite3.OperationalError, match="Connection closed"):
        await connection.cursor().execute("SELECT 1")


def test_a_connection_that_cannot_be_opened_ends_its_thread_though_the_loop_is_closed(tmp_path: Path) -> None:
    async def open_and_leave() -> None:
        with pytest.raises(sqlite3.OperationalError):
            await connect(tmp_path / "gone" / "ours.sqlite")

    # A thread that ends with an exception fails the test: pytest raises a warning, and warnings are errors.
    for _ in range(50):
        asyncio.run(open_and_leave())


def test_a_connection_that_is_given_up_ends_its_thread_though_the_loop_is_closed(tmp_path: Path) -> None:
    async def open_and_stop() -> None:
        (await connect(tmp_path / "ours.sqlite")).stop()

    for _ in range(50):
        asyncio.run(open_and_stop())


async def test_our_cursor_leaves_what_theirs_leaves(connection: Connection, tmp_path: Path) -> None:
    ours, theirs = await both(STATEMENTS, connection, tmp_path)
    assert ours == theirs


async def test_many_at_once_are_counted_like_theirs(connection: Connection, tmp_path: Path) -> None:
    counts = []
    async with aiosqlite.connect(tmp_path / "theirs.sqlite") as theirs:
        for each in (connection, theirs):
            cursor = await make_cursor(each)
            await cursor.execute("CREATE TABLE numbers (number INTEGER)")
            await cursor.executemany("INSERT INTO numbers VALUES (?)", [(number,) for number in range(3)])
            counts.append((cursor.rowcount, cursor.description))
            await cursor.close()
    assert counts[0] == counts[1]


async def test_a_statement_whose_caller_gave_up_holds_no_lock_afterwards(
    connection: Connection, tmp_path: Path
) -> None:
    await connection.cursor().execute("CREATE TABLE numbers (number INTEGER)")
    asked = asyncio.ensure_future(connection.cursor().execute("SELECT number FROM numbers"))
    asked.cancel()
    await asyncio.gather(asked, return_exceptions=True)
    with closing(sqlite3.connect(tmp_path / "ours.sqlite", isolation_level=None, timeout=0)) as other:
        await connection.cursor().execute("SELECT 1")  # all earlier calls have run by now
        other.execute("DROP TABLE numbers")


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere, priorities belong to processes")
async def test_a_transaction_begins_with_its_first_statement(connection: Connection, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "ours.sqlite", isolation_level=None, timeout=0)) as other:
        for end in (connection.commit, connection.rollback):
            connection.begin(BEGIN_TO_WRITE)
            other.execute("CREATE TABLE IF NOT EXISTS numbers (number INTEGER)")
            await end()
            await connection.cursor().execute("SELECT 1")
            other.execute("DELETE FROM numbers")
        connection.begin(BEGIN_TO_WRITE)
        await connection.cursor().execute("SELECT 1")
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            other.execute("DELETE FROM numbers")
        await connection.cursor().execute("INSERT INTO numbers VALUES (1)")
        await connection.rollback()
        assert other.execute("SELECT count(*) FROM numbers").fetchone() == (0,)


def test_connections_that_begin_a_write_ahead_log_at_once_wait_for_each_other(tmp_path: Path) -> None:
    """SQLite refuses one of them at once, in one of thirty starts of two workers after a migration."""
    at_once = 8
    together = threading.Barrier(at_once)

    def begin(path: Path) -> str:
        with closing(sqlite3.connect(path, isolation_level=None)) as database:
            together.wait()
            use_write_ahead_log(database)
            return str(database.execute("PRAGMA journal_mode").fetchone()[0])

    with ThreadPoolExecutor(at_once) as threads:
        for number in range(40):
            path = tmp_path / f"{number}.sqlite"
            with closing(sqlite3.connect(path)) as database:
                database.execute("CREATE TABLE users (id)")
            assert list(threads.map(begin, [path] * at_once)) == ["wal"] * at_once


async def test_a_connection_for_reading_works_at_a_lower_priority(tmp_path: Path) -> None:
    opened = await connect(tmp_path / "ours.sqlite", niceness=5)
    assert opened._thread.native_id is not None
    own = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
    assert os.getpriority(os.PRIO_PROCESS, opened._thread.native_id) == own + 5
    await opened.close()


async def test_a_result_that_is_fetched_in_pieces_is_complete(connection: Connection) -> None:
    up_to_1600 = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1600)"
    numbers = f"{up_to_1600} SELECT i, hex(zeroblob(9000)) FROM n"
    cursor = await connection.cursor().execute(numbers)
    assert [number for number, _ in await cursor.fetchall()] == [*range(1, 1601)]


async def test_a_connection_that_was_left_open_does_not_keep_the_process(connection: Connection) -> None:
    running = [thread for thread in threading.enumerate() if thread.name == "sqlite"]
    assert running
    assert all(thread.daemon for thread in running)


async def test_a_connection_is_closed_if_the_wait_for_it_is_cancelled(tmp_path: Path) -> None:
    connection = Connection(tmp_path / "ours.sqlite")
    opening = asyncio.create_task(connection.open())
    await asyncio.sleep(0)  # it has asked its thread
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening
    await asyncio.to_thread(connection._thread.join, 10)
    assert not is_open(tmp_path / "ours.sqlite")


async def test_closing_a_connection_waits_for_the_statements_before_it(tmp_path: Path) -> None:
    connection = await connect(tmp_path / "ours.sqlite")
    created = asyncio.ensure_future(connection.cursor().execute("CREATE TABLE numbers (number INTEGER)"))
    await asyncio.sleep(0)  # it is in the thread's queue
    await connection.close()
    assert created.done()
    assert not is_open(tmp_path / "ours.sqlite")
    await connection.close()  # a second time changes nothing


async def test_a_connection_that_nobody_has_any_more_is_closed(tmp_path: Path) -> None:
    engine = create_engine(tmp_path / "ours.sqlite", poolclass=sa.pool.AsyncAdaptedQueuePool)
    async with engine.connect() as connection:
        driver = (await connection.get_raw_connection()).driver_connection
        assert isinstance(driver, Connection)
        thread = driver._thread
        await engine.dispose()
    del connection, driver
    gc.collect()
    await asyncio.to_thread(thread.join, 10)
    assert not is_open(tmp_path / "ours.sqlite")


async def test_an_engine_whose_opening_is_cancelled_at_any_step_leaves_no_thread(tmp_path: Path) -> None:
    before = set(threading.enumerate())
    is_connected, steps = False, 0
    while not is_connected:
        engine = create_engine(tmp_path / "ours.sqlite", poolclass=sa.pool.NullPool)
        connecting = asyncio.ensure_future(engine.connect().start())
        for _ in range(steps):
            await step(connecting)
        is_connected = connecting.done()
        connecting.cancel()
        for outcome in await asyncio.gather(connecting, return_exceptions=True):
            if not isinstance(outcome, BaseException):
                await outcome.close()
        del connecting, outcome
        steps += 1
    assert steps > 3, "opening was cancelled at several steps"
    gc.collect()
    for thread in set(threading.enumerate()) - before:
        await asyncio.to_thread(thread.join, 10)
        assert not thread.is_alive()


async def step(task: "asyncio.Future[Any]") -> None:
    """Run one step of the task when what it awaits is ready."""
    awaited = getattr(task, "_fut_waiter", None)
    if awaited is not None:
        await asyncio.wait([awaited])
    await asyncio.sleep(0)


def is_open(path: Path) -> bool:
    """Return whether this process has the file open."""
    return any(Path(link).resolve() == path.resolve() for link in Path("/proc/self/fd").iterdir() if link.exists())
