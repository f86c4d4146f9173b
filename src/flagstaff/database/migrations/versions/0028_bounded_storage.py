"""Bounds on what clients make the database store: responses to repeated requests, and reported counts."""

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision = "0027"

_HISTORY = "history"
_dropped = sa.table("dropped_reports", sa.column("counts", sa.BigInteger), schema=_HISTORY)


def upgrade() -> None:
    """Add columns, into which releases before write nothing, and a table."""
    op.add_column("idempotency_keys", sa.Column("outcome", sa.Text))
    op.add_column("idempotency_keys", sa.Column("checks", sa.JSON(none_as_null=True)))
    op.create_index("idempotency_keys_project_id_outcome_index", "idempotency_keys", ["project_id", "outcome"])
    op.create_table(
        "dropped_reports",
        sa.Column("environment_id", sa.Uuid, nullable=False),
        sa.Column("hour", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("counts", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("environment_id", "hour", name="dropped_reports_primary"),
        schema=_HISTORY,
        sqlite_with_rowid=False,
    )


def losses(connection: sa.Connection) -> list[str]:
    """Return what a downgrade would drop."""
    dropped = connection.execute(sa.select(sa.func.coalesce(sa.func.sum(_dropped.c.counts), 0))).scalar_one()
    return [f"how many reported counts were dropped at the bound ({dropped})"] if dropped else []


def downgrade() -> None:
    """Drop them."""
    op.drop_table("dropped_reports", schema=_HISTORY)
    op.drop_index("idempotency_keys_project_id_outcome_index", "idempotency_keys")
    for name in ("checks", "outcome"):
        op.drop_column("idempotency_keys", name)
