"""Variants and prerequisites of flags."""

import msgspec
import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"

_HISTORY = "history"
_NEWEST_LAYOUT, _NEWEST_COUNTS = 3, 3  # that earlier revisions know
_NEWEST_OUTCOME = 9

_flags = sa.table("flags", sa.column("variants", sa.Text), sa.column("prerequisites", sa.Text))
_layouts = sa.table("layouts", sa.column("id"), sa.column("version"), schema=_HISTORY)
_segments = sa.table("segments", sa.column("layout_id"), sa.column("size"), schema=_HISTORY)
_summaries = sa.table("summaries", sa.column("layout_id"), schema=_HISTORY)
_flag_counts = sa.table(
    "flag_counts", *map(sa.column, ("environment", "span", "start", "flag_key", "version", "counts")), schema=_HISTORY
)
_newer_layouts = sa.select(_layouts.c.id).where(_layouts.c.version > _NEWEST_LAYOUT)


def upgrade() -> None:
    """Add the columns, with defaults that mean what flags and rules meant before."""
    op.add_column("flags", sa.Column("variants", sa.JSON, nullable=False, server_default="[]"))
    op.add_column("flags", sa.Column("prerequisites", sa.JSON, nullable=False, server_default="[]"))
    op.add_column("rules", sa.Column("variant", sa.Text))


def losses(connection: sa.Connection) -> list[str]:
    """Return what a downgrade would drop."""
    counted = {
        "flags with variants or prerequisites": sa.select(sa.func.count()).where(
            sa.or_(
                sa.cast(_flags.c.variants, sa.Text) != "[]",
                sa.cast(_flags.c.prerequisites, sa.Text) != "[]",
            )
        ),
        "recorded evaluations with such flags": sa.select(sa.func.coalesce(sa.func.sum(_segments.c.size), 0)).where(
            _segments.c.layout_id.in_(_newer_layouts)
        ),
    }
    found = {what: connection.execute(query).scalar_one() for what, query in counted.items()}
    return [f"{number} {what}" for what, number in found.items() if number]


def downgrade() -> None:
    """Drop the columns, and what the history has recorded of such flags."""
    for table in (_segments, _summaries):
        op.execute(table.delete().where(table.c.layout_id.in_(_newer_layouts)))
    op.execute(_layouts.delete().where(_layouts.c.version > _NEWEST_LAYOUT))
    _drop_newer_counts(op.get_bind())
    op.drop_column("rules", "variant")
    for name in ("prerequisites", "variants"):
        op.drop_column("flags", name)


def _drop_newer_counts(connection: sa.Connection) -> None:
    columns = _flag_counts.c
    key = (columns.environment, columns.span, columns.start, columns.flag_key)
    newer = sa.select(*key, columns.counts).where(columns.version > _NEWEST_COUNTS)
    for *place, content in connection.execute(newer).all():
        row = sa.tuple_(*key) == tuple(place)
        kept = [each[:3] for each in msgspec.msgpack.decode(content, strict=False) if each[0] <= _NEWEST_OUTCOME]
        if kept:
            values = {"version": _NEWEST_COUNTS, "counts": msgspec.msgpack.encode(kept)}
            connection.execute(_flag_counts.update().where(row).values(values))
        else:
            connection.execute(_flag_counts.delete().where(row))
