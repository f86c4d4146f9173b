"""The SDK keys, the protocol and the instances by which events came."""

import sqlalchemy as sa
from alembic import op

revision = "0057"
down_revision = "0056"

_HISTORY = "history"


def upgrade() -> None:
    """Add them; those of earlier events are not known."""
    op.add_column("event_segments", sa.Column("origins", sa.LargeBinary), schema=_HISTORY)


def losses(connection: sa.Connection) -> list[str]:
    """Describe what a downgrade would drop."""
    segments = sa.table("event_segments", sa.column("origins", sa.LargeBinary), schema=_HISTORY)
    known = sa.select(sa.func.count()).select_from(segments).where(segments.c.origins.is_not(None))
    count = connection.execute(known).scalar_one()
    return [f"the SDK keys and instances of the events of {count} batches"] if count else []


def downgrade() -> None:
    """Drop them."""
    op.drop_column("event_segments", "origins", schema=_HISTORY)
