"""The differences between SQLite and PostgreSQL; maintenance.py has those for tools that handle whole databases."""

import sqlite3
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import asyncpg
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from flagstaff.database import sqlite_driver, sqlite_files, tables

POOL_SIZE = 10
READERS = 4
_READERS_NICENESS = 5
_WAIT_SECONDS = 5
IDLE_WRITE_SECONDS = 5.0
_BEGIN_TO_WRITE = "BEGIN ISOLATION LEVEL READ COMMITTED;"  # as the driver sends it; reads have another level
_TRUSTED_SECONDS = 0.5
_RESTED_SECONDS = 180  # some networks drop connections that have rested for four minutes
_USED_AT = "used at"
_WITHOUT_TRANSACTIONS = "without_transactions"
_MIGRATION_WAIT_SECONDS = 600
# Longer than PostgreSQL's deadlock_timeout of a second, after which it cancels an automatic vacuum that holds a lock.
PATIENT_LOCK_SECONDS = 1.5
_MIGRATION_LOCK = 0x464C4147  # an arbitrary number that nothing else locks in this database

# Exceptions that the drivers raise while connecting, which SQLAlchemy does not wrap.
# asyncpg raises the last one for a statement that begins between the server's farewell and the end of the connection.
RAW_ERRORS = (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError)
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


class _Connection(asyncpg.Connection):
    """A connection whose writes PostgreSQL ends when this process has sent nothing for some seconds.

    A process that is paused or cut off in the middle of a write would otherwise block all writes to the project. The
    limit goes with BEGIN: a statement of its own would cost each write a round trip.
    """

    async def execute(self, query: str, *values: object, **options: Any) -> str:
        """Run statements. Raises the driver's exceptions."""
        if query == _BEGIN_TO_WRITE:
            query += f" SET LOCAL idle_in_transaction_session_timeout = {IDLE_WRITE_SECONDS * 1000:.0f};"
        status: str = await super().execute(query, *values, **options)
        return status


def is_postgresql(url: str) -> bool:
    """Return whether a database URL is that of a PostgreSQL server."""
    return url.startswith(("postgresql://", "postgres://"))


def postgresql_engine(
    url: str, *, command_timeout_seconds: float | None = 30, limits_idle_writes: bool = False
) -> AsyncEngine:
    """A pool of connections to a PostgreSQL server. The connection used last is used next.

    A connection that has rested for more than half a second is asked whether it responds, which takes one round trip,
    and one that has rested for more than three minutes is replaced, because a network may have dropped it silently.
    One used more recently is used unless the driver has seen its end, as in HikariCP: its first statement can fail when
    the server has just stopped. SQLAlchemy's `pool_pre_ping` asks before each transaction, with three round trips,
    which took a quarter of the time of a short one.
    """
    engine = create_async_engine(
        "postgresql+asyncpg://",
        pool_size=POOL_SIZE,
        max_overflow=0,
        hide_parameters=True,  # errors are logged, and users' data must not be
        pool_timeout=_WAIT_SECONDS,
        pool_use_lifo=True,
        connect_args={
            "connection_class": _Connection if limits_idle_writes else asyncpg.Connection,
            "dsn": url,  # parsed by the driver, which supports libpq's parameters, such as sslmode
            "timeout": _WAIT_SECONDS,
            "command_timeout": command_timeout_seconds,
            "server_settings": {"application_name": "flagstaff", "timezone": "UTC"},
        },
    )

    @sa.event.listens_for(engine.sync_engine, "checkin")
    def note(_connection: Any, record: sa.pool.ConnectionPoolEntry) -> None:
        record.info[_USED_AT] = time.monotonic()

    @sa.event.listens_for(engine.sync_engine, "checkout")
    def check(connection: Any, record: sa.pool.ConnectionPoolEntry, _proxy: object) -> None:
        used_at = record.info.get(_USED_AT)
        if used_at is None:
            return  # it has just been opened
        rested_seconds = time.monotonic() - used_at
        if rested_seconds > _RESTED_SECONDS:
            connection.driver_connection.terminate()  # closing it in order would wait for the server's answer
            raise sa.exc.DisconnectionError  # the pool opens another in its place
        if not connection.run_async(partial(_responds, is_trusted=rested_seconds <= _TRUSTED_SECONDS)):
            raise sa.exc.InvalidatePoolError  # the pool replaces all

    return engine


