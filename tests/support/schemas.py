"""A database's schema, and changes in a newer one that would break a version that was written for it."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from flagstaff.database import dialect
from flagstaff.database.sqlite.files import CONFIGURATION_FILE, HISTORY_FILE
from tests.support.stores import Store

_LARGE = {"changes"}  # and the history
_WITHOUT_ON_CONFLICT = {"history.segments"}  # no release names a conflict on them; each partition has the key
_HISTORY = "history"


@dataclass(frozen=True)
class Column:
    """A column; `is_filled` says whether a row that does not name it gets a value."""

    type: str
    nullable: bool
    is_filled: bool


@dataclass(frozen=True)
class Table:
    """A table by the names of its columns, with its constraints and indexes in words."""

    columns: dict[str, Column]
    keys: frozenset[str]  # primary and unique: ON CONFLICT names their columns
    conditions: frozenset[str]  # foreign keys and checks
    indexes: frozenset[str]


Schema = dict[str, Table]


async def run_on(store: Store, function: Callable[[sa.Connection], Any]) -> Any:
    """Return the result of a function for a migration's connection, which is committed afterwards."""
    files = store.data_directory / CONFIGURATION_FILE, store.data_directory / HISTORY_FILE
    engine = dialect.migrating_engine(store.database_url, *files)
    try:
        async with engine.begin() as connection:
            return await connection.run_sync(function)
    finally:
        await engine.dispose()


def read_schema(connection: sa.Connection) -> Schema:
    """Return all tables of both schemas except Alembic's, by their full names."""
    inspector = sa.inspect(connection)
    found = {}
    for schema in (None, _HISTORY):
        if schema is None or schema in inspector.get_schema_names():
            for name in inspector.get_table_names(schema):
                found[f"{schema}.{name}" if schema else name] = _read_table(inspector, name, schema)
    found.pop("alembic_version", None)
    return found


def find_contractions(before: Schema, after: Schema) -> Iterator[str]:
    """Yield what the previous version can no longer do, in words. Tables that it does not know are ignored."""
    for name, table in before.items():
        if name not in after:
            yield f"{name} is missing"
            continue
        now = after[name]
        for key, column in table.columns.items():
            yield from _find_in_column(f"{name}.{key}", column, now.columns.get(key))
        for key in now.columns.keys() - table.columns.keys():
            if not now.columns[key].nullable and not now.columns[key].is_filled:
                yield f"{name}.{key} is new, NOT NULL, and has no server default"
        if name not in _WITHOUT_ON_CONFLICT:
            yield from (f"{name} has lost its {key}: ON CONFLICT may need it" for key in sorted(table.keys - now.keys))
        added = (now.keys - table.keys) | (now.conditions - table.conditions)
        yield from (f"{name} has a new {each}, which rows may violate" for each in sorted(added))
        if name in _LARGE or name.startswith(_HISTORY):
            built = now.indexes - table.indexes
            yield from (f"{name} is large and has a new {each}, which blocks writes" for each in sorted(built))


def _find_in_column(name: str, column: Column, now: Column | None) -> Iterator[str]:
    if now is None:
        yield f"{name} is missing"
        return
    if now.type != column.type:
        yield f"{name} is {now.type} instead of {column.type}"
    if column.nullable and not now.nullable:
        yield f"{name} has become NOT NULL"
    if column.is_filled and not now.is_filled:
        yield f"{name} has no server default any more"


def _read_table(inspector: sa.Inspector, name: str, schema: str | None) -> Table:
    primary = inspector.get_pk_constraint(name, schema)["constrained_columns"]
    # SQLite numbers a single whole-number key itself.
    columns = {
        each["name"]: Column(
            str(each["type"]),
            each["nullable"],
            each["default"] is not None or "identity" in each or "computed" in each or [each["name"]] == primary,
        )
        for each in inspector.get_columns(name, schema)
    }
    indexes = inspector.get_indexes(name, schema)
    unique: list[Sequence[str | None]] = [
        each["column_names"] for each in inspector.get_unique_constraints(name, schema)
    ]
    unique += [each["column_names"] for each in indexes if each["unique"]]
    keys = {f"unique key ({_listed(each)})" for each in unique}
    if primary:
        keys.add(f"primary key ({_listed(primary)})")
    parents = {
        f"foreign key ({_listed(each['constrained_columns'])}) to {each['referred_table']}"
        for each in inspector.get_foreign_keys(name, schema)
    }
    checks = {f"check {each['sqltext']}" for each in inspector.get_check_constraints(name, schema)}
    plain = {f"index ({_listed(each['column_names'])})" for each in indexes if not each["unique"]}
    return Table(columns, frozenset(keys), frozenset(parents | checks), frozenset(plain))


def _listed(names: Iterable[str | None]) -> str:
    return ", ".join(each or "…" for each in names)
