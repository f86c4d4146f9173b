"""Databases with rows in every existing table, and the full content of a database for comparison."""

from typing import Any
from uuid import UUID, uuid5

import sqlalchemy as sa

from flagstaff.database import dialect, tables
from flagstaff.database.backup.dump import open_dump
from flagstaff.database.backup.forms import Row, newest_forms
from flagstaff.database.sqlite.files import CONFIGURATION_FILE, HISTORY_FILE
from tests.support.stores import Store

_NAMESPACE = UUID("0f0e0d0c-0b0a-4908-8706-050403020100")


async def fill_every_table(store: Store, rows: int = 3) -> None:
    """Write rows to each table: values of every kind, including their bounds, and NULL where allowed."""
    directory = store.data_directory
    engine = dialect.migrating_engine(store.database_url, directory / CONFIGURATION_FILE, directory / HISTORY_FILE)
    try:
        async with engine.begin() as connection:
            for form in newest_forms():
                table = tables.metadata.tables[form.full_name]
                kinds = {column.name: column.kind for column in form.columns}
                values = [
                    {column.name: _value(column, kinds[column.name], number) for column in table.columns}
                    for number in range(1, rows + 1)
                ]
                await connection.execute(form.clause().insert(), values)
    finally:
        await engine.dispose()


async def contents(store: Store) -> dict[str, list[Row]]:
    """Every row of every table, in the order of their keys."""
    async with open_dump(store.database_url, store.data_directory) as dump:
        return {form.full_name: [row async for rows in dump.batches(form) for row in rows] for form in dump.forms}


def _value(column: sa.Column[Any], kind: str, number: int) -> Any:
    """Return the value of a row's column. A row refers to the row with the same number in another table."""
    while column.foreign_keys:
        column = next(iter(column.foreign_keys)).column
    if column.nullable and number % 2:
        return None
    unique = f"{column.table.name}.{column.name} {number} ü 'quoted' \\ \n{{}}"
    match kind:
        case "uuid":
            return uuid5(_NAMESPACE, unique)
        case "integer":
            small = not isinstance(column.type, (sa.BigInteger, tables.Moment)) or column.primary_key
            return number if small else 2**63 - number
        case "number":
            return -number / 3
        case "boolean":
            return number % 2 == 0
        case "bytes":
            return b"\x00\xff" + unique.encode()
        case "json":
            return {"number": number, "list": [None, True, "ü"], "nested": {}}
        case _:
            return unique
