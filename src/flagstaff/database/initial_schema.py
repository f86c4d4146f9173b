"""The initial migration's statements: the tables of 1.0, in a file for each database.

A new database gets them without Alembic, which would take 12 MB of memory and 0.3 seconds.
"""

import re

import sqlalchemy as sa

from flagstaff.database.schema_state import FIRST, SCRIPTS, VERSION

# As Alembic makes it, and with a column of ours.
_CREATE_VERSION = (
    "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL, oldest_supported TEXT, "
    "CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num))"
)
_CREATED = re.compile(r"CREATE (TABLE|FUNCTION|SCHEMA) ([\w.]+)")
_counted = ("accounts", "projects")


def is_new(connection: sa.Connection) -> bool:
    """Return whether no migration has seen the database."""
    return not sa.inspect(connection).has_table(VERSION.name)


def create(connection: sa.Connection) -> None:
    """Create the tables in a new database, and record the revision."""
    create_tables(connection)
    connection.exec_driver_sql(_CREATE_VERSION)
    connection.execute(VERSION.insert().values(version_num=FIRST, oldest_supported=FIRST))


def create_tables(connection: sa.Connection) -> None:
    """Create the tables, with SQLite in both files."""
    for statement in _statements(connection):
        connection.exec_driver_sql(statement)


def drop_tables(connection: sa.Connection) -> None:
    """Drop what `create_tables` creates."""
    created = filter(None, map(_CREATED.match, _statements(connection)))
    for kind, name in [match.groups() for match in created][::-1]:
        if name != "history.segments_default":  # a partition goes with its table
            connection.exec_driver_sql(f"DROP {kind} {name}")


def losses(connection: sa.Connection) -> list[str]:
    """Return what `drop_tables` would drop, in words."""
    counts = {name: connection.scalar(sa.select(sa.func.count()).select_from(sa.table(name))) for name in _counted}
    return [f"{count} {name}" for name, count in counts.items() if count]


def _statements(connection: sa.Connection) -> list[str]:
    file = SCRIPTS / "versions" / f"{FIRST}_initial.{connection.dialect.name}.sql"
    return file.read_text("utf-8").removesuffix(";\n").split(";\n\n")
