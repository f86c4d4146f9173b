"""What is counted for releases, by step: in tables of their own, so that releases before go on with theirs."""

import sqlalchemy as sa
from alembic import op

revision = "0048"
down_revision = "0047"

_HISTORY = "history"
_counted = sa.table("counted_releases", schema=_HISTORY)


def upgrade() -> None:
    """Add the tables. What belongs to open releases is counted again from the history, in the background."""
    op.create_table(
        "counted_releases",
        sa.Column("number", sa.Integer, nullable=False, autoincrement=True),
        sa.Column("release_id", sa.Uuid, nullable=False),
        sa.Column("environment_id", sa.Uuid, nullable=False),
        sa.Column("version", sa.BigInteger, nullable=False),
        sa.Column("holder", sa.Text, nullable=False),
        sa.Column("held_until", sa.BigInteger, nullable=False),
        sa.Column("content", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("number", name="counted_releases_primary"),
        sa.UniqueConstraint("release_id", name="counted_releases_release_id_unique"),
        schema=_HISTORY,
        sqlite_autoincrement=True,
    )
    _create(
        "step_exposures",
        sa.Column("release", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("unit", sa.Text, nullable=False),
        sa.Column("step", sa.SmallInteger, nullable=False, autoincrement=False),
        sa.Column("arm", sa.SmallInteger, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("release", "unit", "step", name="step_exposures_primary"),
    )
    _create(
        "step_events",
        sa.Column("release", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("metric", sa.SmallInteger, nullable=False, autoincrement=False),
        sa.Column("unit", sa.Text, nullable=False),
        sa.Column("step", sa.SmallInteger, nullable=False, autoincrement=False),
        sa.Column("events", sa.Integer, nullable=False),
        sa.Column("total", sa.Float, nullable=False),
        sa.Column("limits", sa.SmallInteger, nullable=False),
        sa.PrimaryKeyConstraint("release", "metric", "unit", "step", name="step_events_primary"),
    )


def _create(name: str, *columns: sa.schema.SchemaItem) -> None:
    op.create_table(name, *columns, schema=_HISTORY, sqlite_with_rowid=False)


def losses(connection: sa.Connection) -> list[str]:
    """Describe what a downgrade would drop."""
    count = connection.execute(sa.select(sa.func.count()).select_from(_counted)).scalar_one()
    return [f"the counts of {count} releases, which the release before counts again from the history"] if count else []


def downgrade() -> None:
    """Drop them."""
    for name in ("step_events", "step_exposures", "counted_releases"):
        op.drop_table(name, schema=_HISTORY)
