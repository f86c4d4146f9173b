"""Migrations, up and down. Each run is one transaction, under a lock so that concurrent starts migrate only once."""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import TypeVar

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy.ext.asyncio import AsyncEngine

from flagstaff.domain.errors import Code, Error
from flagstaff.storage import dialect
from flagstaff.storage.database import CONFIGURATION_FILE, HISTORY_FILE, Database, translated_errors

Result = TypeVar("Result")

_SCRIPTS = Path(__file__).parent / "migrations"
_version = sa.table("alembic_version", sa.column("version_num", sa.Text))


async def migrate(
    database_url: str | None, data_directory: Path, revision: str = "head", *, force: bool = False
) -> list[str]:
    """Migrate up or down to a revision ("head" is the newest, "base" an empty database); return the revisions run.

    `force` allows a downgrade to drop what the revision cannot hold.

    Raises:
        Error: INVALID for an unknown revision, CONFLICT for a database that a newer Flagstaff has migrated or for a
            downgrade that would drop something, UNAVAILABLE while it cannot be reached. Then nothing has changed.
    """
    files = data_directory / CONFIGURATION_FILE, data_directory / HISTORY_FILE
    work = partial(migrate_connection, revision=revision, force=force)
    with translated_errors():
        if database_url is not None:
            return await _run(dialect.migrating_engine(database_url, *files), work)
        with _alone(data_directory):
            if await _run(dialect.migrating_engine(None, *files), partial(_is_at, revision=revision)):
                return []
            # In WAL mode each file commits by itself, and a kill in between would leave only one of them migrated.
            with_journal = dialect.migrating_engine(None, *files, journal_mode="DELETE")
            try:
                return await _run(with_journal, work)
            except sa.exc.OperationalError as error:
                if not dialect.is_in_use(error):
                    raise
                # Another process, such as a backup, has a file open, which keeps it in WAL mode.
                return await _run(dialect.migrating_engine(None, *files), work)


async def _run(engine: AsyncEngine, work: Callable[[sa.Connection], Result]) -> Result:
    try:
        async with engine.begin() as connection:
            return await connection.run_sync(work)
    finally:
        await engine.dispose()


def _is_at(connection: sa.Connection, revision: str) -> bool:
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


async def current_revision(database: Database) -> str | None:
    """The revision that the database is at; None before the first."""
    async with database.read() as connection:
        return await connection.run_sync(present_revision)


async def is_current(database: Database) -> bool:
    """Whether the database is at the revision that this version of Flagstaff needs."""
    return await current_revision(database) == known_revisions()[-1]


def migrate_connection(connection: sa.Connection, revision: str, *, force: bool = False) -> list[str]:
    """The same on a connection of `dialect.migrating_engine`, in its transaction."""
    revisions = known_revisions()
    wanted = _steps(revisions, _resolve(revisions, revision))
    present = present_revision(connection)
    if present is not None and present not in revisions:
        raise Error(
            Code.CONFLICT,
            f"The database is at revision {present}, which is unknown to this version of Flagstaff (its newest is "
            f"{revisions[-1]}). Start the newer version, or migrate back with that version: flagstaff migrate --to "
            f"{revisions[-1]}.",
        )
    done = _steps(revisions, present)
    configuration = _configuration()
    configuration.attributes["connection"] = connection
    if wanted > done:
        command.upgrade(configuration, revisions[wanted - 1])
        return revisions[done:wanted]
    if wanted < done:
        if not force:
            _require_no_losses(connection, revisions[wanted:done])
        command.downgrade(configuration, revisions[wanted - 1] if wanted else "base")
    return revisions[wanted:done][::-1]


def _require_no_losses(connection: sa.Connection, undone: list[str]) -> None:
    scripts = ScriptDirectory.from_config(_configuration())
    modules = [scripts.get_revision(revision).module for revision in reversed(undone)]
    losses = [loss for module in modules if hasattr(module, "losses") for loss in module.losses(connection)]
    if losses:
        raise Error(
            Code.CONFLICT,
            f"The downgrade would drop {', '.join(losses)}. Nothing was changed. Add --force to drop them.",
        )


def present_revision(connection: sa.Connection) -> str | None:
    """The revision that the database is at; None before the first."""
    if not sa.inspect(connection).has_table(_version.name):
        return None
    return connection.execute(sa.select(_version.c.version_num)).scalar_one_or_none()


@cache
def known_revisions() -> list[str]:
    """Every revision, oldest first."""
    scripts = ScriptDirectory.from_config(_configuration()).walk_revisions()
    return [script.revision for script in scripts][::-1]


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


def _configuration() -> Config:
    configuration = Config()
    configuration.set_main_option("script_location", str(_SCRIPTS).replace("%", "%%"))
    return configuration
