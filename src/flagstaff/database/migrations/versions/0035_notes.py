"""Notes of flags."""

import sqlalchemy as sa
from alembic import op

revision = "0035"
down_revision = "0034"


def upgrade() -> None:
    """Add a column, into which releases before write nothing."""
    op.add_column("flags", sa.Column("note", sa.Text))


def losses(connection: sa.Connection) -> list[str]:  # noqa: ARG001
    """What a downgrade would drop."""
    return ["notes of flags"]


def downgrade() -> None:
    """Drop it."""
    op.drop_column("flags", "note")
