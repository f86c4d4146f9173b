"""Migrations, up and down. Each run is one transaction, under a lock so that concurrent starts migrate only once.

With PostgreSQL, other versions may be serving meanwhile: schema_state.py says which can stay.
"""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TypeVar
from urllib.parse import unquote, urlsplit

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncEngine

from flagstaff.database import development_builds, dialect, driver_errors, initial_schema
from flagstaff.database.driver_errors import translated_errors
from flagstaff.database.migration_transactions import lock_tables, run_between_locks, run_once
from flagstaff.database.schema_state import (
    FIRST,
    is_newer_and_supported,
    known_revisions,
    oldest_supported,
    present_revision,
    require_encoding,
)
from flagstaff.database.sqlite.commit_numbers import forget_number
from flagstaff.database.sqlite.files import CONFIGURATION_FILE, HISTORY_FILE, inspect_files
from flagstaff.values.errors import Code, Error

Result = TypeVar("Result")


async def migrate(
    database_url: str | None, data_directory: Path, revision: str = "head", *, force: bool = False
) -> list[str]:
    """Migrate up or down to a revision ("head" is the newest, "base" an empty database); return the revisions run.

    A database that a newer Flagstaff has migrated stays as it is if this version can serve from it and "head" is
    wanted. `force` allows a downgrade to drop what the revision cannot hold.

    Raises:
        Error: INVALID for an unknown revision, CONFLICT for a database that a newer Flagstaff has migrated, for a
            downgrade that would drop something, or when one of SQLite's files is missing or damaged, UNAVAILABLE while
            it cannot be reached. Then nothing has changed.
    """
    files = data_directory / CONFIGURATION_FILE, data_directory / HISTORY_FILE
    work = partial(migrate_connection, revision=revision, force=force)
    if database_url is not None:
        return await run_on_postgresql(database_url, data_directory, work)
    with translated_errors(), _alone(data_directory):
        found = inspect_files(data_directory)
        found.require_configuration()
        if found.are_new:
            for file in files:
                forget_number(data_directory, file.name)
        if found.history_problem is not None:
            raise Error(Code.CONFLICT, f"The database was not migrated: {found.history_problem}")
        if await run_once(dialect.migrating_engine(None, *files), partial(_is_done, revision=revision)):
            return []
        # In WAL mode each file commits by itself, and a kill in between would leave only one of them migrated.
        with_journal = dialect.migrating_engine(None, *files, journal_mode="DELETE")
        try:
            return await run_once(with_journal, work)
        except sa.exc.OperationalError as error:
            if not driver_errors.is_in_use(error):
                raise
            # Another process, such as a backup, has a file open, which keeps it in WAL mode.
            return await run_once(dialect.migrating_engine(None, *files), work)


async def run_on_postgresql(database_url: str, data_directory: Path, work: Callable[[sa.Connection], Result]) -> Result:
    """Do work in the one transaction that changes the schema.

    Raises:
        Error: CONFLICT if the role lacks a right, UNAVAILABLE while the database cannot be reached or locked.
    """
    files = data_directory / CONFIGURATION_FILE, data_directory / HISTORY_FILE

    def make_engine(lock_seconds: float) -> AsyncEngine:
        return dialect.migrating_engine(database_url, *files, lock_seconds=lock_seconds)

    with translated_errors():
        try:
            return await run_between_locks(make_engine, work)
        except sa.exc.DBAPIError as error:
            if driver_errors.lacks_right(error):
                raise _no_right(database_url, error) from error
            raise


def _no_right(url: str, error: sa.exc.DBAPIError) -> Error:
    address = urlsplit(url)
    role, database = unquote(address.username or ""), unquote(address.path.strip("/"))
    reason = str(error.orig).rpartition(": ")[2].partition("\n")[0]
    return Error(
        Code.CONFLICT,
        f"The role {role} may not migrate the database {database}: {reason}. Nothing was changed. Run as the owner of "
        f'the database: GRANT CREATE ON DATABASE "{database}" TO "{role}"; GRANT CREATE ON SCHEMA public TO "{role}". '
        "Tables that another role has created must belong to this one: ALTER TABLE … OWNER TO …",
    )


