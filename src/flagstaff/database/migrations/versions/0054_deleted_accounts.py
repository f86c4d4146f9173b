"""The accounts that were deleted, and whose address the audit trail has yet to forget."""

import sqlalchemy as sa
from alembic import op

revision = "0054"
down_revision = "0053"

_TABLE = "deleted_accounts"


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        _TABLE,
        sa.Column("id", sa.Uuid, nullable=False),
        sa.Column("sealed", sa.LargeBinary, nullable=False),
        sa.Column("examined", sa.BigInteger, nullable=False),
        sa.Column("until", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )


def losses(connection: sa.Connection) -> list[str]:
    """Describe what a downgrade would drop."""
    count = connection.execute(sa.select(sa.func.count()).select_from(sa.table(_TABLE))).scalar_one()
    return [f"that the trail has yet to forget {count} deleted accounts: it keeps their addresses"] if count else []


def downgrade() -> None:
    """Drop the table."""
    op.drop_table(_TABLE)
