"""SQLite for SQLAlchemy's asyncio engine: each connection has a thread, and each statement is one call to it.

For each statement SQLAlchemy creates a cursor, executes, fetches and closes. aiosqlite runs each of these steps in its
thread and wakes the event loop in between, with everything that waits there. A toggle made 44 such calls, which took a
third of its time (docs/performance.md). Methods that SQLAlchemy's adapter does not call are left out. The tests compare
the results with aiosqlite's.
"""

import asyncio
import os
import random
import sqlite3
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from time import monotonic, perf_counter, sleep
from typing import Any, NamedTuple, Self, TypeVar

from sqlalchemy.dialects.sqlite.aiosqlite import (
    AsyncAdapt_aiosqlite_connection,
    AsyncAdapt_aiosqlite_dbapi,
    AsyncAdapt_aiosqlite_ss_cursor,
)
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.util.concurrency import await_

_ROWS_AT_ONCE = 16  # with the longest values: a third of a megabyte
BEGIN_TO_WRITE = "BEGIN IMMEDIATE"
WRITE_LOCK_SECONDS = 5.0
_RETRY_SECONDS = 0.0005, 0.0015
# Without pauses, a thread that reads keeps both the interpreter and a core for milliseconds at a time.
_PIECE_SECONDS, _PAUSE_SECONDS = 0.0005, 0.0001


_T = TypeVar("_T")
_Call = tuple["asyncio.Future[Any] | None", Callable[[sqlite3.Connection], Any] | None]  # without a function: close


class Outcome(NamedTuple):
    """The result of a statement: all rows, and the cursor attributes defined by PEP 249."""

    rows: list[Any]
    description: Any
    rowcount: int
    lastrowid: int | None


class Cursor:
    """A cursor as SQLAlchemy's adapter uses it. It holds rows, but no resources of the database."""

    arraysize = 1

    def __init__(self, connection: "Connection") -> None:
        self._connection = connection
        self._outcome = Outcome([], None, -1, None)

    async def __aenter__(self) -> Self:
        return self

    async def execute(self, statement: str, parameters: Sequence[Any] = ()) -> "Cursor":
        """Run a statement and fetch all its rows. Raises sqlite3's exceptions."""
        self._outcome = await self._connection.run(statement, parameters)
        return self

    async def executemany(self, statement: str, parameters: Iterable[Sequence[Any]]) -> "Cursor":
        """Run a statement once for each sequence of parameters. Raises sqlite3's exceptions."""
        self._outcome = await self._connection.run_many(statement, parameters)
        return self

    async def fetchall(self) -> list[Any]:
        """The rows, which the cursor keeps no longer: they are freed one by one as they are read."""
        rows, self._outcome = self._outcome.rows, self._outcome._replace(rows=[])
        return rows

    async def close(self) -> None:
        """Do nothing: the database's resources were released when the statement had run."""

    @property
    def description(self) -> Any:
        """A tuple of seven items for each column; None for a statement that returns no rows."""
        return self._outcome.description

    @property
    def rowcount(self) -> int:
        """The number of rows written; -1 for statements that do not write."""
        return self._outcome.rowcount

    @property
    def lastrowid(self) -> int | None:
        """The id of the last inserted row."""
        return self._outcome.lastrowid


class StreamCursor(Cursor):
    """A cursor for `AsyncConnection.stream`, which reads a table that is too long for the memory piece by piece."""

    _rows: sqlite3.Cursor | None = None

    async def execute(self, statement: str, parameters: Sequence[Any] = ()) -> "StreamCursor":
        """Run a statement. Raises sqlite3's exceptions."""
        rows = self._rows = await self._connection.call_in_transaction(
            lambda database: database.execute(statement, parameters)
        )
        self._outcome = Outcome([], rows.description, rows.rowcount, rows.lastrowid)
        return self

    async def fetchmany(self, size: int) -> list[Any]:
        """The next rows, at most `size`. Raises sqlite3's exceptions."""
        rows = self._rows
        return [] if rows is None else await self._connection.call(lambda _: rows.fetchmany(size))

    async def close(self) -> None:
        """Release the statement and its locks."""
        rows, self._rows = self._rows, None
        if rows is not None:
            await self._connection.call(lambda _: rows.close())


