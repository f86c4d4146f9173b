"""Charts of the evaluation history that are pinned to a project's home."""

import sqlalchemy as sa
from alembic import op

revision = "0037"
down_revision = "0036"

_charts = sa.table("pinned_charts")


def upgrade() -> None:
    """Add the table."""
    op.create_table(
        "pinned_charts",
        sa.Column("id", sa.Uuid, nullable=False),
        sa.Column("project_id", sa.Uuid, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("environment_id", sa.Uuid, nullable=False),
        sa.Column("flag_id", sa.Uuid),
        sa.Column("period", sa.Text, nullable=False),
        sa.Column("split", sa.Text, nullable=False),
        sa.Column("scale", sa.Text, nullable=False),
        sa.Column("compare_before", sa.Boolean, nullable=False),
        sa.Column("compare_environment_id", sa.Uuid),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pinned_charts_primary"),
        _reference("project_id", "projects", "CASCADE"),
        _reference("environment_id", "environments", "CASCADE"),
        _reference("flag_id", "flags", "CASCADE"),
        _reference("compare_environment_id", "environments", "SET NULL"),
    )
    for column in ("project_id", "environment_id", "flag_id", "compare_environment_id"):
        op.create_index(f"pinned_charts_{column}_index", "pinned_charts", [column])


def _reference(column: str, to: str, ondelete: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint([column], [f"{to}.id"], name=f"pinned_charts_{column}_reference", ondelete=ondelete)


def losses(connection: sa.Connection) -> list[str]:
    """Return what a downgrade would drop."""
    number = connection.execute(sa.select(sa.func.count()).select_from(_charts)).scalar_one()
    return [f"{number} pinned charts"] if number else []


def downgrade() -> None:
    """Drop it."""
    op.drop_table("pinned_charts")
