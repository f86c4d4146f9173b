"""aiosqlite with one visit to its thread for a statement instead of four.

Why not aiosqlite alone: SQLAlchemy makes a cursor, executes, fetches and closes, and aiosqlite has its thread do each
of the four and wakes the event loop in between, with everything that waits there. A toggle paid for 44 such visits, a
third of its time (docs/performance.md). What SQLAlchemy's adapter does not call is left out.
"""

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Self

import aiosqlite
from aiosqlite.core import _STOP_RUNNING_SENTINEL

_CHUNK_ROWS = 64  # aiosqlite's own default; nothing here reads in chunks


class Outcome(NamedTuple):
    """What a statement left: all its rows, and what PEP 249 says of a cursor's attributes."""

    rows: list[Any]
    description: Any
    rowcount: int
    lastrowid: int | None


class Cursor:
    """An aiosqlite cursor as SQLAlchemy's adapter uses it. It holds rows, and nothing of the database."""

    arraysize = 1

    def __init__(self, connection: "Connection") -> None:
        self._connection = connection
        self._outcome = Outcome([], None, -1, None)

    async def __aenter__(self) -> Self:
        return self

    async def execute(self, statement: str, parameters: Sequence[Any] = ()) -> "Cursor":
        """Run a statement and fetch all its rows; raises what sqlite3 raises."""
        self._outcome = await self._connection.run(statement, parameters)
        return self

    async def executemany(self, statement: str, parameters: Iterable[Sequence[Any]]) -> "Cursor":
        """Run a statement once for each sequence of parameters; raises what sqlite3 raises."""
        self._outcome = await self._connection.run_many(statement, parameters)
        return self

    async def fetchall(self) -> list[Any]:
        """The rows."""
        return self._outcome.rows

    async def close(self) -> None:
        """Nothing: what the database held for the statement went when it had run."""

    @property
    def description(self) -> Any:
        """A tuple of seven for each column; None for a statement that gives no rows."""
        return self._outcome.description

    @property
    def rowcount(self) -> int:
        """How many rows were written; -1 for statements that write none."""
        return self._outcome.rowcount

    @property
    def lastrowid(self) -> int | None:
        """The id of the row inserted last."""
        return self._outcome.lastrowid


class Connection(aiosqlite.Connection):
    """An aiosqlite connection with such cursors."""

    def __init__(self, path: Path) -> None:
        """Open nothing yet; awaiting it does. Transactions are begun by statements alone."""
        super().__init__(partial(sqlite3.connect, path, isolation_level=None, check_same_thread=False), _CHUNK_ROWS)
        self._thread.daemon = True  # as SQLAlchemy has it: a connection left open must not keep the process from ending

    def stop(self) -> None:
        """Close the file and end the thread, without a word to the event loop.

        aiosqlite's own reports the end to the loop, which may be closed by then: nobody waits for it when opening
        failed or when SQLAlchemy gave the connection up. The thread then died of an exception.
        """
        self._running = False
        self._tx.put_nowait((None, self._close))

    def _close(self) -> object:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        return _STOP_RUNNING_SENTINEL

    def cursor(self) -> Cursor:  # type: ignore[override]
        """A cursor that has yet to visit the thread."""
        return Cursor(self)

    async def run(self, statement: str, parameters: Sequence[Any]) -> Outcome:
        """One visit to the thread: execute, fetch, close."""
        return await self._visit(lambda: self._conn.execute(statement, parameters))

    async def run_many(self, statement: str, parameters: Iterable[Sequence[Any]]) -> Outcome:
        """The same for many sequences of parameters."""
        return await self._visit(lambda: self._conn.executemany(statement, parameters))

    async def _visit(self, execute: Callable[[], sqlite3.Cursor]) -> Outcome:
        outcome: Outcome = await self._execute(lambda: _drain(execute()))  # type: ignore[no-untyped-call]
        return outcome


async def connect(path: Path) -> Connection:
    """A connection to a file, which is made if it is missing."""
    return await Connection(path)  # type: ignore[return-value]


def _drain(cursor: sqlite3.Cursor) -> Outcome:
    with closing(cursor):
        rows = cursor.fetchall() if cursor.description else []
        return Outcome(rows, cursor.description, cursor.rowcount, cursor.lastrowid)
