"""The differences between SQLite and PostgreSQL; maintenance.py has those for tools that handle whole databases.

PostgreSQL's driver and SQLAlchemy's dialect for it are loaded with postgresql.py: with SQLite they would take 5 MB and
a twentieth of the start.
"""

import sqlite3
import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import sqlite
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from flagstaff.database import sqlite_driver, sqlite_files, tables

READERS = 4
_READERS_NICENESS = 5
WAIT_SECONDS = 5
_WITHOUT_TRANSACTIONS = "without_transactions"
_MIGRATION_WAIT_SECONDS = 600
# Longer than PostgreSQL's deadlock_timeout of a second, after which it cancels an automatic vacuum that holds a lock.
PATIENT_LOCK_SECONDS = 1.5
_MIGRATION_LOCK = 0x464C4147  # an arbitrary number that nothing else locks in this database

# Conditions of PostgreSQL, by their SQLSTATE.
_UNIQUE_VIOLATION = "23505"
_FOREIGN_KEY_VIOLATION = "23503"
_CHECK_VIOLATION = "23514"
_NO_LOCK = ("55P03", "40P01")  # lock_not_available, deadlock_detected
_UNDEFINED_OBJECT = "42704"
_UNDEFINED_TABLE = "42P01"
_INVALID_SCHEMA = "3F000"
_INSUFFICIENT_PRIVILEGE = "42501"
# SQLSTATE classes and codes: connection exceptions, a read-only server (a standby, or one whose disk is full), an idle
# or long transaction that was ended, refused logins, missing databases, deadlocks, missing privileges, insufficient
# resources, a lock that was not granted in time, operator intervention, system errors.
_OUTAGE_CLASSES = ("08", "25006", "25P03", "25P04", "28", "3D", "40", "42501", "53", "55P03", "57", "58")
_DAMAGE_CODES = ("XX001", "XX002")  # damaged data, damaged index
# Reading may still work: a read-only server, a full disk, an error of the disk.
_DISK_FULL = "53100"
_REFUSED_WRITES = ("25006", _DISK_FULL, "58030")
_SQLITE_REFUSED_WRITES = (
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_READONLY,
)
_TABLE_NAMES = frozenset(table.name for table in tables.metadata.tables.values())
_SQLITE_OUTAGES = (
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_READONLY,
)


def raw_errors(*others: type[Exception]) -> tuple[type[Exception], ...]:
    """The exceptions that the drivers raise while connecting, which SQLAlchemy does not wrap; and others.

    asyncpg raises the last one for a statement that begins between the server's farewell and the end of the connection.
    """
    driver = _postgresql_driver()
    return (*others, OSError, *((driver.PostgresError, driver.InterfaceError) if driver else ()), *internal_errors())


def internal_errors(*others: type[Exception]) -> tuple[type[Exception], ...]:
    """The exception of PostgreSQL's driver for the unexpected, as while it notices a lost connection; and others."""
    driver = _postgresql_driver()
    return (*others, driver.InternalClientError) if driver else others


def _postgresql_driver() -> Any:
    """The module of PostgreSQL's driver. None where it is not loaded: then no error is one of its errors."""
    return sys.modules.get("asyncpg")


def is_postgresql(url: str) -> bool:
    """Return whether a database URL is that of a PostgreSQL server."""
    return url.startswith(("postgresql://", "postgres://"))