class Connection:
    """A connection to a SQLite file, opened by `connect`. Only explicit statements begin transactions.

    Its thread makes one call after another and closes the file when it is told to, or when the connection is gone:
    SQLAlchemy drops a connection that is returned to a pool after the engine was disposed of.
    """

    def __init__(self, path: Path | str, *, niceness: int = 0) -> None:
        """Opens no file yet."""
        self._calls: SimpleQueue[_Call] = SimpleQueue()
        self._is_closed = False
        self._may_be_in_transaction = False
        self._begins_with: str | None = None  # the statement with which the next one begins a transaction
        opening = partial(_open, path, niceness)
        # A connection that is open does not keep the process alive.
        self._thread = Thread(target=_make_calls, args=(self._calls, opening), name="sqlite", daemon=True)

    async def open(self) -> Self:
        """Start the thread, which opens the file. Raises sqlite3's exceptions."""
        self._thread.start()
        try:
            await self.call(_nothing)
        except BaseException:
            self.stop()
            raise
        return self

    def __del__(self) -> None:
        self.stop()

    def stop(self) -> None:
        """Close the file after the calls made before, without waiting for it. The event loop may be closed by now."""
        self._is_closed = True
        self._calls.put((None, None))

    async def close(self) -> None:
        """Close the file after the calls made before."""
        if not self._is_closed:
            self._is_closed = True
            closed = asyncio.get_running_loop().create_future()
            self._calls.put((closed, None))
            await closed

    def cursor(self) -> Cursor:
        """A cursor, created without a call to the thread."""
        return Cursor(self)

    def begin(self, statement: str) -> None:
        """Begin a transaction with this statement, in the same call to the thread as the first statement in it."""
        self._begins_with = statement

    async def commit(self) -> None:
        """Commit the transaction, if there is one, or roll it back. Raises sqlite3's exceptions."""
        self._begins_with = None
        if self._may_be_in_transaction:
            await self.call(_commit)
            self._may_be_in_transaction = False

    async def rollback(self) -> None:
        """Roll back the transaction, if there is one: SQLAlchemy also asks for it after a commit."""
        self._begins_with = None
        if self._may_be_in_transaction:
            await self.end_transaction()

    async def end_transaction(self) -> None:
        """Roll back whatever is open, after the calls made before."""
        self._begins_with = None
        await self.call(sqlite3.Connection.rollback)
        self._may_be_in_transaction = False

    async def create_function(self, name: str, arguments: int, function: Callable[..., Any], **options: bool) -> None:
        """Define an SQL function, with the options of `sqlite3.Connection.create_function`."""
        await self.call(lambda database: database.create_function(name, arguments, function, **options))

    async def run(self, statement: str, parameters: Sequence[Any]) -> Outcome:
        """Execute, fetch and close in one call to the thread."""
        self._may_be_in_transaction |= statement.startswith(("BEGIN", "SAVEPOINT"))
        return await self.call_in_transaction(lambda database: _drain(database.execute(statement, parameters)))

    async def run_many(self, statement: str, parameters: Iterable[Sequence[Any]]) -> Outcome:
        """Do the same for many sequences of parameters."""
        return await self.call_in_transaction(lambda database: _drain(database.executemany(statement, parameters)))

    async def call_in_transaction(self, function: Callable[[sqlite3.Connection], _T]) -> _T:
        """Do as `call`, and begin the transaction before, if `begin` has asked for one."""
        statement, self._begins_with = self._begins_with, None
        if statement is None:
            return await self.call(function)

        def begin_and_call(database: sqlite3.Connection) -> _T:
            _begin(database, statement)
            return function(database)

        self._may_be_in_transaction = True
        return await self.call(begin_and_call)

    async def call(self, function: Callable[[sqlite3.Connection], _T]) -> _T:
        """Call a function with the file's connection in the thread; return or raise what it does."""
        if self._is_closed:
            raise sqlite3.OperationalError("Connection closed")  # SQLAlchemy takes this text for a lost connection
        result: asyncio.Future[_T] = asyncio.get_running_loop().create_future()
        self._calls.put((result, function))
        return await result


async def connect(path: Path | str, *, niceness: int = 0) -> Connection:
    """Connect to a file, which is created if it does not exist, or to the file that a URI names as the URI says.

    On Linux, `niceness` is added to that of its thread. Raises sqlite3's exceptions.
    """
    return await Connection(path, niceness=niceness).open()


def create_engine(path: Path | str, *, niceness: int = 0, **options: Any) -> AsyncEngine:
    """An engine whose connections are opened by `connect`, with the options of SQLAlchemy's `create_async_engine`."""
    return create_async_engine(
        "sqlite+aiosqlite://",
        module=_Module(),
        async_creator=partial(connect, path, niceness=niceness),
        hide_parameters=True,  # errors are logged, and users' data must not be
        **options,
    )


class _AdaptedStreamCursor(AsyncAdapt_aiosqlite_ss_cursor):
    def _make_new_cursor(self, connection: Any) -> Any:
        return StreamCursor(connection)


