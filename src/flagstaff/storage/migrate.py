"""Migrations, up and down, each run all or nothing: one transaction, under a lock that lets two starts migrate once."""

from pathlib import Path

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from alembic.util import CommandError

from flagstaff.domain.errors import Code, Error
from flagstaff.storage import dialect
from flagstaff.storage.database import CONFIGURATION_FILE, HISTORY_FILE, Database, translated_errors

_SCRIPTS = Path(__file__).parent / "migrations"
_version = sa.table("alembic_version", sa.column("version_num", sa.Text))


async def migrate(database_url: str | None, data_directory: Path, revision: str = "head") -> list[str]:
    """Go up or down to a revision ("head" is the newest, "base" an empty database); return the revisions run.

    Raises:
        Error: INVALID for an unknown revision, CONFLICT for a database that a newer Flagstaff has migrated,
            UNAVAILABLE while it cannot be reached. Nothing has changed then.
    """
    engine = dialect.migrating_engine(database_url, data_directory / CONFIGURATION_FILE, data_directory / HISTORY_FILE)
    try:
        with translated_errors():
            async with engine.begin() as connection:
                return await connection.run_sync(_migrate, revision)
    finally:
        await engine.dispose()


async def current_revision(database: Database) -> str | None:
    """The revision that the database is at; None before the first."""
    async with database.read() as connection:
        return await connection.run_sync(_current_revision)


async def is_current(database: Database) -> bool:
    """Whether the database is at the revision that this version of Flagstaff needs."""
    return await current_revision(database) == _script_directory(_configuration()).get_current_head()


def _migrate(connection: sa.Connection, revision: str) -> list[str]:
    configuration = _configuration()
    configuration.attributes["connection"] = connection
    scripts = _script_directory(configuration)
    history = [script.revision for script in reversed(list(scripts.walk_revisions()))]
    present, wanted = _current_revision(connection), _resolve(scripts, revision)
    if present is not None and present not in history:
        raise Error(
            Code.CONFLICT,
            f"The database is at revision {present}, which this version of Flagstaff does not know (its newest is "
            f"{history[-1]}). Start the newer version that made it, or let that one go back: flagstaff migrate --to "
            f"{history[-1]}.",
        )
    start, end = _steps_from_base(history, present), _steps_from_base(history, wanted)
    if start < end:
        command.upgrade(configuration, revision)
        return history[start:end]
    if start > end:
        command.downgrade(configuration, revision)
    return history[end:start][::-1]


def _current_revision(connection: sa.Connection) -> str | None:
    if not sa.inspect(connection).has_table(_version.name):
        return None
    return connection.execute(sa.select(_version.c.version_num)).scalar_one_or_none()


def _resolve(scripts: ScriptDirectory, revision: str) -> str | None:
    try:
        script = scripts.get_revision(revision)
    except CommandError as error:
        raise Error(
            Code.INVALID, f"There is no revision {revision}. The newest is {scripts.get_current_head()}."
        ) from error
    return script.revision if script else None


def _steps_from_base(history: list[str], revision: str | None) -> int:
    return 0 if revision is None else history.index(revision) + 1


def _configuration() -> Config:
    configuration = Config()
    configuration.set_main_option("script_location", str(_SCRIPTS).replace("%", "%%"))
    return configuration


def _script_directory(configuration: Config) -> ScriptDirectory:
    return ScriptDirectory.from_config(configuration)
