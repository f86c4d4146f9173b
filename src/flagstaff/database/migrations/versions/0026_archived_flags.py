"""Archived flags, and which entry of the audit trail a change restores."""

import sqlalchemy as sa
from alembic import op

revision = "0026"
down_revision = "0025"

_flags = sa.table("flags", sa.column("archived_at"), sa.column("enabled", sa.Boolean))


def upgrade() -> None:
    """Add the columns, into which releases before write nothing."""
    op.add_column("flags", sa.Column("archived_at", sa.BigInteger))
    op.add_column("flags", sa.Column("archived_enabled", sa.Boolean))
    op.add_column("changes", sa.Column("restores", sa.BigInteger))


def losses(connection: sa.Connection) -> list[str]:
    """Return what a downgrade would drop."""
    is_archived = sa.and_(_flags.c.archived_at.is_not(None), _flags.c.enabled.is_(False))
    query = sa.select(sa.func.count()).select_from(_flags).where(is_archived)
    archived = connection.execute(query).scalar_one()
    return [f"the marks of {archived} archived flags and the states that they had"] if archived else []


def downgrade() -> None:
    """Drop them. Archived flags become flags that are off."""
    op.drop_column("changes", "restores")
    for name in ("archived_enabled", "archived_at"):
        op.drop_column("flags", name)
