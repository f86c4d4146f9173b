"""Distinct users by day."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"

_HISTORY = "history"
_INDEX = "segments_environment_id_index"


def upgrade() -> None:
    """Create the tables. The server counts the users of the recorded evaluations later, a few at a time."""
    # With a constant default neither database rewrites the rows.
    op.add_column(
        "recorded_environments",
        sa.Column("counted_segment", sa.BigInteger, nullable=False, server_default="0"),
        schema=_HISTORY,
    )
    op.create_index(_INDEX, "segments", ["environment", "id"], schema=_HISTORY)
    _create_users("environment_users", [], ["users", "flags"])
    _create_users("flag_users", [sa.Column("flag_key", sa.Text, nullable=False)], ["on_users", "off_users"])


def downgrade() -> None:
    """Drop them. Nothing is lost: the next upgrade counts the same evaluations again."""
    op.drop_table("flag_users", schema=_HISTORY)
    op.drop_table("environment_users", schema=_HISTORY)
    op.drop_index(_INDEX, "segments", schema=_HISTORY)
    op.drop_column("recorded_environments", "counted_segment", schema=_HISTORY)


def _create_users(table: str, names: list[sa.Column[str]], sketches: list[str]) -> None:
    op.create_table(
        table,
        sa.Column("environment", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("day", sa.Integer, autoincrement=False, nullable=False),
        *names,
        sa.Column("version", sa.SmallInteger, nullable=False),
        *(sa.Column(name, sa.LargeBinary, nullable=False) for name in sketches),
        sa.PrimaryKeyConstraint("environment", "day", *(column.name for column in names), name=f"{table}_primary"),
        schema=_HISTORY,
        sqlite_with_rowid=False,
    )
