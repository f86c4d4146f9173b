"""The meaning of drivers' errors, and their conversion into domain errors."""

import sqlite3
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa
import structlog
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError

from flagstaff.database import situations, tables
from flagstaff.database.situations import Situation
from flagstaff.database.sqlite import files
from flagstaff.values.errors import Code, Error, not_found, unavailable

log = structlog.get_logger(__name__)

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
_STATEMENT_PACKAGES = ("asyncpg", "sqlalchemy", "flagstaff")  # whose code a statement passes through
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


@contextmanager
def translated_errors() -> Iterator[None]:
    """Convert drivers' errors to domain errors: UNAVAILABLE for an outage, NOT_FOUND for a parent that was deleted."""
    try:
        yield
    except sa.exc.IntegrityError as error:
        if is_missing_parent(error):
            raise not_found("resource any more; it has been deleted") from error
        raise
    except Exception as error:
        if not is_outage(error):
            raise
        log.warning("database_unavailable", error=type(error).__name__, detail=str(error).partition("\n")[0])
        situation = find_situation(error)
        raise (unavailable(situation.message) if situation else unavailable()) from error


@contextmanager
def unique_or(message: str, *columns: sa.Column[Any]) -> Iterator[None]:
    """Raise Error CONFLICT with this message if a statement violates the unique constraint of these columns.

    Other violations are raised as they are: they are no conflict that the caller could solve.
    """
    try:
        yield
    except sa.exc.IntegrityError as error:
        if not violates_unique(error, columns):
            raise
        raise Error(Code.CONFLICT, message) from error


def raw_errors(*others: type[Exception]) -> tuple[type[Exception], ...]:
    """The exceptions that the drivers raise while connecting, which SQLAlchemy does not wrap; and others.

    asyncpg raises the last one for a statement that begins between the server's farewell and the end of the connection.
    """
    driver = _postgresql_driver()
    if driver is None:
        return (*others, OSError)
    return (*others, OSError, driver.PostgresError, driver.InterfaceError, driver.InternalClientError)


def is_of_a_lost_connection(error: Exception) -> bool:
    """Return whether PostgreSQL's driver failed itself, as it does while a connection ends.

    It then raises its own InternalClientError, or whatever its code runs into, such as an AttributeError. Errors of the
    database, wrong parameters and wrong calls have classes of their own.
    """
    driver = _postgresql_driver()
    if driver is None or isinstance(error, (driver.PostgresError, driver.InterfaceError)):
        return False
    modules = [frame.f_globals.get("__name__", "") for frame, _ in traceback.walk_tb(error.__traceback__)]
    packages = [name.partition(".")[0] for name in modules]
    return next((each for each in reversed(packages) if each in _STATEMENT_PACKAGES), None) == "asyncpg"


def _postgresql_driver() -> Any:
    """The module of PostgreSQL's driver. None where it is not loaded: then no error is one of its errors."""
    return sys.modules.get("asyncpg")


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
    """Return whether a row of PostgreSQL violates a constraint, such as a partition's, or one of this name."""
    cause = _driver_error(error)
    return _sqlstate(cause) == _CHECK_VIOLATION and constraint in (None, _constraint(cause))


def is_missing_object(error: Exception) -> bool:
    """Return whether a statement of PostgreSQL names something that is not there, such as a constraint."""
    return _sqlstate(_driver_error(error)) == _UNDEFINED_OBJECT


def is_damage(error: BaseException | None) -> bool:
    """Return whether an error means that the database has found its own data damaged."""
    cause = _driver_error(error)
    return _sqlstate(cause) in _DAMAGE_CODES or files.is_damage(cause)


def lacks_tables(error: BaseException | None) -> bool:
    """Return whether an error means that one of our tables is not in the database any more."""
    cause = _driver_error(error)
    if isinstance(cause, sqlite3.OperationalError):
        _, said, name = str(cause).partition("no such table: ")
        return bool(said) and name.removeprefix("main.") in _TABLE_NAMES
    state = _sqlstate(cause)
    return state == _INVALID_SCHEMA or (
        state == _UNDEFINED_TABLE and any(f'"{name}"' in str(cause) for name in tables.metadata.tables)
    )


def lacks_right(error: BaseException | None) -> bool:
    """Return whether an error means that PostgreSQL's role may not do what it was asked."""
    cause = _driver_error(error)
    return _sqlstate(cause) == _INSUFFICIENT_PRIVILEGE


def refuses_writes(error: BaseException | None) -> bool:
    """Return whether an error means that the database cannot store anything, such as for lack of space."""
    cause = _driver_error(error)
    if _sqlstate(cause) in _REFUSED_WRITES:
        return True
    code = getattr(cause, "sqlite_errorcode", 0) & 0xFF
    return isinstance(cause, sqlite3.Error) and code in _SQLITE_REFUSED_WRITES


def is_full_disk(error: BaseException | None) -> bool:
    """Return whether an error means that the disk of the database is full."""
    cause = _driver_error(error)
    if _sqlstate(cause) == _DISK_FULL:
        return True
    return isinstance(cause, sqlite3.Error) and getattr(cause, "sqlite_errorcode", 0) == sqlite3.SQLITE_FULL


def is_outage(error: Exception) -> bool:
    """Return whether the database is unreachable, full, overloaded, damaged or incomplete, and our SQL is not wrong."""
    driver = _postgresql_driver()
    if isinstance(error, (OSError, sa.exc.TimeoutError)) or is_of_a_lost_connection(error):
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


def find_situation(error: BaseException | None) -> Situation | None:
    """The situation in which an error is raised, with the step that ends it; None for others."""
    cause = _driver_error(error)
    return situations.find_situation(cause, _sqlstate(cause))


def _driver_error(error: BaseException | None) -> BaseException | None:
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
