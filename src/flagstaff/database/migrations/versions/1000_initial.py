"""All tables of 1.0. The statements are in a file for each database beside this one, and never change again."""

from alembic import op

from flagstaff.database import initial_schema

revision = "1000"
down_revision = None
oldest_supported = "1000"

losses = initial_schema.losses


def upgrade() -> None:
    """Create them."""
    initial_schema.run_statements(op.get_bind(), revision)


def downgrade() -> None:
    """Drop them."""
    initial_schema.drop_tables(op.get_bind())
