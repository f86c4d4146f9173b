"""The revision of a database, and the versions of Flagstaff that can serve from it.

Both are in Alembic's own table. A migration only adds to the schema, so that the version before goes on; one that takes
something away names in `oldest_supported` the first revision that no longer needs it. The newest such revision is
stored, because an older version cannot read the migrations of a newer one.
docs/decisions/0027-upgrades-and-backups.md has the reasons.
"""

from contextlib import suppress
from functools import cache
from pathlib import Path

import sqlalchemy as sa

from flagstaff.database import tables
from flagstaff.database.database import Database
from flagstaff.database.health import CONFIGURATION, HISTORY
from flagstaff.values.errors import Code, Error

SCRIPTS = Path(__file__).parent / "migrations"
FIRST = "1000"  # that of 1.0. Development builds before had lower ones
VERSION = sa.table("alembic_version", sa.column("version_num", sa.Text), sa.column("oldest_supported", sa.Text))
_columns = VERSION.c
_missing_tables = sa.text(
    "SELECT name FROM unnest(CAST(:names AS text[])) AS name WHERE to_regclass(name) IS NULL ORDER BY name"
)
_sqlite_tables = sa.text("SELECT name FROM sqlite_master WHERE type = 'table'")


@cache
def known_revisions() -> list[str]:
    """Return every revision, oldest first: the numbers with which the names of the migrations' files begin."""
    return sorted(file.name.partition("_")[0] for file in (SCRIPTS / "versions").glob("[0-9]*.py"))


def present_revision(connection: sa.Connection) -> str | None:
    """The revision that the database is at; None before the first."""
    if not sa.inspect(connection).has_table(VERSION.name):
        return None
    return connection.execute(sa.select(_columns.version_num)).scalar_one_or_none()


def oldest_supported(connection: sa.Connection) -> str | None:
    """The oldest revision whose version can serve from the database, if a version that stores this has migrated it."""
    if not has_mark(connection):
        return None
    return connection.execute(sa.select(_columns.oldest_supported)).scalar_one_or_none()


def is_newer_and_supported(connection: sa.Connection) -> bool:
    """Return whether a newer version has migrated the database and left everything that this version needs."""
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
            "CREATE DATABASE flagstaff ENCODING 'UTF8' TEMPLATE template0; if the old one contains data, copy it with: "
            "flagstaff copy --to URL",
        )


async def require_encoding_of(database: Database) -> None:
    """The same for a database that is in use."""
    if database.is_postgresql:
        async with database.read() as connection:
            await connection.run_sync(require_encoding)


async def find_missing_tables(database: Database) -> dict[str, list[str]]:
    """The tables of this version that a database lacks although it is at this version's revision, by store.

    SQLite's history is looked at only when something is known to be wrong with it, because reading it may wait for long
    lists. What uses its tables finds out that one is missing.
    """
    async with database.read() as connection:
        if await connection.run_sync(present_revision) != known_revisions()[-1]:
            return {}  # a newer version may have taken away what this one no longer uses
        if database.is_postgresql:
            return await connection.run_sync(missing_tables)
        missing = {CONFIGURATION: await connection.run_sync(_missing_in_file, CONFIGURATION)}
    if not database.health.up[HISTORY]:
        with suppress(Error):  # it is missing or damaged, which is known
            async with database.read_history() as connection:
                missing[HISTORY] = await connection.run_sync(_missing_in_file, HISTORY)
    return missing


def missing_tables(connection: sa.Connection) -> dict[str, list[str]]:
    """The tables of this version that a database of PostgreSQL lacks, by store."""
    missing: dict[str, list[str]] = {}
    for name in connection.execute(_missing_tables, {"names": list(_stores_by_table())}).scalars():
        missing.setdefault(_stores_by_table()[name], []).append(name)
    return missing


def _missing_in_file(connection: sa.Connection, store: str) -> list[str]:
    """The tables of a store that its SQLite file lacks."""
    wanted = {name.rpartition(".")[2] for name, place in _stores_by_table().items() if place == store}
    return sorted(wanted.difference(connection.execute(_sqlite_tables).scalars()))


@cache
def _stores_by_table() -> dict[str, str]:
    metadata = tables.metadata.tables.values()
    return {table.fullname: HISTORY if table.schema == "history" else CONFIGURATION for table in metadata}


async def is_supported(database: Database) -> bool:
    """Return whether this version of Flagstaff can serve from the database as it is."""
    if database.is_missing:
        return False
    async with database.read() as connection:
        return await connection.run_sync(_is_supported)


def _is_supported(connection: sa.Connection) -> bool:
    return present_revision(connection) == known_revisions()[-1] or is_newer_and_supported(connection)


def has_mark(connection: sa.Connection) -> bool:
    """Return whether a version that stores the oldest supported revision has migrated the database."""
    inspector = sa.inspect(connection)
    if not inspector.has_table(VERSION.name):
        return False
    return any(column["name"] == "oldest_supported" for column in inspector.get_columns(VERSION.name))
