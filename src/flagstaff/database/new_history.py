"""Begins a new, empty history beside the configuration, and sets one that cannot be used aside."""

import asyncio
import sqlite3
from contextlib import closing
from datetime import datetime
from functools import partial
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryDirectory

import sqlalchemy as sa

from flagstaff.database import tables
from flagstaff.database.development_builds import taken_over
from flagstaff.database.files import WORK_PREFIX, sync_directory
from flagstaff.database.health import HISTORY
from flagstaff.database.migrate import migrate, migrate_connection, run_on_postgresql
from flagstaff.database.schema_state import known_revisions, missing_tables, present_revision
from flagstaff.database.sqlite.commit_numbers import forget_number
from flagstaff.database.sqlite.files import COMPANIONS, HISTORY_FILE, Files, State, find_damage, inspect_files
from flagstaff.values.errors import Code, Error

_NUMBERED = (tables.segments.name, tables.event_segments.name)
_number_schema = sa.text(
    "SELECT setval(pg_class.oid::regclass, :number) FROM pg_class WHERE relnamespace = 'history'::regnamespace "
    "AND relkind = 'S' AND relname IN ('segments_id_seq', 'event_segments_id_seq')"
)


async def begin_new_history(directory: Path, now: datetime) -> Path | None:
    """Replace a history that is missing, empty or damaged; return where the previous file is now, if there was one.

    The caller holds the directory's lock. A kill leaves the previous file or none; then the command can be repeated.

    Raises:
        Error: CONFLICT, and nothing has changed, if the history is not damaged or there is no configuration.
    """
    found = inspect_files(directory)
    found.require_configuration()
    revision = _require_revision(found)
    await _require_damage(found)
    with TemporaryDirectory(prefix=f"{WORK_PREFIX}new-history-", dir=directory) as folder:
        # As the first start makes it, at the revision of the configuration beside it.
        await migrate(None, Path(folder), revision)
        made = Path(folder) / HISTORY_FILE
        _number_from(made, now)
        aside = _set_aside(directory, now)
        forget_number(directory, HISTORY_FILE)
        made.rename(directory / HISTORY_FILE)
        sync_directory(directory)
    return aside


async def begin_new_schema(database_url: str, data_directory: Path, now: datetime) -> str | None:
    """Do the same with PostgreSQL, where servers may run; return the schema of the previous history, if there was one.

    Raises:
        Error: CONFLICT, and nothing has changed, if the history lacks no table, there is no configuration, or the role
            may create no schema; UNAVAILABLE while the database cannot be reached.
    """
    return await run_on_postgresql(database_url, data_directory, partial(_begin_new_schema, now=now))


def _begin_new_schema(connection: sa.Connection, now: datetime) -> str | None:
    revision = present_revision(connection)
    if revision is None:
        raise Error(Code.CONFLICT, "There is no history in the database yet. The next start creates it.")
    revision = _require_known(revision)
    if HISTORY not in missing_tables(connection):
        raise Error(
            Code.CONFLICT,
            "The history is complete. Nothing was changed. To begin a new history anyway, first rename its schema: "
            "ALTER SCHEMA history RENAME TO …",
        )
    aside = None
    if sa.inspect(connection).has_schema(tables.HISTORY):
        aside = f"history_{now:%Y%m%dt%H%M%Sz}"
        connection.execute(sa.text(f"ALTER SCHEMA {tables.HISTORY} RENAME TO {aside}"))
    # All migrations run, as at the first start. Of what they make, the configuration's tables are dropped again.
    other = f"new_history_{token_hex(8)}"
    connection.execute(sa.text(f"CREATE SCHEMA {other}"))
    connection.execute(sa.text(f"SET LOCAL search_path TO {other}"))
    migrate_connection(connection, revision)
    connection.execute(sa.text(f"DROP SCHEMA {other} CASCADE"))
    connection.execute(_number_schema, {"number": _first_number(now)})
    return aside


def _require_revision(found: Files) -> str:
    if found.revision is None or (found.history is not State.FILLED and found.history_problem is None):
        raise Error(Code.CONFLICT, f"There is no history in {found.directory} yet. The next start creates it.")
    return _require_known(found.revision)


def _require_known(revision: str) -> str:
    """Return the revision of the history to make beside a configuration."""
    revision = taken_over(revision)
    if revision not in known_revisions():
        raise Error(
            Code.CONFLICT,
            f"The database is at revision {revision}, which is unknown to this version of Flagstaff. Run this command "
            f"with the newer version.",
        )
    return revision


async def _require_damage(found: Files) -> None:
    path = found.directory / HISTORY_FILE
    if found.history is State.FILLED and await asyncio.to_thread(find_damage, path, is_thorough=True) is None:
        raise Error(
            Code.CONFLICT,
            f"{path} is not damaged. Nothing was changed. To begin a new history anyway, first move the files whose "
            f"names begin with {HISTORY_FILE} to another folder.",
        )


def _first_number(now: datetime) -> int:
    """A number above all segments of any earlier history, so that exports and copies skip none."""
    return int(now.timestamp() * 1000)


def _number_from(path: Path, now: datetime) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        values = [(table, _first_number(now)) for table in _NUMBERED]
        connection.executemany("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", values)


def _set_aside(directory: Path, now: datetime) -> Path | None:
    aside = directory / f"history-{now:%Y%m%dT%H%M%SZ}.sqlite"
    for ending in COMPANIONS:
        path = directory / f"{HISTORY_FILE}{ending}"
        if path.exists():
            path.rename(directory / f"{aside.name}{ending}")
    return aside if aside.exists() else None
