"""Applications that evaluate flags themselves: their instances, and what they report."""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"

_HISTORY = "history"


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "connections",
        sa.Column("environment_id", sa.Uuid, nullable=False),
        sa.Column("application", sa.Text, nullable=False),
        sa.Column("identity", sa.Text, nullable=False),
        sa.Column("instance", sa.Text, nullable=False),
        sa.Column("sdk", sa.Text, nullable=False),
        sa.Column("interval_milliseconds", sa.BigInteger),
        sa.Column("revision", sa.BigInteger, nullable=False),
        sa.Column("seen_at", sa.BigInteger, nullable=False),
        sa.Column("streams", sa.Boolean, nullable=False),
        sa.PrimaryKeyConstraint("environment_id", "application", "identity", name="connections_primary"),
        schema=_HISTORY,
        sqlite_with_rowid=False,
    )
    op.create_index("connections_seen_at_index", "connections", ["seen_at"], schema=_HISTORY)
    op.create_table(
        "reported_counts",
        sa.Column("environment_id", sa.Uuid, nullable=False),
        sa.Column("hour", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("flag_key", sa.Text, nullable=False),
        sa.Column("application", sa.Text, nullable=False),
        sa.Column("sdk", sa.Text, nullable=False),
        sa.Column("result", sa.Text, nullable=False),
        sa.Column("count", sa.BigInteger, nullable=False),
        sa.Column("reported_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint(
            "environment_id", "hour", "flag_key", "application", "sdk", "result", name="reported_counts_primary"
        ),
        schema=_HISTORY,
        sqlite_with_rowid=False,
    )
    op.create_table(
        "reported_windows",
        sa.Column("window", sa.LargeBinary, nullable=False),
        sa.Column("reported_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("window", name="reported_windows_primary"),
        schema=_HISTORY,
        sqlite_with_rowid=False,
    )
    op.create_index("reported_windows_reported_at_index", "reported_windows", ["reported_at"], schema=_HISTORY)


def losses(connection: sa.Connection) -> list[str]:
    """Return what a downgrade would drop: counts are stored nowhere else, and connections come again by themselves."""
    counts = sa.table("reported_counts", schema=_HISTORY)
    number = connection.execute(sa.select(sa.func.count()).select_from(counts)).scalar_one()
    return [f"{number} counts that applications reported"] if number else []


def downgrade() -> None:
    """Drop them."""
    for table in ("reported_windows", "reported_counts", "connections"):
        op.drop_table(table, schema=_HISTORY)
