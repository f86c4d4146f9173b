"""Request metrics that applications report, and thresholds of releases on them."""

import sqlalchemy as sa
from alembic import op

revision = "0032"
down_revision = "0031"

_HISTORY = "history"
_series, _releases = sa.table("request_series", schema=_HISTORY), sa.table("releases", sa.column("thresholds", sa.Text))


def upgrade() -> None:
    """Add tables and a column, into which releases before write nothing."""
    op.add_column("releases", sa.Column("thresholds", sa.JSON(none_as_null=True), nullable=False, server_default="[]"))
    op.create_table(
        "request_series",
        sa.Column("id", sa.Integer, nullable=False, autoincrement=True),
        sa.Column("environment_id", sa.Uuid, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("labels", sa.Text, nullable=False),
        sa.Column("help", sa.Text, nullable=False),
        sa.Column("seen_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("id", name="request_series_primary"),
        sa.UniqueConstraint(
            "environment_id", "name", "kind", "labels", name="request_series_environment_id_name_kind_labels_unique"
        ),
        schema=_HISTORY,
        sqlite_autoincrement=True,
    )
    op.create_table(
        "request_samples",
        sa.Column("series", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("minute", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("bound", sa.Text, nullable=False),
        sa.Column("amount", sa.Float, nullable=False),
        sa.Column("times", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("series", "minute", "bound", name="request_samples_primary"),
        schema=_HISTORY,
        sqlite_with_rowid=False,
    )
    op.create_index("request_samples_minute_index", "request_samples", ["minute"], schema=_HISTORY)


def losses(connection: sa.Connection) -> list[str]:
    """Return what a downgrade would drop."""
    series = connection.execute(sa.select(sa.func.count()).select_from(_series)).scalar_one()
    with_thresholds = sa.cast(_releases.c.thresholds, sa.Text) != "[]"
    releases = connection.execute(sa.select(sa.func.count()).select_from(_releases).where(with_thresholds)).scalar_one()
    found = ((series, "series of request metrics"), (releases, "releases' thresholds"))
    return [f"{count} {of}" for count, of in found if count]


def downgrade() -> None:
    """Drop them."""
    for name in ("request_samples", "request_series"):
        op.drop_table(name, schema=_HISTORY)
    op.drop_column("releases", "thresholds")
