"""Which revision a database is at, and which versions of Flagstaff can serve from it.

Both are in Alembic's own table. A migration only adds to the schema, so that the version before goes on; one that takes
something away names in `oldest_supported` the first revision that no longer needs it. The newest such revision is
stored, because an older version cannot read the migrations of a newer one. docs/decisions/0033-upgrades.md has the
reasons.
"""

from functools import cache
from pathlib import Path

import sqlalchemy as sa
from alembic.config import Config
from alembic.script import Script, ScriptDirectory

from flagstaff.database import tables
from flagstaff.database.database import Database
from flagstaff.database.health import CONFIGURATION, HISTORY
from flagstaff.values.errors import Code, Error

_SCRIPTS = Path(__file__).parent / "migrations"
_version = sa.table("alembic_version", sa.column("version_num", sa.Text), sa.column("oldest_supported", sa.Text))
_columns = _version.c
_missing_tables = sa.text(
    "SELECT name FROM unnest(CAST(:names AS text[])) AS name WHERE to_regclass(name) IS NULL ORDER BY name"
)


def configuration() -> Config:
    """Alembic's, without a database."""
    made = Config()
    made.set_main_option("script_location", str(_SCRIPTS).replace("%", "%%"))
    return made


@cache
def known_revisions() -> list[str]:
    """Every revision, oldest first."""
    return [script.revision for script in _scripts()]


def named_oldest_supported() -> dict[str, str]:
    """By each migration that takes something away, the first revision that no longer needs it."""
    modules = {script.revision: script.module for script in _scripts()}
    return {each: module.oldest_supported for each, module in modules.items() if hasattr(module, "oldest_supported")}


def present_revision(connection: sa.Connection) -> str | None:
    """The revision that the database is at; None before the first."""
    if not sa.inspect(connection).has_table(_version.name):
        return None
    return connection.execute(sa.select(_columns.version_num)).scalar_one_or_none()


def oldest_supported(connection: sa.Connection) -> str | None:
    """The oldest revision whose version can serve from the database, if a version that stores this has migrated it."""
    if not _has_mark(connection):
        return None
    return connection.execute(sa.select(_columns.oldest_supported)).scalar_one_or_none()


def note_oldest_supported(connection: sa.Connection) -> None:
    """Store it after a migration, in its transaction. The revision must be one that this version knows."""
    present = present_revision(connection)
    if present is None:
        return
    run = known_revisions()[: known_revisions().index(present) + 1]
    named = [oldest for revision, oldest in named_oldest_supported().items() if revision in run]
    if not _has_mark(connection):
        connection.execute(sa.text("ALTER TABLE alembic_version ADD COLUMN oldest_supported TEXT"))
    connection.execute(_version.update().values(oldest_supported=max(named, default=None)))


def is_newer_and_supported(connection: sa.Connection) -> bool:
    """Whether a newer version has migrated the database and left everything that this version needs."""
    is_newer = present_revision(connection) not in {None, *known_revisions()}
    return is_newer and oldest_supported(connection) in known_revisions()


async def current_revision(database: Database) -> str | None:
    """The revision that the database is at; None before the first."""
    if database.is_missing:
        return None
    async with database.read() as connection:
        return await connection.run_sync(present_revision)


def require_encoding(connection: sa.Connection) -> None:
    """Raise Error CONFLICT for a database of PostgreSQL that cannot hold every text."""
    if connection.dialect.name != "postgresql":
        return
    encoding = connection.exec_driver_sql("SHOW server_encoding").scalar_one()
    if encoding != "UTF8":
        name = connection.exec_driver_sql("SELECT current_database()").scalar_one()
        raise Error(
            Code.CONFLICT,
            f"The database {name} has the encoding {encoding}, which cannot hold every text. Create one for Flagstaff: "
            "CREATE DATABASE flagstaff ENCODING 'UTF8' TEMPLATE template0; if there are data in the old one, copy them "
            "with: flagstaff copy --to URL",
        )


async def require_encoding_of(database: Database) -> None:
    """The same for a database that is in use."""
    if database.is_postgresql:
        async with database.read() as connection:
            await connection.run_sync(require_encoding)


async def find_missing_tables(database: Database) -> dict[str, list[str]]:
    """The tables of this version that a database of PostgreSQL lacks although it is at this version's revision.

    They are named by store. SQLite's tables are lost with their file only.
    """
    if not database.is_postgresql:
        return {}
    async with database.read() as connection:
        if await connection.run_sync(present_revision) != known_revisions()[-1]:
            return {}  # a newer version may have taken away what this one no longer uses
        return await connection.run_sync(missing_tables)


def missing_tables(connection: sa.Connection) -> dict[str, list[str]]:
    """The tables of this version that a database of PostgreSQL lacks, by store."""
    missing: dict[str, list[str]] = {}
    for name in connection.execute(_missing_tables, {"names": list(_stores_by_table())}).scalars():
        missing.setdefault(_stores_by_table()[name], []).append(name)
    return missing


@cache
def _stores_by_table() -> dict[str, str]:
    metadata = tables.metadata.tables.values()
    return {table.fullname: HISTORY if table.schema == "history" else CONFIGURATION for table in metadata}


async def is_supported(database: Database) -> bool:
    """Whether this version of Flagstaff can serve from the database as it is."""
    if database.is_missing:
        return False
    async with database.read() as connection:
        return await connection.run_sync(_is_supported)


def _is_supported(connection: sa.Connection) -> bool:
    return present_revision(connection) == known_revisions()[-1] or is_newer_and_supported(connection)


def _has_mark(connection: sa.Connection) -> bool:
    inspector = sa.inspect(connection)
    if not inspector.has_table(_version.name):
        return False
    return any(column["name"] == "oldest_supported" for column in inspector.get_columns(_version.name))


@cache
def _scripts() -> list[Script]:
    return [*ScriptDirectory.from_config(configuration()).walk_revisions()][::-1]
