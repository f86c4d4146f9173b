"""What happens to a release whose users are not split as its steps ask."""

import sqlalchemy as sa
from alembic import op

revision = "0051"
down_revision = "0050"


def upgrade() -> None:
    """Add the column: the release pauses."""
    op.add_column("releases", sa.Column("split_action", sa.Text, nullable=False, server_default="pause"))


def downgrade() -> None:
    """Drop it: the release before then only warns."""
    op.drop_column("releases", "split_action")
