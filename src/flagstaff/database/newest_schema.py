"""Creates the tables of a new SQLite database in one step, where the migrations would take forty.

newest_schema.sql has the statements that the migrations leave. `make schema` writes it, and a test compares the two.
"""

from pathlib import Path

import sqlalchemy as sa

from flagstaff.database.schema_state import VERSION

FILE = Path(__file__).with_name("newest_schema.sql")


def is_new(connection: sa.Connection) -> bool:
    """Return whether a database is one of SQLite that no migration has seen."""
    return connection.dialect.name == "sqlite" and not sa.inspect(connection).has_table(VERSION.name)


def create(connection: sa.Connection) -> None:
    """Create the tables of the newest revision, in both files, and record the revision."""
    for statement in FILE.read_text("utf-8").split(";\n"):
        if statement:
            connection.exec_driver_sql(statement)
