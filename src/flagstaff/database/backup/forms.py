"""The portable form of tables and rows, the same for SQLite and PostgreSQL and readable without Flagstaff.

A row is a JSON object: UUIDs are text, bytes are base64, and times are integers, as the database keeps them. A table's
form names its columns, so that rows of an older revision can be loaded before they are migrated.
"""

from collections.abc import AsyncIterator, Callable
from typing import Any, Literal, Protocol
from uuid import UUID

import msgspec
import sqlalchemy as sa

from flagstaff.database import tables

Kind = Literal["uuid", "integer", "boolean", "number", "text", "bytes", "json"]
Row = dict[str, Any]
Progress = Callable[[str, int], None]  # called with a table's full name and the number of further rows done

# Some hundred segments, the largest rows, are a few megabytes.
BATCH_ROWS = 100

_SQL_TYPES: dict[Kind, type[sa.types.TypeEngine[Any]] | sa.types.TypeEngine[Any]] = {
    "uuid": sa.Uuid,
    "integer": sa.BigInteger,
    "boolean": sa.Boolean,
    "number": sa.Float,
    "text": sa.Text,
    "bytes": sa.LargeBinary,
    "json": sa.JSON(none_as_null=True),
}
_PYTHON_TYPES: dict[Kind, Any] = {
    "uuid": UUID | None,
    "integer": int | None,
    "boolean": bool | None,
    "number": float | None,
    "text": str | None,
    "bytes": bytes | None,
    "json": Any,
}


class Column(msgspec.Struct, frozen=True):
    """A column and how its values are written."""

    name: str
    kind: Kind


class TableForm(msgspec.Struct, frozen=True):
    """A table as a backup describes it."""

    schema: str | None
    name: str
    key: list[str]
    columns: list[Column]

    @property
    def full_name(self) -> str:
        """The name with its schema, such as `history.segments`."""
        return f"{self.schema}.{self.name}" if self.schema else self.name

    @property
    def number(self) -> str | None:
        """The column that numbers the rows, if the key is a single number."""
        kinds = {each.name: each.kind for each in self.columns}
        return self.key[0] if [kinds[name] for name in self.key] == ["integer"] else None

    def clause(self) -> sa.TableClause:
        """The table for statements, with the types that both databases share."""
        columns = [sa.column(each.name, _SQL_TYPES[each.kind]) for each in self.columns]
        return sa.table(self.name, *columns, schema=self.schema)

    def decoder(self) -> Callable[[bytes], Row]:
        """The decoder from a line to a row; it raises msgspec.MsgspecError for anything else."""
        fields = [(f"f{place}", _PYTHON_TYPES[each.kind]) for place, each in enumerate(self.columns)]
        names = {field: each.name for (field, _), each in zip(fields, self.columns, strict=True)}
        decoder = msgspec.json.Decoder(msgspec.defstruct("Line", fields, rename=names, forbid_unknown_fields=True))

        def decode(line: bytes) -> Row:
            values = decoder.decode(line)
            return {name: getattr(values, field) for field, name in names.items()}

        return decode


class Source(Protocol):
    """A source of rows: a database or a backup, in one consistent state."""

    revision: str
    forms: list[TableForm]  # parents before their children
    rows: dict[str, int]  # by full name
    counters: dict[str, int]  # the last number assigned, for tables that number their rows

    def batches(self, form: TableForm) -> AsyncIterator[list[Row]]:
        """A table's rows, some at a time."""


def newest_forms(metadata: sa.MetaData = tables.metadata) -> list[TableForm]:
    """Every table of this version whose rows outlive the processes, parents before their children.

    Raises:
        TypeError: when a column has a type that a backup cannot hold.
    """
    return [
        TableForm(
            schema=str(table.schema) if table.schema else None,  # SQLAlchemy's names are more than text
            name=str(table.name),
            key=[str(column.name) for column in table.primary_key],
            columns=[Column(str(column.name), _kind(column.type)) for column in table.columns],
        )
        for table in metadata.sorted_tables
        if not table.info.get("transient")
    ]


def _kind(type_: sa.types.TypeEngine[Any]) -> Kind:
    match type_:
        case sa.Uuid():
            return "uuid"
        case sa.Boolean():
            return "boolean"
        case sa.Float():
            return "number"
        case sa.Integer() | tables.Moment():
            return "integer"
        case sa.Text():
            return "text"
        case sa.LargeBinary():
            return "bytes"
        case sa.JSON():
            return "json"
        case _:
            raise TypeError(f"backups cannot hold columns of the type {type_!r}; add it to database/backup/forms.py")
