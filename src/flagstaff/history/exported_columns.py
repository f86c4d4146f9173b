"""The columns of exported evaluations and events in every form, for the writers and the page in the documentation.

The forms: JSON lines, Parquet, SQL on PostgreSQL, and ClickHouse.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """The kind of a column's values."""

    ID = "id"
    TEXT = "text"
    MOMENT = "moment"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    OBJECT = "object"


@dataclass(frozen=True, slots=True)
class Column:
    """A column. `is_frequent` says that its values are few, which ClickHouse stores in less space."""

    name: str
    kind: Kind
    content: str
    nullable: bool = False
    is_frequent: bool = False


_UNKNOWN = "; null if it is not known"

_PLACE = (
    Column("project_id", Kind.ID, "the project"),
    Column("environment_id", Kind.ID, "the environment"),
    Column("environment", Kind.TEXT, "the environment's key", is_frequent=True),
)
_KEY = (
    Column("key_id", Kind.ID, "the SDK key of the environment; null for the project's own key", nullable=True),
    Column("key_name", Kind.TEXT, "the name of that key now; null if it was revoked", nullable=True, is_frequent=True),
)
EVALUATIONS: Sequence[Column] = (
    *_PLACE,
    Column("id", Kind.ID, "the evaluation's id, as in the API; in the order of time"),
    Column("evaluated_at", Kind.MOMENT, "when it was evaluated, to the microsecond"),
    Column("user_id", Kind.TEXT, "the context's `user_id`", nullable=True),
    Column("user_email", Kind.TEXT, "the context's `user_email`", nullable=True),
    Column("attributes", Kind.OBJECT, "the stored custom attributes; null if none could be stored", nullable=True),
    Column("revision", Kind.INTEGER, f"the revision of the environment's flags{_UNKNOWN}", nullable=True),
    *_KEY,
    Column(
        "protocol",
        Kind.TEXT,
        f"`evaluate`, `ofrep` or `unleash_frontend`{_UNKNOWN}",
        nullable=True,
        is_frequent=True,
    ),
    Column(
        "instance",
        Kind.TEXT,
        f"the name of the instance that answered{_UNKNOWN}",
        nullable=True,
        is_frequent=True,
    ),
)
FLAGS: Sequence[Column] = (
    Column("id", Kind.ID, "the flag's id, which a flag made again under the same key does not have"),
    Column("key", Kind.TEXT, "the flag's key"),
    Column("enabled", Kind.BOOLEAN, "whether it was on"),
    Column("reason", Kind.TEXT, "why, as in the response"),
    Column("rule_id", Kind.ID, "the rule that matched, of flags that record it", nullable=True),
    Column("bucket", Kind.INTEGER, "the user's bucket, 0 to 99, of flags that record it", nullable=True),
    Column("variant", Kind.TEXT, "the key of the user's variant", nullable=True),
)
"""The fields of each of an evaluation's `flags`."""

EVENTS: Sequence[Column] = (
    *_PLACE,
    Column("id", Kind.ID, "the event's id here; not that which the application gave it"),
    Column("metric", Kind.TEXT, "the metric's key", is_frequent=True),
    Column("occurred_at", Kind.MOMENT, "when it happened, to the microsecond"),
    Column(
        "identifier",
        Kind.TEXT,
        "the user: the event's `user_id`, or else its `user_email` in lower case; empty if the user was erased",
    ),
    Column(
        "attribute",
        Kind.TEXT,
        "null; with flags that are sticky by an attribute, an event has another row with its name, and its value above",
        nullable=True,
        is_frequent=True,
    ),
    Column(
        "key_kind",
        Kind.TEXT,
        f"the kind of the SDK key with which it was sent, `server` or `browser`{_UNKNOWN}",
        nullable=True,
        is_frequent=True,
    ),
    *_KEY,
    Column("protocol", Kind.TEXT, f"`events`{_UNKNOWN}", nullable=True, is_frequent=True),
    Column(
        "instance",
        Kind.TEXT,
        f"the name of the instance that accepted it{_UNKNOWN}",
        nullable=True,
        is_frequent=True,
    ),
    Column("value", Kind.NUMBER, "the value, of metrics that have values", nullable=True),
)

_JSON = {
    Kind.ID: "string",
    Kind.TEXT: "string",
    Kind.MOMENT: "string, RFC 3339 in UTC",
    Kind.INTEGER: "number",
    Kind.NUMBER: "number",
    Kind.BOOLEAN: "boolean",
    Kind.OBJECT: "object",
}
_PARQUET = {
    Kind.ID: "string",
    Kind.TEXT: "string",
    Kind.MOMENT: "timestamp[us, UTC]",
    Kind.INTEGER: "int64",
    Kind.NUMBER: "double",
    Kind.BOOLEAN: "bool",
    Kind.OBJECT: "string with JSON",
}
_SQL = {
    Kind.ID: "uuid",
    Kind.TEXT: "text",
    Kind.MOMENT: "timestamptz",
    Kind.INTEGER: "bigint",
    Kind.NUMBER: "double precision",
}
_CLICKHOUSE = {
    Kind.ID: "UUID",
    Kind.TEXT: "String",
    Kind.MOMENT: "DateTime64(6, 'UTC')",
    Kind.INTEGER: "Int64",
    Kind.NUMBER: "Float64",
    Kind.BOOLEAN: "Bool",
}


def json_type(column: Column) -> str:
    """The type of a column in JSON lines."""
    return _or_null(column, _JSON[column.kind])


def parquet_type(column: Column) -> str:
    """The type of a column in Parquet."""
    return _or_null(column, _PARQUET[column.kind])


def sql_type(column: Column) -> str:
    """The type of a column in PostgreSQL; empty if SQL cannot read it."""
    return _SQL.get(column.kind, "")


def clickhouse_type(column: Column) -> str:
    """The type of a column in ClickHouse. There, an object is JSON in a text, which is empty for null."""
    if column.kind is Kind.OBJECT:
        return "String"
    name = _CLICKHOUSE[column.kind]
    if column.nullable:
        name = f"Nullable({name})"
    return f"LowCardinality({name})" if column.is_frequent else name


def _or_null(column: Column, name: str) -> str:
    return f"{name}, or null" if column.nullable else name
