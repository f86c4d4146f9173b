"""Attributes in the evaluation history."""

from collections.abc import Iterator
from typing import Any
from zlib import compress, decompress

import msgspec
import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"

_HISTORY = "history"
_NEWEST_LAYOUT, _NEWEST_SEGMENT = 4, 1  # that earlier revisions know
_COLUMNS = 4  # of a segment of version 1
_NEWEST_OUTCOMES = {1: 6, 2: 7}  # by version of a layout without rules or variants
_ROWS_AT_ONCE = 50

_layouts = sa.table("layouts", *map(sa.column, ("id", "version", "content")), schema=_HISTORY)
_segments = sa.table("segments", *map(sa.column, ("id", "version", "size", "content")), schema=_HISTORY)
_with_attributes = _segments.c.version > _NEWEST_SEGMENT


def upgrade() -> None:
    """Change nothing: the columns have room for the new versions of layouts and segments."""


def losses(connection: sa.Connection) -> list[str]:
    """Return what a downgrade would drop."""
    counted = sa.select(sa.func.coalesce(sa.func.sum(_segments.c.size), 0)).where(_with_attributes)
    number = connection.execute(counted).scalar_one()
    return [f"the attributes of {number} recorded evaluations"] if number else []


def downgrade() -> None:
    """Write every segment and layout in an earlier version, without attributes."""
    connection = op.get_bind()
    for row_id, content in _rows(connection, _segments, _NEWEST_SEGMENT):
        columns = msgspec.msgpack.decode(content, type=list[msgspec.Raw])[:_COLUMNS]
        values = {"version": _NEWEST_SEGMENT, "content": msgspec.msgpack.encode(columns)}
        connection.execute(_segments.update().where(_segments.c.id == row_id).values(values))
    for row_id, content in _rows(connection, _layouts, _NEWEST_LAYOUT):
        layout = msgspec.msgpack.decode(decompress(content))
        del layout["attributes"]
        values = {"version": _version_of(layout), "content": compress(msgspec.msgpack.encode(layout))}
        connection.execute(_layouts.update().where(_layouts.c.id == row_id).values(values))


def _rows(connection: sa.Connection, table: sa.TableClause, newest: int) -> Iterator[tuple[int, bytes]]:
    """The rows of newer versions, a few at a time, because they may not fit into memory."""
    query = sa.select(table.c.id, table.c.content).where(table.c.version > newest).order_by(table.c.id)
    last = 0
    while rows := connection.execute(query.where(table.c.id > last).limit(_ROWS_AT_ONCE)).all():
        for last, content in rows:
            yield last, content


def _version_of(layout: dict[str, Any]) -> int:
    """The lowest version that can hold a layout."""
    flags = layout["recorded"] + layout["constant"]
    deciders = [decider for flag in flags for decider in flag.get("deciders", ())]
    if any(flag.get("variants") for flag in flags) or any(decider["prerequisite"] for decider in deciders):
        return 4
    if deciders:
        return 3
    newest = max((flag["default"] for flag in flags), default=0)
    return next(version for version, outcome in _NEWEST_OUTCOMES.items() if newest <= outcome)
