"""The order of a project's environments."""

import sqlalchemy as sa
from alembic import op

revision = "0035"
down_revision = "0034"


def upgrade() -> None:
    """Add the column. All environments share the last place, in which they are ordered by age, as before."""
    op.add_column("environments", sa.Column("position", sa.Integer, nullable=False, server_default="2147483647"))


def downgrade() -> None:
    """Drop it."""
    op.drop_column("environments", "position")
