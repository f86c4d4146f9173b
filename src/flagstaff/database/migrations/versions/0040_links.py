"""Links of projects."""

import sqlalchemy as sa
from alembic import op

revision = "0040"
down_revision = "0039"


def upgrade() -> None:
    """Add the table."""
    op.create_table(
        "links",
        sa.Column("id", sa.Uuid, nullable=False),
        sa.Column("project_id", sa.Uuid, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("address", sa.Text, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("id", name="links_primary"),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="links_project_id_reference", ondelete="CASCADE"),
    )
    op.create_index("links_project_id_index", "links", ["project_id"])


def downgrade() -> None:
    """Drop it."""
    op.drop_table("links")
