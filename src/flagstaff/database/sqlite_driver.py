"""aiosqlite with one call to its thread per statement instead of four.

For each statement SQLAlchemy creates a cursor, executes, fetches and closes. aiosqlite runs each of these steps in its
thread and wakes the event loop in between, with everything that waits there. A toggle made 44 such calls, which took a
third of its time (docs/performance.md). Methods that SQLAlchemy's adapter does not call are left out.
"""

import os
import random
import sqlite3
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from time import monotonic, perf_counter, sleep
from typing import Any, NamedTuple, Self

import aiosqlite
from aiosqlite.core import _STOP_RUNNING_SENTINEL

_CHUNK_ROWS = 64  # aiosqlite's default; unused, because nothing reads in chunks
_ROWS_AT_ONCE = 16  # with the longest values: a third of a megabyte
BEGIN_TO_WRITE = "BEGIN IMMEDIATE"
WRITE_LOCK_SECONDS = 5.0
_RETRY_SECONDS = 0.0005, 0.0015
# Without pauses, a thread that reads keeps both the interpreter and a core for milliseconds at a time.
_PIECE_SECONDS, _PAUSE_SECONDS = 0.0005, 0.0001


class Outcome(NamedTuple):
    """The result of a statement: all rows, and the cursor attributes defined by PEP 249."""

    rows: list[Any]
    description: Any
    rowcount: int
    lastrowid: int | None


class Cursor:
    """An aiosqlite cursor as SQLAlchemy's adapter uses it. It holds rows, but no resources of the database."""

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
        """The rows."""
        return self._outcome.rows

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


class Connection(aiosqlite.Connection):
    """An aiosqlite connection that creates `Cursor` objects."""

    def __init__(self, path: Path | str, *, niceness: int = 0) -> None:
        """Opens no connection yet; awaiting the object does. Only explicit statements begin transactions."""
        self._opened: sqlite3.Connection | None = None
        super().__init__(partial(self._open, path, niceness), _CHUNK_ROWS)
        self._thread.daemon = True  # as in SQLAlchemy: an open connection must not keep the process alive

    def stop(self) -> None:
        """Close the file and end the thread without notifying the event loop.

        aiosqlite's own method notifies the loop, which may already be closed: nothing waits for it when opening failed
        or when SQLAlchemy discarded the connection. The thread then ended with an exception.
        """
        self._running = False
        self._tx.put_nowait((None, self._close))

    def _open(self, path: Path | str, niceness: int) -> sqlite3.Connection:
        """Remember what is opened: aiosqlite forgets it, open, if the wait for it is cancelled."""
        self._opened = _open(path, niceness)
        return self._opened

    def _close(self) -> object:
        if self._opened is not None:
            self._opened.close()
        self._opened = self._connection = None
        return _STOP_RUNNING_SENTINEL

    def cursor(self) -> Cursor:  # type: ignore[override]
        """A cursor, created without a call to the thread."""
        return Cursor(self)

    async def run(self, statement: str, parameters: Sequence[Any]) -> Outcome:
        """Execute, fetch and close in one call to the thread."""
        if statement == BEGIN_TO_WRITE:
            return await self._visit(lambda: _begin_to_write(self._conn))
        return await self._visit(lambda: self._conn.execute(statement, parameters))

    async def run_many(self, statement: str, parameters: Iterable[Sequence[Any]]) -> Outcome:
        """Do the same for many sequences of parameters."""
        return await self._visit(lambda: self._conn.executemany(statement, parameters))

    async def _visit(self, execute: Callable[[], sqlite3.Cursor]) -> Outcome:
        outcome: Outcome = await self._execute(lambda: _drain(execute()))  # type: ignore[no-untyped-call]
        return outcome


async def connect(path: Path | str, *, niceness: int = 0) -> Connection:
    """Connect to a file, which is created if it does not exist, or to the file that a URI names as the URI says.

    On Linux, `niceness` is added to that of its thread.
    """
    return await Connection(path, niceness=niceness)  # type: ignore[return-value]


def _open(path: Path | str, niceness: int) -> sqlite3.Connection:
    """Called in the connection's thread."""
    if niceness and sys.platform == "linux":  # elsewhere, priorities belong to processes
        thread = threading.get_native_id()
        os.setpriority(os.PRIO_PROCESS, thread, os.getpriority(os.PRIO_PROCESS, thread) + niceness)
    return sqlite3.connect(path, isolation_level=None, check_same_thread=False, uri=isinstance(path, str))


def _begin_to_write(connection: sqlite3.Connection) -> sqlite3.Cursor:
    """Take the file's write lock, and try again while another process has it.

    SQLite's own attempts are up to a tenth of a second apart, so of several processes that write all the time, one
    would wait for a second (docs/performance.md).
    """
    gives_up_at = monotonic() + WRITE_LOCK_SECONDS
    while True:
        try:
            return connection.execute(BEGIN_TO_WRITE)
        except sqlite3.OperationalError as error:
            if (error.sqlite_errorcode & 0xFF) != sqlite3.SQLITE_BUSY or monotonic() >= gives_up_at:
                raise
        sleep(random.uniform(*_RETRY_SECONDS))  # noqa: S311 - no secret


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
