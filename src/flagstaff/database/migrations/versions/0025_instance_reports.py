"""Reports of instances about themselves, in their rows."""

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"


def upgrade() -> None:
    """Add the column, into which releases before write nothing."""
    op.add_column("instances", sa.Column("report", sa.Text))


def downgrade() -> None:
    """Drop it."""
    with op.batch_alter_table("instances") as table:
        table.drop_column("report")
