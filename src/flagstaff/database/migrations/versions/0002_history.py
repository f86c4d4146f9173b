"""The evaluation history, in a separate schema; with SQLite that is a second file."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

_HISTORY = "history"


def upgrade() -> None:
    """Create the history's tables."""
    if op.get_bind().dialect.name == "postgresql":
        op.execute(sa.schema.CreateSchema(_HISTORY))
    _create_layouts()
    _create_segments()
    _create_summaries()


def downgrade() -> None:
    """Drop them."""
    for table in ("summaries", "batches", "segments", "layouts", "recorded_environments"):
        op.drop_table(table, schema=_HISTORY)
    if op.get_bind().dialect.name == "postgresql":
        op.execute(sa.schema.DropSchema(_HISTORY))


def _create_layouts() -> None:
    op.create_table(
        "recorded_environments",
        sa.Column("number", sa.Integer, autoincrement=True, nullable=False),
        sa.Column("environment_id", sa.Uuid, nullable=False),
        sa.PrimaryKeyConstraint("number", name="recorded_environments_primary"),
        sa.UniqueConstraint("environment_id", name="recorded_environments_environment_id_unique"),
        schema=_HISTORY,
        sqlite_autoincrement=True,
    )
    op.create_table(
        "layouts",
        sa.Column("id", sa.Integer, autoincrement=True, nullable=False),
        sa.Column("environment", sa.Integer, nullable=False),
        sa.Column("digest", sa.LargeBinary, nullable=False),
        sa.Column("content", sa.LargeBinary, nullable=False),
        sa.Column("last_used_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("id", name="layouts_primary"),
        sa.UniqueConstraint("environment", "digest", name="layouts_environment_digest_unique"),
        schema=_HISTORY,
        sqlite_autoincrement=True,
    )


def _create_segments() -> None:
    op.create_table(
        "segments",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer, "sqlite"), autoincrement=True, nullable=False),
        sa.Column("environment", sa.Integer, nullable=False),
        sa.Column("layout_id", sa.Integer, nullable=False),
        sa.Column("first_time", sa.BigInteger, nullable=False),
        sa.Column("last_time", sa.BigInteger, nullable=False),
        sa.Column("size", sa.Integer, nullable=False),
        sa.Column("user_hashes", sa.LargeBinary, nullable=False),
        sa.Column("email_hashes", sa.LargeBinary, nullable=False),
        sa.Column("content", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("id", name="segments_primary"),
        schema=_HISTORY,
        sqlite_autoincrement=True,
    )
    op.create_index(
        "segments_environment_last_time_id_index", "segments", ["environment", "last_time", "id"], schema=_HISTORY
    )
    op.create_table(
        "batches",
        sa.Column("id", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("id", name="batches_primary"),
        schema=_HISTORY,
        sqlite_with_rowid=False,
    )


def _create_summaries() -> None:
    op.create_table(
        "summaries",
        sa.Column("environment", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("minute", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("layout_id", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("evaluations", sa.BigInteger, nullable=False),
        sa.Column("counts", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("environment", "minute", "layout_id", name="summaries_primary"),
        schema=_HISTORY,
        sqlite_with_rowid=False,
    )
