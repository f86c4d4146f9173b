"""SQLite for SQLAlchemy's asyncio engine: each connection has a thread, and each statement is one call to it.

For each statement SQLAlchemy creates a cursor, executes, fetches and closes. aiosqlite runs each of these steps in its
thread and wakes the event loop in between, with everything that waits there. A toggle made 44 such calls, which took a
third of its time (docs/performance.md). Methods that SQLAlchemy's adapter does not call are left out. The tests compare
the results with aiosqlite's.
"""

import asyncio
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Any, Self, TypeVar

from sqlalchemy.dialects.sqlite.aiosqlite import (
    AsyncAdapt_aiosqlite_connection,
    AsyncAdapt_aiosqlite_dbapi,
    AsyncAdapt_aiosqlite_ss_cursor,
)
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.util.concurrency import await_

from flagstaff.database.sqlite.commit_numbers import NumberedCommits
from flagstaff.database.sqlite.connection_thread import (
    Call,
    Outcome,
    begin_transaction,
    commit,
    do_nothing,
    drain,
    make_calls,
    open_file,
)

_T = TypeVar("_T")


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

    def __init__(
        self, path: Path | str, *, niceness: int = 0, record_number: Callable[[int], None] | None = None
    ) -> None:
        """Opens no file yet. Commits are numbered if `record_number` takes their numbers (commit_numbers.py)."""
        self._commits = NumberedCommits(record_number) if record_number else None
        self._calls: SimpleQueue[Call] = SimpleQueue()
        self._is_closed = False
        self._may_be_in_transaction = False
        self._begins_with: str | None = None  # the statement with which the next one begins a transaction
        opening = partial(open_file, path, niceness)
        # A connection that is open does not keep the process alive.
        self._thread = Thread(target=make_calls, args=(self._calls, opening), name="sqlite", daemon=True)

    async def open(self) -> Self:
        """Start the thread, which opens the file. Raises sqlite3's exceptions."""
        self._thread.start()
        try:
            await self.call(do_nothing)
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
            await self.call(lambda database: commit(database, self._commits))
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
        return await self.call_in_transaction(lambda database: drain(database.execute(statement, parameters)))

    async def run_many(self, statement: str, parameters: Iterable[Sequence[Any]]) -> Outcome:
        """Do the same for many sequences of parameters."""
        return await self.call_in_transaction(lambda database: drain(database.executemany(statement, parameters)))

    async def call_in_transaction(self, function: Callable[[sqlite3.Connection], _T]) -> _T:
        """Do as `call`, and begin the transaction before, if `begin` has asked for one."""
        statement, self._begins_with = self._begins_with, None
        if statement is None:
            return await self.call(function)

        def begin_and_call(database: sqlite3.Connection) -> _T:
            begin_transaction(database, statement)
            if self._commits:
                self._commits.begin(database)
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


async def connect(
    path: Path | str,
    *,
    niceness: int = 0,
    require: Callable[[], None] | None = None,
    record_number: Callable[[int], None] | None = None,
) -> Connection:
    """Connect to a file, which is created if it does not exist, or to the file that a URI names as the URI says.

    On Linux, `niceness` is added to its thread's. `require` raises what forbids to open the file.

    Raises sqlite3's exceptions, and what `require` raises.
    """
    if require:
        require()
    return await Connection(path, niceness=niceness, record_number=record_number).open()


def create_engine(
    path: Path | str,
    *,
    niceness: int = 0,
    require: Callable[[], None] | None = None,
    record_number: Callable[[int], None] | None = None,
    **options: Any,
) -> AsyncEngine:
    """An engine whose connections are opened by `connect`, with the options of SQLAlchemy's `create_async_engine`."""
    return create_async_engine(
        "sqlite+aiosqlite://",
        module=_Module(),
        async_creator=partial(connect, path, niceness=niceness, require=require, record_number=record_number),
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
