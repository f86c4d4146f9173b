"""The result of flags when no rule matches, the attribute of their buckets, and names for people."""

import msgspec
import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"

_HISTORY = "history"
_NEWEST_OUTCOME = 6  # that earlier revisions know

_flags = sa.table("flags", *map(sa.column, ("fallthrough", "bucketing_key", "stickiness")), sa.column("tags", sa.Text))
_rules = sa.table("rules", sa.column("name"))
_layouts = sa.table("layouts", sa.column("id"), sa.column("version"), schema=_HISTORY)
_segments = sa.table("segments", sa.column("layout_id"), sa.column("size"), schema=_HISTORY)
_summaries = sa.table("summaries", sa.column("layout_id"), schema=_HISTORY)
_flag_counts = sa.table(
    "flag_counts", *map(sa.column, ("environment", "span", "start", "flag_key", "version", "counts")), schema=_HISTORY
)
_newer_layouts = sa.select(_layouts.c.id).where(_layouts.c.version > 1)


def upgrade() -> None:
    """Add the columns, with defaults that mean what flags and rules meant before."""
    op.add_column("flags", sa.Column("fallthrough", sa.Text, nullable=False, server_default="rollout"))
    op.add_column("flags", sa.Column("bucketing_key", sa.Text))
    op.add_column("flags", sa.Column("stickiness", sa.Text, nullable=False, server_default="default"))
    op.add_column("flags", sa.Column("tags", sa.JSON, nullable=False, server_default="[]"))
    op.add_column("rules", sa.Column("name", sa.Text))


def losses(connection: sa.Connection) -> list[str]:
    """Return what a downgrade would drop."""
    counted = {
        "flags with a fallthrough, a bucketing key, a stickiness or tags": sa.select(sa.func.count()).where(
            sa.or_(
                _flags.c.fallthrough != "rollout",
                _flags.c.bucketing_key.is_not(None),
                _flags.c.stickiness != "default",
                sa.cast(_flags.c.tags, sa.Text) != "[]",
            )
        ),
        "rules with a name": sa.select(sa.func.count()).where(_rules.c.name.is_not(None)),
        "recorded evaluations with a fallthrough": sa.select(sa.func.coalesce(sa.func.sum(_segments.c.size), 0)).where(
            _segments.c.layout_id.in_(_newer_layouts)
        ),
    }
    found = {what: connection.execute(query).scalar_one() for what, query in counted.items()}
    return [f"{number} {what}" for what, number in found.items() if number]


def downgrade() -> None:
    """Drop the columns, and what the history has recorded with outcomes that earlier revisions do not know."""
    for table in (_segments, _summaries):
        op.execute(table.delete().where(table.c.layout_id.in_(_newer_layouts)))
    op.execute(_layouts.delete().where(_layouts.c.version > 1))
    _drop_newer_counts(op.get_bind())
    op.drop_column("rules", "name")
    for name in ("tags", "stickiness", "bucketing_key", "fallthrough"):
        op.drop_column("flags", name)


def _drop_newer_counts(connection: sa.Connection) -> None:
    columns = _flag_counts.c
    key = (columns.environment, columns.span, columns.start, columns.flag_key)
    for *place, content in connection.execute(sa.select(*key, columns.counts).where(columns.version > 1)).all():
        row = sa.tuple_(*key) == tuple(place)
        kept = [each for each in msgspec.msgpack.decode(content, strict=False) if each[0] <= _NEWEST_OUTCOME]
        if kept:
            values = {"version": 1, "counts": msgspec.msgpack.encode(kept)}
            connection.execute(_flag_counts.update().where(row).values(values))
        else:
            connection.execute(_flag_counts.delete().where(row))
