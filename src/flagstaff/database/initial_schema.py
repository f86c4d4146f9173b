"""Migrations whose statements are in a file, for each database or for both: at first the tables of 1.0.

A new database gets them without Alembic, which would take 12 MB of memory and 0.3 seconds.
"""

import re
from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path

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


def create(connection: sa.Connection, revisions: Sequence[str]) -> list[str]:
    """Create the tables in a new database, and return the first of these revisions, up to which it has them now.

    Those after a revision without a file are left to Alembic.
    """
    created = [*takewhile(lambda revision: _find_file(connection, revision), revisions)]
    for revision in created:
        run_statements(connection, revision)
    connection.exec_driver_sql(_CREATE_VERSION)
    connection.execute(VERSION.insert().values(version_num=created[-1], oldest_supported=FIRST))
    return created


def run_statements(connection: sa.Connection, revision: str) -> None:
    """Run the statements of a revision, with SQLite in both files."""
    for statement in _statements(connection, revision):
        connection.exec_driver_sql(statement)


def drop_tables(connection: sa.Connection) -> None:
    """Drop the tables of 1.0."""
    created = filter(None, map(_CREATED.match, _statements(connection, FIRST)))
    for kind, name in [match.groups() for match in created][::-1]:
        if name != "history.segments_default":  # a partition goes with its table
            connection.exec_driver_sql(f"DROP {kind} {name}")


def losses(connection: sa.Connection) -> list[str]:
    """Return what `drop_tables` would drop, in words."""
    counts = {name: connection.scalar(sa.select(sa.func.count()).select_from(sa.table(name))) for name in _counted}
    return [f"{count} {name}" for name, count in counts.items() if count]


def _statements(connection: sa.Connection, revision: str) -> list[str]:
    file = _find_file(connection, revision)
    assert file is not None
    return file.read_text("utf-8").removesuffix(";\n").split(";\n\n")


def _find_file(connection: sa.Connection, revision: str) -> Path | None:
    """The file with the statements of a revision for this database, or for both."""
    versions = SCRIPTS / "versions"
    own = next(versions.glob(f"{revision}_*.{connection.dialect.name}.sql"), None)
    return own or next((each for each in versions.glob(f"{revision}_*.sql") if each.name.count(".") == 1), None)
