"""Notices of the server, and mails to members about changes."""

import sqlalchemy as sa
from alembic import op

revision = "0030"
down_revision = "0029"

_BIG = sa.BigInteger().with_variant(sa.Integer, "sqlite")
_settings = sa.table("notification_settings")
_deliveries = sa.table("webhook_deliveries", sa.column("notice"))
_TABLES = (
    "stale_reminders",
    "notification_mails",
    "notification_positions",
    "notifications",
    "notification_settings",
    "environment_looks",
    "noticed_instances",
    "noticed_flags",
    "notices",
)


def upgrade() -> None:
    """Add tables and a column, into which releases before write nothing."""
    op.add_column("webhook_deliveries", sa.Column("notice", sa.BigInteger))
    op.create_table(
        "notices",
        sa.Column("number", _BIG, nullable=False, autoincrement=True),
        sa.Column("type", sa.Text, nullable=False),
        sa.Column("project_id", sa.Uuid),
        sa.Column("environment_id", sa.Uuid),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("details", sa.JSON(none_as_null=True), nullable=False),
        sa.PrimaryKeyConstraint("number", name="notices_primary"),
        _reference("notices", "project_id", "projects.id"),
        _reference("notices", "environment_id", "environments.id"),
        sqlite_autoincrement=True,
    )
    for column in ("project_id", "environment_id", "at"):
        op.create_index(f"notices_{column}_index", "notices", [column])
    op.create_table(
        "noticed_flags",
        sa.Column("environment_id", sa.Uuid, nullable=False),
        sa.Column("type", sa.Text, nullable=False),
        sa.Column("flag_key", sa.Text, nullable=False),
        sa.Column("since", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("environment_id", "type", "flag_key", name="noticed_flags_primary"),
        _reference("noticed_flags", "environment_id", "environments.id"),
    )
    op.create_table(
        "noticed_instances",
        sa.Column("type", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("since", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("type", "name", name="noticed_instances_primary"),
    )
    op.create_table(
        "environment_looks",
        sa.Column("environment_id", sa.Uuid, nullable=False),
        sa.Column("stale_at", sa.BigInteger),
        sa.Column("missing_at", sa.BigInteger),
        sa.PrimaryKeyConstraint("environment_id", name="environment_looks_primary"),
        _reference("environment_looks", "environment_id", "environments.id"),
    )
    _add_notifications()


def _add_notifications() -> None:
    op.create_table(
        "notification_settings",
        *_of_member("notification_settings"),
        sa.Column("critical", sa.Boolean),
        sa.Column("owned", sa.Boolean),
        sa.Column("stale", sa.Boolean),
        sa.Column("webhooks", sa.Boolean),
        sa.PrimaryKeyConstraint("project_id", "account_id", name="notification_settings_primary"),
    )
    op.create_table(
        "notifications",
        sa.Column("id", _BIG, nullable=False, autoincrement=True),
        *_of_member("notifications"),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("change", sa.BigInteger, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("held_until", sa.BigInteger),
        sa.PrimaryKeyConstraint("id", name="notifications_primary"),
    )
    op.create_index("notifications_account_id_project_id_id_index", "notifications", ["account_id", "project_id", "id"])
    op.create_index("notifications_project_id_account_id_index", "notifications", ["project_id", "account_id"])
    op.create_table(
        "notification_positions",
        sa.Column("project_id", sa.Uuid, nullable=False),
        sa.Column("change", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("project_id", name="notification_positions_primary"),
        _reference("notification_positions", "project_id", "projects.id"),
    )
    op.create_table(
        "notification_mails",
        sa.Column("id", sa.Uuid, nullable=False),
        sa.Column("account_id", sa.Uuid, nullable=False),
        sa.Column("sent_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("id", name="notification_mails_primary"),
        _reference("notification_mails", "account_id", "accounts.id"),
    )
    op.create_index("notification_mails_sent_at_index", "notification_mails", ["sent_at"])
    op.create_index("notification_mails_account_id_sent_at_index", "notification_mails", ["account_id", "sent_at"])
    op.create_table(
        "stale_reminders",
        *_of_member("stale_reminders"),
        sa.Column("sent_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("project_id", "account_id", name="stale_reminders_primary"),
    )


def _reference(table: str, column: str, target: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint([column], [target], f"{table}_{column}_reference", ondelete="CASCADE")


def _of_member(table: str) -> tuple[sa.Column[object], sa.Column[object], sa.ForeignKeyConstraint]:
    return (
        sa.Column("project_id", sa.Uuid, nullable=False),
        sa.Column("account_id", sa.Uuid, nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id", "account_id"],
            ["members.project_id", "members.account_id"],
            f"{table}_project_id_reference",
            ondelete="CASCADE",
        ),
    )


def losses(connection: sa.Connection) -> list[str]:
    """Return what a downgrade would drop."""
    count = connection.execute(sa.select(sa.func.count()).select_from(_settings)).scalar_one()
    return [f"the settings of {count} members for mails about their projects"] if count else []


def downgrade() -> None:
    """Drop them, and the messages about notices, which would be sent as tests."""
    op.execute(sa.delete(_deliveries).where(_deliveries.c.notice.is_not(None)))
    for name in _TABLES:
        op.drop_table(name)
    op.drop_column("webhook_deliveries", "notice")
