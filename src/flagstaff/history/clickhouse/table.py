"""The table that receives evaluations. The operator creates it; its columns are checked before anything is sent."""

from collections.abc import Mapping
from types import MappingProxyType

COLUMNS: Mapping[str, str] = MappingProxyType(
    {
        "id": "UUID",
        "project_id": "UUID",
        "environment_id": "UUID",
        "environment": "LowCardinality(String)",
        "evaluated_at": "DateTime64(6, 'UTC')",
        "user_id": "Nullable(String)",
        "user_email": "Nullable(String)",
        "attributes": "String",
        "flags": "Map(LowCardinality(String), Bool)",
        "reasons": "Map(LowCardinality(String), LowCardinality(String))",
        "variants": "Map(LowCardinality(String), LowCardinality(String))",
        "rules": "Map(LowCardinality(String), UUID)",
    }
)
"""The columns that are sent, with their types. The table may have others with default values."""

WINDOW = 1000
"""The number of blocks that the table remembers, to recognise a repeated one."""


def create_statement(table: str) -> str:
    """The statement that creates the table, named `database.table`, on one server."""
    columns = ",\n".join(f"    {name} {kind}" for name, kind in COLUMNS.items())
    return (
        f"CREATE TABLE {table}\n(\n{columns}\n)\n"
        "ENGINE = MergeTree\n"
        "PARTITION BY toYYYYMM(evaluated_at)\n"
        "ORDER BY (environment_id, evaluated_at, id)\n"
        f"SETTINGS non_replicated_deduplication_window = {WINDOW};\n"
    )


def objections(columns: Mapping[str, str], engine: str, definition: str) -> list[str]:
    """Return the problems of a table, given its columns with their types, its engine and its CREATE TABLE.

    A table that does not recognise repeated blocks would count evaluations twice after a failure.
    """
    missing = [f"{name} {kind}" for name, kind in COLUMNS.items() if name not in columns]
    others = [
        f"{name} is {columns[name]} and must be {kind}"
        for name, kind in COLUMNS.items()
        if name in columns and columns[name] != kind
    ]
    found = [f"it lacks the columns {', '.join(missing)}"] if missing else []
    found += others
    if "MergeTree" not in engine:
        found.append(f"its engine is {engine}, which does not recognise repeated blocks")
    elif not engine.startswith(("Replicated", "Shared")) and not _remembers(definition):
        found.append("it does not have the setting non_replicated_deduplication_window, so blocks may be stored twice")
    return found


def _remembers(definition: str) -> bool:
    _, _, value = definition.partition("non_replicated_deduplication_window = ")
    digits = value[: len(value) - len(value.lstrip("0123456789"))]
    return bool(digits) and int(digits) > 0
