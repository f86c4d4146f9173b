"""How many changes in the audit trail an erasure has rewritten."""

import sqlalchemy as sa
from alembic import op

revision = "0055"
down_revision = "0054"

_HISTORY = "history"


def upgrade() -> None:
    """Add the number; earlier erasures have rewritten none."""
    op.add_column("erasures", sa.Column("changes", sa.BigInteger, nullable=False, server_default="0"), schema=_HISTORY)


def losses(connection: sa.Connection) -> list[str]:
    """Describe what a downgrade would drop."""
    erasures = sa.table("erasures", sa.column("changes", sa.BigInteger), schema=_HISTORY)
    rewritten = sa.select(sa.func.count()).select_from(erasures).where(erasures.c.changes > 0)
    count = connection.execute(rewritten).scalar_one()
    return [f"how many changes {count} erasures have rewritten in audit trails"] if count else []


def downgrade() -> None:
    """Drop the number."""
    op.drop_column("erasures", "changes", schema=_HISTORY)