def _is_done(connection: sa.Connection, revision: str) -> bool:
    if revision == "head" and is_newer_and_supported(connection):
        return True
    return present_revision(connection) == _resolve(known_revisions(), revision)


@contextmanager
def _alone(data_directory: Path) -> Iterator[None]:
    """Wait for other migrations in the folder: only one process at a time can change the journal's mode."""
    descriptor = os.open(data_directory, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def migrate_connection(connection: sa.Connection, revision: str, *, force: bool = False) -> list[str]:
    """The same on a connection of `dialect.migrating_engine`, in its transaction."""
    if revision != "base":
        require_encoding(connection)
    revisions = known_revisions()
    wanted = _steps(revisions, _resolve(revisions, revision))
    if _is_done(connection, revision):
        return []
    present = present_revision(connection)
    development_builds.require_no_older(present)
    if present not in {None, development_builds.LAST_REVISION, *revisions}:
        oldest = oldest_supported(connection)
        needed = f"; the database needs {oldest} or newer" if oldest and oldest not in revisions else ""
        raise Error(
            Code.CONFLICT,
            f"The database is at revision {present}, which is unknown to this version of Flagstaff (its newest is "
            f"{revisions[-1]}{needed}). Start the newer version, or migrate back with that version: flagstaff migrate "
            f"--to {revisions[-1]}.",
        )
    begun: list[str] = []
    if present == development_builds.LAST_REVISION:
        lock_tables(connection)
        development_builds.take_over(connection)
        begun = [FIRST]
    elif initial_schema.is_new(connection):
        begun = initial_schema.create(connection, revisions[:wanted])
    done = len(begun) or _steps(revisions, present)
    return begun + (_run_scripts(connection, revisions, done, wanted, force=force) if done != wanted else [])


def _run_scripts(connection: sa.Connection, revisions: list[str], done: int, wanted: int, *, force: bool) -> list[str]:
    """Migrate from one number of revisions to another with Alembic; return the revisions run."""
    from alembic import command  # noqa: PLC0415 -- with what it needs, it takes 7 MB, which a process that serves spares

    from flagstaff.database.migration_scripts import configuration, record_oldest_supported  # noqa: PLC0415

    lock_tables(connection)
    alembic = configuration()
    alembic.attributes["connection"] = connection
    if wanted > done:
        command.upgrade(alembic, revisions[wanted - 1])
    else:
        if not force:
            _require_no_losses(connection, revisions[wanted:done])
        command.downgrade(alembic, revisions[wanted - 1] if wanted else "base")
    record_oldest_supported(connection)
    return revisions[done:wanted] or revisions[wanted:done][::-1]


def _require_no_losses(connection: sa.Connection, undone: list[str]) -> None:
    from flagstaff.database.migration_scripts import scripts  # noqa: PLC0415 -- reaches Alembic

    directory = scripts()
    modules = [directory.get_revision(revision).module for revision in reversed(undone)]
    losses = [loss for module in modules if hasattr(module, "losses") for loss in module.losses(connection)]
    if losses:
        raise Error(
            Code.CONFLICT,
            f"The downgrade would drop {', '.join(losses)}. Nothing was changed. Add --force to drop them.",
        )


def _resolve(revisions: list[str], revision: str) -> str | None:
    if revision == "base":
        return None
    if revision == "head":
        return revisions[-1]
    if revision not in revisions:
        known = ", ".join(["base", *revisions, "head"])
        raise Error(Code.INVALID, f"There is no revision {revision!r}. The revisions are {known}.")
    return revision


def _steps(revisions: list[str], revision: str | None) -> int:
    """The number of revisions from the empty database to this one."""
    return 0 if revision is None else revisions.index(revision) + 1
