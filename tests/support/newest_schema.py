"""The schema that the migrations leave in SQLite's two files. `make schema` writes it to newest_schema.sql."""

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import sqlalchemy as sa

from flagstaff.database import dialect
from flagstaff.database.migrate import migrate
from flagstaff.database.newest_schema import FILE
from flagstaff.database.sqlite.files import CONFIGURATION_FILE, HISTORY_FILE

# SQLite stores a statement without the name of the file that it is for.
_CREATED = re.compile(r"CREATE (UNIQUE INDEX|INDEX|TABLE|TRIGGER|VIEW) ")


def describe(connection: sa.Connection) -> str:
    """The statements that create what is in both files, tables first, and the rows that migrations have written."""
    return "".join(f"{statement};\n" for statement in _statements(connection))


def _statements(connection: sa.Connection) -> Iterator[str]:
    for schema, prefix in (("main", ""), ("history", "history.")):
        rows = connection.exec_driver_sql(
            f"SELECT type, name, sql FROM {schema}.sqlite_master WHERE sql IS NOT NULL AND name <> 'sqlite_sequence' "
            "ORDER BY type <> 'table', name"
        ).all()
        for _, _, statement in rows:
            yield _CREATED.sub(rf"CREATE \1 {prefix}", statement, count=1)
        for kind, name, _ in rows:
            if kind == "table":
                yield from _inserts(connection, prefix, name)


def _inserts(connection: sa.Connection, prefix: str, table: str) -> Iterator[str]:
    for row in connection.exec_driver_sql(f'SELECT * FROM {prefix}"{table}"'):
        values = ", ".join(connection.exec_driver_sql("SELECT quote(?)", (value,)).scalar_one() for value in row)
        yield f'INSERT INTO {prefix}"{table}" VALUES ({values})'


async def describe_migrated(directory: Path) -> str:
    """Migrate a new database step by step, and describe it."""
    await migrate(None, directory, "0001")  # a new database would be created in one step
    await migrate(None, directory)
    return await describe_files(directory)


async def describe_files(directory: Path) -> str:
    """Describe the database in a folder."""
    engine = dialect.migrating_engine(None, directory / CONFIGURATION_FILE, directory / HISTORY_FILE)
    try:
        async with engine.begin() as connection:
            return await connection.run_sync(describe)
    finally:
        await engine.dispose()


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        FILE.write_text(asyncio.run(describe_migrated(Path(folder))), "utf-8")
