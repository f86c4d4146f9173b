"""Since when a release cannot be watched, as people were told."""

import sqlalchemy as sa
from alembic import op

revision = "0053"
down_revision = "0052"


def upgrade() -> None:
    """Add the time, which no release has yet."""
    op.add_column("releases", sa.Column("unwatched_since", sa.BigInteger))


def downgrade() -> None:
    """Drop the time."""
    op.drop_column("releases", "unwatched_since")
