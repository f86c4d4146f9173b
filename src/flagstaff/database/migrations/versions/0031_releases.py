"""Metrics, events, and releases that are watched."""

import sqlalchemy as sa
from alembic import op

revision = "0031"
down_revision = "0030"

_HISTORY = "history"
_BIG = sa.BigInteger().with_variant(sa.Integer, "sqlite")
_metrics, _releases = sa.table("metrics"), sa.table("releases")
_events = sa.table("events", schema=_HISTORY)


def upgrade() -> None:
    """Add tables and a column, into which releases before write nothing."""
    op.add_column("changes", sa.Column("release", sa.JSON(none_as_null=True)))
    op.add_column("notification_settings", sa.Column("releases", sa.Boolean))
    op.create_table(
        "metrics",
        sa.Column("id", sa.Uuid, nullable=False),
        sa.Column("project_id", sa.Uuid, nullable=False),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("description", sa.Text),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("better", sa.Text, nullable=False),
        sa.Column("unit", sa.Text),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("id", name="metrics_primary"),
        _reference("metrics", "project_id", "projects.id"),
        sa.UniqueConstraint("project_id", "key", name="metrics_project_id_key_unique"),
    )
    op.create_table(
        "releases",
        sa.Column("id", sa.Uuid, nullable=False),
        sa.Column("project_id", sa.Uuid, nullable=False),
        sa.Column("environment_id", sa.Uuid, nullable=False),
        sa.Column("flag_id", sa.Uuid, nullable=False),
        sa.Column("name", sa.Text),
        _json_list("steps"),
        _json_list("guards"),
        sa.Column("false_alarm_rate", sa.Float, nullable=False),
        sa.Column("when_late", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("reason", sa.Text),
        sa.Column("author_id", sa.Uuid),
        sa.Column("author_email", sa.Text),
        _json_list("applied"),
        _json_list("alarms"),
        sa.Column("counts_from", sa.BigInteger),
        sa.Column("due_at", sa.BigInteger),
        sa.Column("paused_at", sa.BigInteger),
        sa.Column("ended_at", sa.BigInteger),
        sa.Column("mark", sa.BigInteger, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("id", name="releases_primary"),
        _reference("releases", "project_id", "projects.id"),
        _reference("releases", "environment_id", "environments.id"),
        _reference("releases", "flag_id", "flags.id"),
    )
    for columns in (["project_id"], ["environment_id"], ["flag_id", "created_at"], ["state", "due_at"]):
        op.create_index(f"releases_{'_'.join(columns)}_index", "releases", columns)
    _add_history()


def _add_history() -> None:
    op.create_table(
        "events",
        sa.Column("id", _BIG, nullable=False, autoincrement=True),
        sa.Column("environment", sa.Integer, nullable=False),
        sa.Column("metric", sa.Text, nullable=False),
        sa.Column("unit", sa.Text, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("value", sa.Float),
        sa.PrimaryKeyConstraint("id", name="events_primary"),
        schema=_HISTORY,
        sqlite_autoincrement=True,
    )
    for column in ("id", "unit"):
        op.create_index(f"events_environment_{column}_index", "events", ["environment", column], schema=_HISTORY)
    _create(
        "event_ids",
        sa.Column("environment", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("digest", sa.Text, nullable=False),
        sa.Column("day", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("environment", "digest", name="event_ids_primary"),
    )
    op.create_index("event_ids_day_index", "event_ids", ["day"], schema=_HISTORY)
    _create(
        "unknown_metrics",
        sa.Column("environment_id", sa.Uuid, nullable=False),
        sa.Column("metric", sa.Text, nullable=False),
        sa.Column("events", sa.BigInteger, nullable=False),
        sa.Column("last_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("environment_id", "metric", name="unknown_metrics_primary"),
    )
    op.create_table(
        "observed_releases",
        sa.Column("number", sa.Integer, nullable=False, autoincrement=True),
        sa.Column("release_id", sa.Uuid, nullable=False),
        sa.Column("environment_id", sa.Uuid, nullable=False),
        sa.Column("version", sa.BigInteger, nullable=False),
        sa.Column("holder", sa.Text, nullable=False),
        sa.Column("held_until", sa.BigInteger, nullable=False),
        sa.Column("content", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("number", name="observed_releases_primary"),
        sa.UniqueConstraint("release_id", name="observed_releases_release_id_unique"),
        schema=_HISTORY,
        sqlite_autoincrement=True,
    )
    _create(
        "exposures",
        sa.Column("release", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("unit", sa.Text, nullable=False),
        sa.Column("first_step", sa.SmallInteger, nullable=False),
        sa.Column("step", sa.SmallInteger, nullable=False),
        sa.Column("arm", sa.SmallInteger, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("release", "unit", name="exposures_primary"),
    )
    _create(
        "user_events",
        sa.Column("release", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("metric", sa.SmallInteger, nullable=False, autoincrement=False),
        sa.Column("unit", sa.Text, nullable=False),
        sa.Column("step", sa.SmallInteger, nullable=False),
        sa.Column("arm", sa.SmallInteger, nullable=False),
        sa.Column("events", sa.Integer, nullable=False),
        sa.Column("total", sa.Float, nullable=False),
        sa.PrimaryKeyConstraint("release", "metric", "unit", name="user_events_primary"),
    )


def _create(name: str, *columns: sa.schema.SchemaItem) -> None:
    op.create_table(name, *columns, schema=_HISTORY, sqlite_with_rowid=False)


def _json_list(name: str) -> sa.Column[object]:
    return sa.Column(name, sa.JSON(none_as_null=True), nullable=False, server_default="[]")


def _reference(table: str, column: str, target: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint([column], [target], f"{table}_{column}_reference", ondelete="CASCADE")


def losses(connection: sa.Connection) -> list[str]:
    """Return what a downgrade would drop."""
    counted = ((_metrics, "metrics"), (_releases, "releases"), (_events, "events of metrics"))
    found = [
        (connection.execute(sa.select(sa.func.count()).select_from(table)).scalar_one(), of) for table, of in counted
    ]
    return [f"{count} {of}" for count, of in found if count]


def downgrade() -> None:
    """Drop them."""
    for name in ("user_events", "exposures", "observed_releases", "unknown_metrics", "event_ids", "events"):
        op.drop_table(name, schema=_HISTORY)
    op.drop_table("releases")
    op.drop_table("metrics")
    op.drop_column("notification_settings", "releases")
    op.drop_column("changes", "release")
