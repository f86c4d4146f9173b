"""Conditions and percentages of rules."""

import msgspec
import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"

_HISTORY = "history"
_NEWEST_LAYOUT, _NEWEST_COUNTS, _NEWEST_OUTCOME = 2, 2, 7  # that earlier revisions know

_rules = sa.table("rules", sa.column("rule_type"), sa.column("rollout_percentage"), sa.column("conditions", sa.Text))
_layouts = sa.table("layouts", sa.column("id"), sa.column("version"), schema=_HISTORY)
_segments = sa.table("segments", sa.column("layout_id"), sa.column("size"), schema=_HISTORY)
_summaries = sa.table("summaries", sa.column("layout_id"), schema=_HISTORY)
_flag_counts = sa.table(
    "flag_counts", *map(sa.column, ("environment", "span", "start", "flag_key", "version", "counts")), schema=_HISTORY
)
_newer_layouts = sa.select(_layouts.c.id).where(_layouts.c.version > _NEWEST_LAYOUT)
_newer_rules = sa.or_(
    _rules.c.rule_type == "attributes",
    _rules.c.rollout_percentage != 100,
    sa.cast(_rules.c.conditions, sa.Text) != "[]",
)


def upgrade() -> None:
    """Add the columns, with defaults that mean what rules meant before."""
    op.add_column("rules", sa.Column("conditions", sa.JSON, nullable=False, server_default="[]"))
    op.add_column("rules", sa.Column("rollout_percentage", sa.SmallInteger, nullable=False, server_default="100"))


def losses(connection: sa.Connection) -> list[str]:
    """Return what a downgrade would drop."""
    counted = {
        "rules with conditions or a percentage": sa.select(sa.func.count()).where(_newer_rules),
        "recorded evaluations with such rules": sa.select(sa.func.coalesce(sa.func.sum(_segments.c.size), 0)).where(
            _segments.c.layout_id.in_(_newer_layouts)
        ),
    }
    found = {what: connection.execute(query).scalar_one() for what, query in counted.items()}
    return [f"{number} {what}" for what, number in found.items() if number]


def downgrade() -> None:
    """Drop rules that would match more users without their conditions, and what the history has recorded with them."""
    op.execute(_rules.delete().where(_newer_rules))
    for table in (_segments, _summaries):
        op.execute(table.delete().where(table.c.layout_id.in_(_newer_layouts)))
    op.execute(_layouts.delete().where(_layouts.c.version > _NEWEST_LAYOUT))
    _drop_newer_counts(op.get_bind())
    op.drop_column("rules", "rollout_percentage")
    op.drop_column("rules", "conditions")


def _drop_newer_counts(connection: sa.Connection) -> None:
    columns = _flag_counts.c
    key = (columns.environment, columns.span, columns.start, columns.flag_key)
    newer = sa.select(*key, columns.counts).where(columns.version > _NEWEST_COUNTS)
    for *place, content in connection.execute(newer).all():
        row = sa.tuple_(*key) == tuple(place)
        kept = [each for each in msgspec.msgpack.decode(content, strict=False) if each[0] <= _NEWEST_OUTCOME]
        if kept:
            values = {"version": _NEWEST_COUNTS, "counts": msgspec.msgpack.encode(kept)}
            connection.execute(_flag_counts.update().where(row).values(values))
        else:
            connection.execute(_flag_counts.delete().where(row))
