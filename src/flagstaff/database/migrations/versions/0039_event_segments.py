"""Events of metrics in segments of many: a row for each event took ten times the time and five times the space."""

import sqlalchemy as sa
from alembic import op

revision = "0039"
down_revision = "0038"

_HISTORY = "history"
_BIG = sa.BigInteger().with_variant(sa.Integer, "sqlite")
_events = sa.table("events", sa.column("id", sa.BigInteger), schema=_HISTORY)
_segments = sa.table("event_segments", sa.column("size", sa.BigInteger), schema=_HISTORY)


def upgrade() -> None:
    """Add the table, and empty the one before, whose events were counted when they arrived.

    Ids go on after those of the events, because releases remember up to which id they have counted.
    """
    op.create_table(
        "event_segments",
        sa.Column("id", _BIG, nullable=False, autoincrement=True),
        sa.Column("environment", sa.Integer, nullable=False),
        sa.Column("number", sa.BigInteger, nullable=False),
        sa.Column("size", sa.Integer, nullable=False),
        sa.Column("last_at", sa.BigInteger, nullable=False),
        sa.Column("version", sa.SmallInteger, nullable=False, server_default="1"),
        sa.Column("content", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("id", name="event_segments_primary"),
        schema=_HISTORY,
        sqlite_autoincrement=True,
    )
    for column in ("id", "last_at"):
        name = f"event_segments_environment_{column}_index"
        op.create_index(name, "event_segments", ["environment", column], schema=_HISTORY)
    connection = op.get_bind()
    last = connection.execute(sa.select(sa.func.max(_events.c.id))).scalar()
    if last is not None:
        _number_from(connection, last)
        op.execute(sa.delete(_events))


def _number_from(connection: sa.Connection, last: int) -> None:
    if connection.dialect.name == "postgresql":
        sequence = sa.text("SELECT setval(pg_get_serial_sequence('history.event_segments', 'id'), :last)")
    else:
        sequence = sa.text("INSERT INTO history.sqlite_sequence (name, seq) VALUES ('event_segments', :last)")
    connection.execute(sequence, {"last": last})


def losses(connection: sa.Connection) -> list[str]:
    """Return what a downgrade would drop."""
    count = connection.execute(sa.select(sa.func.sum(_segments.c.size))).scalar()
    return [f"{count} events of metrics"] if count else []


def downgrade() -> None:
    """Drop the table."""
    op.drop_table("event_segments", schema=_HISTORY)