async def _responds(connection: asyncpg.Connection, *, is_trusted: bool) -> bool:
    if connection.is_closed():
        return False
    if not is_trusted:
        try:
            await connection.execute("SELECT 1", timeout=_WAIT_SECONDS)
        except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError):
            connection.terminate()
            return False
    return True


async def postgresql_connection(url: str) -> asyncpg.Connection:
    """A connection outside any pool. Raises the driver's exceptions."""
    return await asyncpg.connect(url, timeout=_WAIT_SECONDS, command_timeout=_WAIT_SECONDS)


def sqlite_engine(path: Path, *, write: bool, synchronous: str) -> AsyncEngine:
    """A pool of connections to a SQLite file in WAL mode.

    Writers share one connection and take the file's write lock when they begin, so that no transaction fails half-way
    because it cannot get the lock. Readers see the state at their first query and never wait.
    """
    engine = sqlite_driver.create_engine(
        # Only migrations create the file: an empty one in place of one that is gone would hide the loss.
        sqlite_files.existing(path),
        # Three threads that read long lists would otherwise get most of a core that they share with the event loop.
        niceness=0 if write else _READERS_NICENESS,
        pool_size=1 if write else READERS,
        max_overflow=0,
        pool_timeout=_WAIT_SECONDS,
        poolclass=sa.pool.AsyncAdaptedQueuePool,
        pool_use_lifo=True,
    )

    @sa.event.listens_for(engine.sync_engine, "connect")
    def prepare(connection: Any, _record: Any) -> None:
        cursor = connection.cursor()
        cursor.execute(f"PRAGMA busy_timeout = {_WAIT_SECONDS * 1000}")
        cursor.execute("PRAGMA journal_mode = WAL")
        cursor.execute(f"PRAGMA synchronous = {synchronous}")
        cursor.execute("PRAGMA foreign_keys = ON")
        if write:  # it waits only for the write lock, for which the driver does so
            cursor.execute("PRAGMA busy_timeout = 0")
        cursor.close()

    @sa.event.listens_for(engine.sync_engine, "begin")
    def begin(connection: sa.Connection) -> None:
        if _WITHOUT_TRANSACTIONS not in connection.get_execution_options():
            connection.exec_driver_sql(sqlite_driver.BEGIN_TO_WRITE if write else "BEGIN")

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
    engine = postgresql_engine(url, command_timeout_seconds=None)

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
    return isinstance(cause, asyncpg.UniqueViolationError) and cause.constraint_name in names


def is_missing_parent(error: sa.exc.IntegrityError) -> bool:
    """Return whether a statement violated a foreign key because the row it refers to was deleted."""
    cause = _driver_error(error)
    if isinstance(cause, sqlite3.IntegrityError):
        return cause.sqlite_errorcode == sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY
    return isinstance(cause, asyncpg.ForeignKeyViolationError)


def is_in_use(error: DBAPIError) -> bool:
    """Return whether a statement failed because another connection uses the SQLite file."""
    cause = _driver_error(error)
    return isinstance(cause, sqlite3.Error) and (cause.sqlite_errorcode & 0xFF) == sqlite3.SQLITE_BUSY


def is_lock_timeout(error: Exception) -> bool:
    """Return whether PostgreSQL did not grant a lock in time, or never could because of a deadlock."""
    return isinstance(_driver_error(error), (asyncpg.LockNotAvailableError, asyncpg.DeadlockDetectedError))


def is_check_violation(error: Exception, constraint: str | None = None) -> bool:
    """Return whether a row of PostgreSQL violates a constraint, such as that of a partition, or one of this name."""
    cause = _driver_error(error)
    return isinstance(cause, asyncpg.CheckViolationError) and constraint in (None, cause.constraint_name)


