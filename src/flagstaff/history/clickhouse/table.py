"""The tables that receive evaluations and events.

The operator creates them; their columns are checked before anything is sent.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from flagstaff.history.exported_columns import EVALUATIONS, EVENTS, clickhouse_type


class Shape(NamedTuple):
    """The shape of a table: its columns with their types, the time of a row, and the order of rows."""

    columns: Mapping[str, str]
    time: str
    order: str


COLUMNS: Mapping[str, str] = MappingProxyType(
    {
        **{column.name: clickhouse_type(column) for column in EVALUATIONS},
        "flags": "Map(LowCardinality(String), Bool)",
        "flag_ids": "Map(LowCardinality(String), UUID)",
        "reasons": "Map(LowCardinality(String), LowCardinality(String))",
        "variants": "Map(LowCardinality(String), LowCardinality(String))",
        "rules": "Map(LowCardinality(String), UUID)",
    }
)
"""The columns that are sent, with their types. The table may have others with default values."""

EVALUATION_TABLE = Shape(COLUMNS, "evaluated_at", "environment_id, evaluated_at, id")
EVENT_TABLE = Shape(
    MappingProxyType({column.name: clickhouse_type(column) for column in EVENTS}),
    "occurred_at",
    "environment_id, metric, occurred_at, id",
)

WINDOW = 1000
"""The number of blocks that the table remembers, to recognise a repeated one."""


def create_statement(table: str, shape: Shape = EVALUATION_TABLE) -> str:
    """The statement that creates the table, named `database.table`, on one server."""
    columns = ",\n".join(f"    {name} {kind}" for name, kind in shape.columns.items())
    return (
        f"CREATE TABLE {table}\n(\n{columns}\n)\n"
        "ENGINE = MergeTree\n"
        f"PARTITION BY toYYYYMM({shape.time})\n"
        f"ORDER BY ({shape.order})\n"
        f"SETTINGS non_replicated_deduplication_window = {WINDOW};\n"
    )


def objections(columns: Mapping[str, str], engine: str, definition: str, *, shape: Shape) -> list[str]:
    """Return the problems of a table, given its columns with their types, its engine and its CREATE TABLE.

    A table that does not recognise repeated blocks would count records twice after a failure.
    """
    missing = [f"{name} {kind}" for name, kind in shape.columns.items() if name not in columns]
    others = [
        f"{name} is {columns[name]} and must be {kind}"
        for name, kind in shape.columns.items()
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
