"""The operations that make several changes, which the audit trail shows as one entry."""

import sqlalchemy as sa
from alembic import op

revision = "0034"
down_revision = "0033"

_changes = sa.table("changes", sa.column("batch", sa.Text))


def upgrade() -> None:
    """Add a column, into which releases before write nothing."""
    op.add_column("changes", sa.Column("batch", sa.JSON(none_as_null=True)))


def losses(connection: sa.Connection) -> list[str]:
    """Return what a downgrade would drop."""
    with_batch = sa.select(sa.func.count()).select_from(_changes).where(_changes.c.batch.is_not(None))
    count = connection.execute(with_batch).scalar_one()
    return [f"which of {count} changes were made together"] if count else []


def downgrade() -> None:
    """Drop it."""
    op.drop_column("changes", "batch")
