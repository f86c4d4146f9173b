"""The instances that serve from the database, with their leases."""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"
# The versions before this one do not start on a database that a newer version has migrated.
oldest_supported = "0022"


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "instances",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("address", sa.Text, nullable=False),
        sa.Column("version", sa.Text, nullable=False),
        sa.Column("started_at", sa.BigInteger, nullable=False),
        sa.Column("renewals", sa.BigInteger, nullable=False),
        sa.Column("is_leaving", sa.Boolean, nullable=False),
        sa.Column("expires_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("id", name="instances_primary"),
    )


def downgrade() -> None:
    """Drop it."""
    op.drop_table("instances")
