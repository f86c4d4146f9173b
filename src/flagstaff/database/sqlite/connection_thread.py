"""The thread of a connection to a SQLite file, which makes one call after another with sqlite3."""

import asyncio
import os
import random
import sqlite3
import sys
import threading
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from queue import SimpleQueue
from time import monotonic, perf_counter, sleep
from typing import Any, NamedTuple

from flagstaff.database.sqlite.commit_numbers import NumberedCommits

_ROWS_AT_ONCE = 16  # with the longest values: a third of a megabyte
BEGIN_TO_WRITE = "BEGIN IMMEDIATE"
WRITE_LOCK_SECONDS = 5.0
_RETRY_SECONDS = 0.0005, 0.0015
# Without pauses, a thread that reads keeps both the interpreter and a core for milliseconds at a time.
_PIECE_SECONDS, _PAUSE_SECONDS = 0.0005, 0.0001

Call = tuple["asyncio.Future[Any] | None", Callable[[sqlite3.Connection], Any] | None]  # without a function: close


class Outcome(NamedTuple):
    """The result of a statement: all rows, and the cursor attributes defined by PEP 249."""

    rows: list[Any]
    description: Any
    rowcount: int
    lastrowid: int | None


def make_calls(calls: "SimpleQueue[Call]", open_database: Callable[[], sqlite3.Connection]) -> None:
    """Runs in the thread. It knows the queue and not the connection, so that a dropped connection can end it."""
    result, function = calls.get()
    try:
        database = open_database()
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


def do_nothing(_database: sqlite3.Connection) -> None:
    """The first call, which waits until the file is open."""


def open_file(path: Path | str, niceness: int) -> sqlite3.Connection:
    """Called in the connection's thread."""
    if niceness and sys.platform == "linux":  # elsewhere, priorities belong to processes
        thread = threading.get_native_id()
        os.setpriority(os.PRIO_PROCESS, thread, os.getpriority(os.PRIO_PROCESS, thread) + niceness)
    return sqlite3.connect(path, isolation_level=None, check_same_thread=False, uri=isinstance(path, str))


def begin_transaction(connection: sqlite3.Connection, statement: str) -> None:
    """Begin a transaction. To take the file's write lock, try again while another process has it.

    SQLite's own attempts are up to a tenth of a second apart, so of several processes that write all the time, one
    would wait for a second (docs/performance.md).
    """
    if statement == BEGIN_TO_WRITE:
        _execute_when_free(connection, statement)
    else:
        connection.execute(statement)


def use_write_ahead_log(connection: sqlite3.Connection) -> None:
    """Put a file into WAL mode, in which it stays. Try again while another process does the same.

    Each of the two holds a lock that the other waits for, so SQLite refuses one of them without waiting.
    """
    _execute_when_free(connection, "PRAGMA journal_mode = WAL")


def _execute_when_free(connection: sqlite3.Connection, statement: str) -> None:
    gives_up_at = monotonic() + WRITE_LOCK_SECONDS
    while True:
        try:
            connection.execute(statement).close()
        except sqlite3.OperationalError as error:
            is_busy = (error.sqlite_errorcode & 0xFF) == sqlite3.SQLITE_BUSY
            if not is_busy or monotonic() >= gives_up_at:
                raise
        else:
            return
        sleep(random.uniform(*_RETRY_SECONDS))  # noqa: S311 - no secret


def commit(connection: sqlite3.Connection, commits: NumberedCommits | None) -> None:
    """Commit. SQLite leaves the transaction open after some errors; it is rolled back, so that nothing can store it."""
    try:
        if commits is None:
            connection.commit()
        else:
            commits.commit(connection)
    except sqlite3.Error:
        with suppress(sqlite3.Error):  # whoever gets the connection next rolls back first
            connection.rollback()
        raise


def drain(cursor: sqlite3.Cursor) -> Outcome:
    """The result of a statement, whose cursor is closed."""
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
