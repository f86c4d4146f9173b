"""The differences between SQLite and PostgreSQL; maintenance.py has those for tools that handle whole databases.

PostgreSQL's driver and SQLAlchemy's dialect for it are loaded with postgresql.py: with SQLite they would take 5 MB and
a twentieth of the start.
"""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import sqlite
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from flagstaff.database.sqlite.commit_numbers import NumberRecord
from flagstaff.database.sqlite.connection_thread import BEGIN_TO_WRITE, use_write_ahead_log
from flagstaff.database.sqlite.driver import create_engine
from flagstaff.database.sqlite.files import existing
from flagstaff.database.sqlite.free_pages import AUTO_VACUUM
from flagstaff.database.sqlite.open_files import LOG_BYTES

READERS = 5
"""One more than three of an account and one for others: it is kept for kills."""
_READERS_NICENESS = 5
WAIT_SECONDS = 5
_WITHOUT_TRANSACTIONS = "without_transactions"
_MIGRATION_WAIT_SECONDS = 600
_LOCK_SECONDS = 1.5
_MIGRATION_LOCK = 0x464C4147  # an arbitrary number that nothing else locks in this database


def is_postgresql(url: str) -> bool:
    """Return whether a database URL names a PostgreSQL server."""
    return url.startswith(("postgresql://", "postgres://"))


def sqlite_engine(
    path: Path, *, write: bool, synchronous: str, is_quick: bool = False, require: Callable[[], None] | None = None
) -> AsyncEngine:
    """A pool of connections to a SQLite file in WAL mode. `is_quick` says that they read little at a time.

    `require` raises what forbids to open another connection, such as that the file was replaced.

    Writers share one connection and take the file's write lock when they begin, so that no transaction fails half-way
    because it cannot get the lock. Readers see the state at their first query and never wait.
    """
    is_synced = synchronous == "FULL"
    engine = create_engine(
        # Only migrations create the file: an empty one in place of one that is gone would hide the loss.
        existing(path),
        # Three threads that read long lists would otherwise get most of a core that they share with the event loop.
        # Quick reads, for which changes and requests wait, would in turn wait for all that other workers do.
        niceness=0 if write or is_quick else _READERS_NICENESS,
        require=require,
        record_number=NumberRecord(path.parent, path.name, is_synced=is_synced) if write else None,
        pool_size=1 if write else READERS,
        max_overflow=0,
        pool_timeout=WAIT_SECONDS,
        poolclass=sa.pool.AsyncAdaptedQueuePool,
        pool_use_lifo=True,
    )

    @sa.event.listens_for(engine.sync_engine, "connect")
    def prepare(connection: Any, _record: Any) -> None:
        cursor = connection.cursor()
        cursor.execute(f"PRAGMA busy_timeout = {WAIT_SECONDS * 1000}")
        connection.run_async(lambda driver: driver.call(use_write_ahead_log))
        cursor.execute(f"PRAGMA synchronous = {synchronous}")
        cursor.execute(f"PRAGMA journal_size_limit = {LOG_BYTES}")
        cursor.execute("PRAGMA foreign_keys = ON")
        # What is deleted from a page in use is overwritten at once. Free pages are when a user is erased.
        cursor.execute("PRAGMA secure_delete = FAST")
        if write:  # it waits only for the write lock, for which the driver does so
            cursor.execute("PRAGMA busy_timeout = 0")
        cursor.close()

    @sa.event.listens_for(engine.sync_engine, "begin")
    def begin(connection: sa.Connection) -> None:
        if _WITHOUT_TRANSACTIONS not in connection.get_execution_options():
            driver: Any = connection.connection.driver_connection
            driver.begin(BEGIN_TO_WRITE if write else "BEGIN")

    @sa.event.listens_for(engine.sync_engine, "invalidate")
    def end(connection: Any, _record: Any, _error: Any) -> None:
        # A cancelled caller leaves its statement open. SQLite keeps a closed connection and its lock until the last of
        # its statements is finalized.
        connection.run_async(lambda driver: driver.end_transaction())

    return engine


def without_transactions(engine: AsyncEngine) -> AsyncEngine:
    """The same pool, whose connections begin no transactions: each statement is one."""
    if engine.dialect.name == "postgresql":
        return engine.execution_options(isolation_level="AUTOCOMMIT")
    return engine.execution_options(**{_WITHOUT_TRANSACTIONS: True})


def migrating_engine(
    url: str | None,
    configuration: Path,
    history: Path,
    *,
    journal_mode: str = "WAL",
    lock_seconds: float = _LOCK_SECONDS,
) -> AsyncEngine:
    """The engine for migrations: one transaction over all tables, which waits for any other such transaction.

    On PostgreSQL, a statement waits at most `lock_seconds` for a table that another session has locked.

    With the journal mode DELETE even a kill in the middle of the commit leaves both SQLite files as they were. It needs
    files that no other process has open.
    """
    if url is None:
        return _migrating_sqlite_engine(configuration, history, journal_mode)
    from flagstaff.database import postgresql  # noqa: PLC0415 -- see above

    engine = postgresql.make_engine(url, command_timeout_seconds=None)

    @sa.event.listens_for(engine.sync_engine, "begin")
    def begin(connection: sa.Connection) -> None:
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_MIGRATION_LOCK})")
        # A statement that waits for a table makes all later ones wait behind it.
        connection.exec_driver_sql(f"SET LOCAL lock_timeout = '{lock_seconds * 1000:.0f}ms'")

    return engine


def _migrating_sqlite_engine(configuration: Path, history: Path, journal_mode: str) -> AsyncEngine:
    engine = create_engine(configuration, poolclass=sa.pool.NullPool)

    # Foreign keys are not enforced here: altering a table in SQLite drops and rebuilds it, which must not cascade.
    @sa.event.listens_for(engine.sync_engine, "connect")
    def prepare(connection: Any, _record: Any) -> None:
        cursor = connection.cursor()
        cursor.execute(f"PRAGMA busy_timeout = {_MIGRATION_WAIT_SECONDS * 1000}")
        cursor.execute(f"PRAGMA journal_mode = {journal_mode}")
        cursor.execute("ATTACH DATABASE ? AS history", (str(history),))
        cursor.execute(f"PRAGMA history.auto_vacuum = {AUTO_VACUUM}")  # of a new file: it must come first
        cursor.execute(f"PRAGMA history.journal_mode = {journal_mode}")
        cursor.close()

    @sa.event.listens_for(engine.sync_engine, "begin")
    def begin(connection: sa.Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    return engine


def upsert(table: sa.Table, conflict: Callable[[Any], Any]) -> Callable[[AsyncConnection], sa.Executable]:
    """An INSERT with ON CONFLICT, built once for each database. `conflict` adds the clause to the INSERT it gets."""

    @cache
    def build(name: str) -> sa.Executable:
        built: sa.Executable = conflict(_insert(name)(table))
        return built

    return lambda connection: build(connection.dialect.name)


def _insert(name: str) -> Callable[[sa.Table], Any]:
    """The INSERT of a database that can have ON CONFLICT."""
    if name == "sqlite":
        return sqlite.insert
    from sqlalchemy.dialects import postgresql  # noqa: PLC0415 -- see above

    return postgresql.insert


def contains_bytes(
    connection: AsyncConnection, column: sa.ColumnElement[bytes], value: bytes
) -> sa.ColumnElement[bool]:
    """Return the condition that a column contains the bytes."""
    if connection.dialect.name == "postgresql":
        return sa.func.pg_catalog.position(column, value) > 0
    return sa.func.instr(column, value) > 0
