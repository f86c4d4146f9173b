"""Segments of a project."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"

_rules = sa.table("rules", sa.column("rule_type"))
_segments = sa.table("project_segments")


def upgrade() -> None:
    """Add the table."""
    op.create_table(
        "project_segments",
        sa.Column("id", sa.Uuid, nullable=False),
        sa.Column("project_id", sa.Uuid, nullable=False),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("description", sa.Text),
        sa.Column("conditions", sa.JSON, nullable=False, server_default="[]"),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("id", name="project_segments_primary"),
        sa.UniqueConstraint("project_id", "key", name="project_segments_project_id_key_unique"),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name="project_segments_project_id_reference", ondelete="CASCADE"
        ),
    )


def losses(connection: sa.Connection) -> list[str]:
    """Return what a downgrade would drop."""
    counted = {
        "segments": sa.select(sa.func.count()).select_from(_segments),
        "rules for segments": sa.select(sa.func.count()).where(_rules.c.rule_type == "segment"),
    }
    found = {what: connection.execute(query).scalar_one() for what, query in counted.items()}
    return [f"{number} {what}" for what, number in found.items() if number]


def downgrade() -> None:
    """Drop the segments and the rules for them; the history keeps what it has recorded with them."""
    op.execute(_rules.delete().where(_rules.c.rule_type == "segment"))
    op.drop_table("project_segments")
