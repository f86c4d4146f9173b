"""Erasures of users, the users whose late records are not stored, and zeros in place of freed pages."""

import sqlalchemy as sa
from alembic import op

revision = "0049"
down_revision = "0048"

_HISTORY = "history"
_erasures = sa.table("erasures", sa.column("finished_at", sa.BigInteger), schema=_HISTORY)


def upgrade() -> None:
    """Add the tables."""
    op.create_table(
        "erasures",
        sa.Column("id", sa.Uuid, nullable=False),
        sa.Column("project_id", sa.Uuid, nullable=False),
        sa.Column("digests", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("sealed", sa.LargeBinary),
        sa.Column("until", sa.BigInteger, nullable=False),
        sa.Column("requested_at", sa.BigInteger, nullable=False),
        sa.Column("finished_at", sa.BigInteger),
        sa.Column("stage", sa.Text, nullable=False),
        sa.Column("problem", sa.Text),
        sa.Column("evaluations", sa.BigInteger, nullable=False),
        sa.Column("events", sa.BigInteger, nullable=False),
        sa.Column("release_users", sa.BigInteger, nullable=False),
        sa.Column("holder", sa.Text, nullable=False),
        sa.Column("held_until", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("id", name="erasures_primary"),
        schema=_HISTORY,
        sqlite_with_rowid=False,
    )
    op.create_index("erasures_project_id_index", "erasures", ["project_id"], schema=_HISTORY)
    op.create_table(
        "erased_users",
        sa.Column("environment", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("digest", sa.LargeBinary, nullable=False),
        sa.Column("until", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("environment", "digest", name="erased_users_primary"),
        schema=_HISTORY,
        sqlite_with_rowid=False,
    )
    op.create_table(
        "freed_pages",
        sa.Column("id", sa.Integer, nullable=False, autoincrement=True),
        sa.Column("zeros", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("id", name="freed_pages_primary"),
        schema=_HISTORY,
    )


def losses(connection: sa.Connection) -> list[str]:
    """Return what a downgrade would drop."""
    count = connection.execute(sa.select(sa.func.count()).select_from(_erasures)).scalar_one()
    return [f"{count} erasures of users, whose records that still wait on a disk are stored then"] if count else []


def downgrade() -> None:
    """Drop the tables."""
    for table in ("freed_pages", "erased_users", "erasures"):
        op.drop_table(table, schema=_HISTORY)
