"""An index by which a list of flags is read in parts: without it, each part read and sorted the whole environment."""

from alembic import op

revision = "0033"
down_revision = "0032"

_NAME = "flags_environment_id_created_at_id_index"


def upgrade() -> None:
    """Add the index."""
    op.create_index(_NAME, "flags", ["environment_id", "created_at", "id"])


def downgrade() -> None:
    """Drop it."""
    op.drop_index(_NAME, "flags")