def sqlite_engine(path: Path, *, write: bool, synchronous: str, is_quick: bool = False) -> AsyncEngine:
    """A pool of connections to a SQLite file in WAL mode. `is_quick` says that they read little at a time.

    Writers share one connection and take the file's write lock when they begin, so that no transaction fails half-way
    because it cannot get the lock. Readers see the state at their first query and never wait.
    """
    engine = sqlite_driver.create_engine(
        # Only migrations create the file: an empty one in place of one that is gone would hide the loss.
        sqlite_files.existing(path),
        # Three threads that read long lists would otherwise get most of a core that they share with the event loop.
        # Quick reads, for which changes and requests wait, would in turn wait for all that other workers do.
        niceness=0 if write or is_quick else _READERS_NICENESS,
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
        cursor.execute("PRAGMA journal_mode = WAL")
        cursor.execute(f"PRAGMA synchronous = {synchronous}")
        cursor.execute("PRAGMA foreign_keys = ON")
        if write:  # it waits only for the write lock, for which the driver does so
            cursor.execute("PRAGMA busy_timeout = 0")
        cursor.close()

    @sa.event.listens_for(engine.sync_engine, "begin")
    def begin(connection: sa.Connection) -> None:
        if _WITHOUT_TRANSACTIONS not in connection.get_execution_options():
            driver: Any = connection.connection.driver_connection
            driver.begin(sqlite_driver.BEGIN_TO_WRITE if write else "BEGIN")

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
    lock_seconds: float = PATIENT_LOCK_SECONDS,
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
    engine = sqlite_driver.create_engine(configuration, poolclass=sa.pool.NullPool)

    # Foreign keys are not enforced here: altering a table in SQLite drops and rebuilds it, which must not cascade.
    @sa.event.listens_for(engine.sync_engine, "connect")
    def prepare(connection: Any, _record: Any) -> None:
        cursor = connection.cursor()
        cursor.execute(f"PRAGMA busy_timeout = {_MIGRATION_WAIT_SECONDS * 1000}")
        cursor.execute(f"PRAGMA journal_mode = {journal_mode}")
        cursor.execute("ATTACH DATABASE ? AS history", (str(history),))
        cursor.execute(f"PRAGMA history.journal_mode = {journal_mode}")
        cursor.close()

    @sa.event.listens_for(engine.sync_engine, "begin")
    def begin(connection: sa.Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    return engine


def violates_unique(error: sa.exc.IntegrityError, columns: Sequence[sa.Column[Any]]) -> bool:
    """Return whether a statement violated the unique constraint or primary key of exactly these columns of a table."""
    cause = _driver_error(error)
    table = columns[0].table
    assert isinstance(table, sa.Table)
    if isinstance(cause, sqlite3.IntegrityError):
        named = ", ".join(f"{table.name}.{column.name}" for column in columns)
        return str(cause) == f"UNIQUE constraint failed: {named}"
    names = [
        each.name
        for each in table.constraints
        if isinstance(each, sa.UniqueConstraint | sa.PrimaryKeyConstraint) and list(each.columns) == list(columns)
    ]
    return _sqlstate(cause) == _UNIQUE_VIOLATION and _constraint(cause) in names


def is_missing_parent(error: sa.exc.IntegrityError) -> bool:
    """Return whether a statement violated a foreign key because the row it refers to was deleted."""
    cause = _driver_error(error)
    if isinstance(cause, sqlite3.IntegrityError):
        return cause.sqlite_errorcode == sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY
    return _sqlstate(cause) == _FOREIGN_KEY_VIOLATION


def is_in_use(error: DBAPIError) -> bool:
    """Return whether a statement failed because another connection uses the SQLite file."""
    cause = _driver_error(error)
    return isinstance(cause, sqlite3.Error) and (cause.sqlite_errorcode & 0xFF) == sqlite3.SQLITE_BUSY


def is_lock_timeout(error: Exception) -> bool:
    """Return whether PostgreSQL did not grant a lock in time, or never could because of a deadlock."""
    return _sqlstate(_driver_error(error)) in _NO_LOCK


def is_check_violation(error: Exception, constraint: str | None = None) -> bool:
    """Return whether a row of PostgreSQL violates a constraint, such as that of a partition, or one of this name."""
    cause = _driver_error(error)
    return _sqlstate(cause) == _CHECK_VIOLATION and constraint in (None, _constraint(cause))


def is_missing_object(error: Exception) -> bool:
    """Return whether a statement of PostgreSQL names something that is not there, such as a constraint."""
    return _sqlstate(_driver_error(error)) == _UNDEFINED_OBJECT


def is_damage(error: BaseException | None) -> bool:
    """Return whether an error means that the database has found its own data damaged."""
    cause = _driver_error(error) if isinstance(error, Exception) else None
    return _sqlstate(cause) in _DAMAGE_CODES or sqlite_files.is_damage(cause)


def lacks_tables(error: BaseException | None) -> bool:
    """Return whether an error means that one of our tables is not in the database any more."""
    cause = _driver_error(error) if isinstance(error, Exception) else None
    if isinstance(cause, sqlite3.OperationalError):
        _, said, name = str(cause).partition("no such table: ")
        return bool(said) and name.removeprefix("main.") in _TABLE_NAMES
    state = _sqlstate(cause)
    return state == _INVALID_SCHEMA or (
        state == _UNDEFINED_TABLE and any(f'"{name}"' in str(cause) for name in tables.metadata.tables)
    )


def lacks_right(error: BaseException | None) -> bool:
    """Return whether an error means that PostgreSQL's role may not do what it was asked."""
    cause = _driver_error(error) if isinstance(error, Exception) else None
    return _sqlstate(cause) == _INSUFFICIENT_PRIVILEGE


def refuses_writes(error: BaseException | None) -> bool:
    """Return whether an error means that the database cannot store anything, such as for lack of space."""
    cause = _driver_error(error) if isinstance(error, Exception) else None
    if _sqlstate(cause) in _REFUSED_WRITES:
        return True
    code = getattr(cause, "sqlite_errorcode", 0) & 0xFF
    return isinstance(cause, sqlite3.Error) and code in _SQLITE_REFUSED_WRITES


def is_full_disk(error: BaseException | None) -> bool:
    """Return whether an error means that the disk of the database is full."""
    cause = _driver_error(error) if isinstance(error, Exception) else None
    if _sqlstate(cause) == _DISK_FULL:
        return True
    return isinstance(cause, sqlite3.Error) and getattr(cause, "sqlite_errorcode", 0) == sqlite3.SQLITE_FULL


def is_outage(error: Exception) -> bool:
    """Return whether the database is unreachable, full, overloaded, damaged or incomplete, and our SQL is not wrong."""
    driver = _postgresql_driver()
    if isinstance(error, (OSError, sa.exc.TimeoutError, *internal_errors())):
        return True
    if driver is not None and isinstance(error, driver.InterfaceError):
        return True
    if is_damage(error) or lacks_tables(error):
        return True
    cause = _driver_error(error)
    if driver is not None and isinstance(cause, driver.InvalidCachedStatementError):
        return True  # a column's type has changed; the driver has dropped its plans and will create new ones
    if driver is not None and isinstance(cause, driver.PostgresError):
        return (_sqlstate(cause) or "").startswith(_OUTAGE_CLASSES)
    if isinstance(cause, sqlite3.Error):
        return (getattr(cause, "sqlite_errorcode", 0) & 0xFF) in _SQLITE_OUTAGES  # the low byte is the primary code
    return isinstance(error, (OperationalError, InterfaceError)) or getattr(error, "connection_invalidated", False)


def _driver_error(error: Exception) -> BaseException | None:
    """The driver's exception, which the asyncpg adapter wraps a second time, unless the driver itself raised it."""
    if not isinstance(error, DBAPIError):
        return error
    original = error.orig
    if isinstance(original, sqlite3.Error) or original is None:
        return original
    return original.__cause__ or original


def _sqlstate(error: BaseException | None) -> str | None:
    """The SQLSTATE of an error of PostgreSQL; None for any other error."""
    state: str | None = getattr(error, "sqlstate", None)
    return state


def _constraint(error: BaseException | None) -> str | None:
    """The constraint that a row violates, by an error of PostgreSQL."""
    name: str | None = getattr(error, "constraint_name", None)
    return name


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
