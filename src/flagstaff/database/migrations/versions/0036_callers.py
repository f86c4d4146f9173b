"""Callers, which ask for flags, and the SDK keys that replace others."""

import sqlalchemy as sa
from alembic import op

revision = "0036"
down_revision = "0035"

_HISTORY = "history"
_callers = sa.table("callers", schema=_HISTORY)
_keys = sa.table("sdk_keys", sa.column("replaces_id", sa.Uuid))


def upgrade() -> None:
    """Add tables and a column, into which releases before write nothing."""
    op.add_column("sdk_keys", sa.Column("replaces_id", sa.Uuid))
    op.create_table(
        "callers",
        sa.Column("id", sa.BigInteger, nullable=False, autoincrement=False),
        sa.Column("environment_id", sa.Uuid, nullable=False),
        sa.Column("key_id", sa.Uuid, nullable=False),
        sa.Column("protocol", sa.Text, nullable=False),
        sa.Column("user_agent", sa.Text, nullable=False),
        sa.Column("network", sa.Text, nullable=False),
        sa.Column("first_at", sa.BigInteger, nullable=False),
        sa.Column("last_at", sa.BigInteger, nullable=False),
        sa.Column("slot", sa.Integer, nullable=False),
        sa.Column("in_slot", sa.BigInteger, nullable=False),
        sa.Column("before_slot", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("id", name="callers_primary"),
        schema=_HISTORY,
        sqlite_with_rowid=False,
    )
    for column in ("environment_id", "last_at"):
        op.create_index(f"callers_{column}_index", "callers", [column], schema=_HISTORY)
    op.create_table(
        "caller_hours",
        sa.Column("caller", sa.BigInteger, nullable=False, autoincrement=False),
        sa.Column("hour", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("requests", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("caller", "hour", name="caller_hours_primary"),
        schema=_HISTORY,
        sqlite_with_rowid=False,
    )
    op.create_index("caller_hours_hour_index", "caller_hours", ["hour"], schema=_HISTORY)


def losses(connection: sa.Connection) -> list[str]:
    """Return what a downgrade would drop."""
    callers = connection.execute(sa.select(sa.func.count()).select_from(_callers)).scalar_one()
    of_keys = sa.select(sa.func.count()).select_from(_keys).where(_keys.c.replaces_id.is_not(None))
    replacements = connection.execute(of_keys).scalar_one()
    found = ((callers, "callers"), (replacements, "replacements of SDK keys"))
    return [f"{count} {of}" for count, of in found if count]


def downgrade() -> None:
    """Drop them."""
    for name in ("caller_hours", "callers"):
        op.drop_table(name, schema=_HISTORY)
    op.drop_column("sdk_keys", "replaces_id")
