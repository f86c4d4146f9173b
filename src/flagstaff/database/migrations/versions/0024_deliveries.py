"""Positions up to which the history was sent to an analytical database."""

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"

_HISTORY = "history"


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "deliveries",
        sa.Column("sink", sa.Text, nullable=False),
        sa.Column("holder", sa.Text, nullable=False),
        sa.Column("held_until", sa.BigInteger, nullable=False),
        sa.Column("token", sa.Text),
        sa.Column("ends", sa.Text),
        sa.PrimaryKeyConstraint("sink", name="deliveries_primary"),
        schema=_HISTORY,
        sqlite_with_rowid=False,
    )
    op.create_table(
        "delivered",
        sa.Column("environment_id", sa.Uuid, nullable=False),
        sa.Column("position", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("environment_id", name="delivered_primary"),
        schema=_HISTORY,
        sqlite_with_rowid=False,
    )


def losses(connection: sa.Connection) -> list[str]:
    """Return what a downgrade would drop: without the positions, everything is sent again, and stored twice there."""
    delivered = sa.table("delivered", schema=_HISTORY)
    number = connection.execute(sa.select(sa.func.count()).select_from(delivered)).scalar_one()
    return [f"how far the histories of {number} environments were sent to ClickHouse"] if number else []


def downgrade() -> None:
    """Drop them."""
    op.drop_table("delivered", schema=_HISTORY)
    op.drop_table("deliveries", schema=_HISTORY)