def is_missing_object(error: Exception) -> bool:
    """Return whether a statement of PostgreSQL names something that is not there, such as a constraint."""
    return isinstance(_driver_error(error), asyncpg.UndefinedObjectError)


def is_damage(error: BaseException | None) -> bool:
    """Return whether an error means that the database has found its own data damaged."""
    cause = _driver_error(error) if isinstance(error, Exception) else None
    if isinstance(cause, asyncpg.PostgresError):
        return cause.sqlstate in _DAMAGE_CODES
    return sqlite_files.is_damage(cause)


def lacks_tables(error: BaseException | None) -> bool:
    """Return whether an error means that one of our tables is not in the database any more."""
    cause = _driver_error(error) if isinstance(error, Exception) else None
    if isinstance(cause, sqlite3.OperationalError):
        _, said, name = str(cause).partition("no such table: ")
        return bool(said) and name.removeprefix("main.") in _TABLE_NAMES
    if isinstance(cause, asyncpg.InvalidSchemaNameError):
        return True
    return isinstance(cause, asyncpg.UndefinedTableError) and any(
        f'"{name}"' in str(cause) for name in tables.metadata.tables
    )


def lacks_right(error: BaseException | None) -> bool:
    """Return whether an error means that PostgreSQL's role may not do what it was asked."""
    cause = _driver_error(error) if isinstance(error, Exception) else None
    return isinstance(cause, asyncpg.InsufficientPrivilegeError)


def refuses_writes(error: BaseException | None) -> bool:
    """Return whether an error means that the database cannot store anything, such as for lack of space."""
    cause = _driver_error(error) if isinstance(error, Exception) else None
    if isinstance(cause, asyncpg.PostgresError):
        return cause.sqlstate in _REFUSED_WRITES
    code = getattr(cause, "sqlite_errorcode", 0) & 0xFF
    return isinstance(cause, sqlite3.Error) and code in _SQLITE_REFUSED_WRITES


def is_full_disk(error: BaseException | None) -> bool:
    """Return whether an error means that the disk of the database is full."""
    cause = _driver_error(error) if isinstance(error, Exception) else None
    if isinstance(cause, asyncpg.PostgresError):
        return cause.sqlstate == _DISK_FULL
    return isinstance(cause, sqlite3.Error) and getattr(cause, "sqlite_errorcode", 0) == sqlite3.SQLITE_FULL


def is_outage(error: Exception) -> bool:
    """Return whether the database is unreachable, full, overloaded, damaged or incomplete, and our SQL is not wrong."""
    if isinstance(error, (OSError, asyncpg.InterfaceError, asyncpg.InternalClientError, sa.exc.TimeoutError)):
        return True
    if is_damage(error) or lacks_tables(error):
        return True
    cause = _driver_error(error)
    if isinstance(cause, asyncpg.InvalidCachedStatementError):
        return True  # a column's type has changed; the driver has dropped its plans and will create new ones
    if isinstance(cause, asyncpg.PostgresError):
        return (cause.sqlstate or "").startswith(_OUTAGE_CLASSES)
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


def upsert(table: sa.Table, conflict: Callable[[Any], Any]) -> Callable[[AsyncConnection], sa.Executable]:
    """An INSERT with ON CONFLICT, built once for each database. `conflict` adds the clause to the INSERT it gets."""
    built = {
        "postgresql": conflict(postgresql.insert(table)),
        "sqlite": conflict(sqlite.insert(table)),
    }
    return lambda connection: built[connection.dialect.name]


def contains_bytes(
    connection: AsyncConnection, column: sa.ColumnElement[bytes], value: bytes
) -> sa.ColumnElement[bool]:
    """Return the condition that a column contains the bytes."""
    if connection.dialect.name == "postgresql":
        return sa.func.pg_catalog.position(column, value) > 0
    return sa.func.instr(column, value) > 0