class _Adapted(AsyncAdapt_aiosqlite_connection):
    """SQLAlchemy's adapter, without what it knows of aiosqlite's fields."""

    _ss_cursor_cls = _AdaptedStreamCursor

    def rollback(self) -> None:
        await_(self._connection.rollback())

    def commit(self) -> None:
        await_(self._connection.commit())


class _Module(AsyncAdapt_aiosqlite_dbapi):
    """The driver as SQLAlchemy's dialect sees it."""

    def __init__(self) -> None:
        super().__init__(sqlite3, sqlite3)
        self.has_stop = True

    def connect(self, *_: Any, async_creator_fn: Callable[[], Any], **__: Any) -> _Adapted:
        return _Adapted(self, await_(async_creator_fn()))


def _make_calls(calls: "SimpleQueue[_Call]", open_file: Callable[[], sqlite3.Connection]) -> None:
    """Runs in the thread. It knows the queue and not the connection, so that a dropped connection can end it."""
    result, function = calls.get()
    try:
        database = open_file()
    except Exception as error:  # noqa: BLE001 - whoever opens the connection handles it
        _report(result, error, asyncio.Future.set_exception)
        return
    with closing(database):
        while function is not None:
            try:
                outcome = function(database)
            except Exception as error:  # noqa: BLE001 - the caller handles it
                _report(result, error, asyncio.Future.set_exception)
            else:
                _report(result, outcome)
            result = function = outcome = None  # so that the wait for the next call keeps none of it
            result, function = calls.get()
    _report(result, None)


def _report(
    result: "asyncio.Future[Any] | None",
    outcome: Any,
    settle: "Callable[[asyncio.Future[Any], Any], None]" = asyncio.Future.set_result,
) -> None:
    def settle_if_awaited(result: "asyncio.Future[Any]") -> None:
        if not result.done():  # unless the caller was cancelled
            settle(result, outcome)

    if result is not None:
        with suppress(RuntimeError):  # the loop is closed, and nobody waits any more
            result.get_loop().call_soon_threadsafe(settle_if_awaited, result)


def _nothing(_database: sqlite3.Connection) -> None:
    """The first call, which waits until the file is open."""


def _open(path: Path | str, niceness: int) -> sqlite3.Connection:
    """Called in the connection's thread."""
    if niceness and sys.platform == "linux":  # elsewhere, priorities belong to processes
        thread = threading.get_native_id()
        os.setpriority(os.PRIO_PROCESS, thread, os.getpriority(os.PRIO_PROCESS, thread) + niceness)
    return sqlite3.connect(path, isolation_level=None, check_same_thread=False, uri=isinstance(path, str))


def _begin(connection: sqlite3.Connection, statement: str) -> None:
    """Begin a transaction. To take the file's write lock, try again while another process has it.

    SQLite's own attempts are up to a tenth of a second apart, so of several processes that write all the time, one
    would wait for a second (docs/performance.md).
    """
    gives_up_at = monotonic() + WRITE_LOCK_SECONDS
    while True:
        try:
            connection.execute(statement)
        except sqlite3.OperationalError as error:
            is_busy = (error.sqlite_errorcode & 0xFF) == sqlite3.SQLITE_BUSY
            if statement != BEGIN_TO_WRITE or not is_busy or monotonic() >= gives_up_at:
                raise
        else:
            return
        sleep(random.uniform(*_RETRY_SECONDS))  # noqa: S311 - no secret


def _commit(connection: sqlite3.Connection) -> None:
    """Commit. SQLite leaves the transaction open after some errors; it is rolled back, so that nothing can store it."""
    try:
        connection.commit()
    except sqlite3.Error:
        with suppress(sqlite3.Error):  # whoever gets the connection next rolls back first
            connection.rollback()
        raise


def _drain(cursor: sqlite3.Cursor) -> Outcome:
    with closing(cursor):
        rows = _fetch(cursor) if cursor.description else []
        return Outcome(rows, cursor.description, cursor.rowcount, cursor.lastrowid)


def _fetch(cursor: sqlite3.Cursor) -> list[Any]:
    """All rows. Megabytes of them are fetched in pieces, so that the event loop gets the processor in between."""
    rows: list[Any] = []
    ends_at = perf_counter() + _PIECE_SECONDS
    while some := cursor.fetchmany(_ROWS_AT_ONCE):
        rows += some
        if len(some) < _ROWS_AT_ONCE:
            break
        if perf_counter() >= ends_at:
            sleep(_PAUSE_SECONDS)
            ends_at = perf_counter() + _PIECE_SECONDS
    return rows
