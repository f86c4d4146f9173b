"""Webhooks, the messages to them, and the attempts at these."""

import sqlalchemy as sa
from alembic import op

revision = "0029"
down_revision = "0028"

_BIG = sa.BigInteger().with_variant(sa.Integer, "sqlite")
_webhooks = sa.table("webhooks")


def upgrade() -> None:
    """Add tables, into which releases before write nothing."""
    op.create_table(
        "webhooks",
        sa.Column("id", sa.Uuid, nullable=False),
        sa.Column("project_id", sa.Uuid),
        sa.Column("url", sa.Text, nullable=False),
        sa.Column("events", sa.JSON(none_as_null=True), nullable=False, server_default="[]"),
        sa.Column("environments", sa.JSON(none_as_null=True)),
        sa.Column("tags", sa.JSON(none_as_null=True)),
        sa.Column("format", sa.Text, nullable=False),
        sa.Column("description", sa.Text),
        sa.Column("enabled", sa.Boolean, nullable=False),
        sa.Column("disabled_reason", sa.Text),
        sa.Column("secret", sa.LargeBinary, nullable=False),
        sa.Column("previous_secret", sa.LargeBinary),
        sa.Column("previous_secret_until", sa.BigInteger),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
        sa.Column("holder", sa.Text),
        sa.Column("held_until", sa.BigInteger),
        sa.Column("dropped", sa.BigInteger, nullable=False, server_default="0"),
        sa.Column("told_dropped", sa.BigInteger, nullable=False, server_default="0"),
        sa.PrimaryKeyConstraint("id", name="webhooks_primary"),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], "webhooks_project_id_reference", ondelete="CASCADE"),
    )
    op.create_index("webhooks_project_id_index", "webhooks", ["project_id"])
    op.create_table(
        "webhook_deliveries",
        sa.Column("number", _BIG, nullable=False, autoincrement=True),
        sa.Column("webhook_id", sa.Uuid, nullable=False),
        sa.Column("project_id", sa.Uuid),
        sa.Column("first_change", sa.BigInteger),
        sa.Column("last_change", sa.BigInteger),
        sa.Column("type", sa.Text),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("attempts", sa.SmallInteger, nullable=False, server_default="0"),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("revision", sa.BigInteger),
        sa.Column("next_attempt_at", sa.BigInteger),
        sa.PrimaryKeyConstraint("number", name="webhook_deliveries_primary"),
        sa.ForeignKeyConstraint(
            ["webhook_id"], ["webhooks.id"], "webhook_deliveries_webhook_id_reference", ondelete="CASCADE"
        ),
        sqlite_autoincrement=True,
    )
    op.create_index("webhook_deliveries_created_at_index", "webhook_deliveries", ["created_at"])
    op.create_index(
        "webhook_deliveries_webhook_id_state_number_index", "webhook_deliveries", ["webhook_id", "state", "number"]
    )
    op.create_index(
        "webhook_deliveries_state_next_attempt_at_index", "webhook_deliveries", ["state", "next_attempt_at"]
    )
    op.create_table(
        "webhook_attempts",
        sa.Column("id", _BIG, nullable=False, autoincrement=True),
        sa.Column("delivery", _BIG, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("milliseconds", sa.Integer, nullable=False),
        sa.Column("status", sa.SmallInteger),
        sa.Column("error", sa.Text),
        sa.Column("answer", sa.Text),
        sa.PrimaryKeyConstraint("id", name="webhook_attempts_primary"),
        sa.ForeignKeyConstraint(
            ["delivery"], ["webhook_deliveries.number"], "webhook_attempts_delivery_reference", ondelete="CASCADE"
        ),
    )
    op.create_index("webhook_attempts_delivery_index", "webhook_attempts", ["delivery"])


def losses(connection: sa.Connection) -> list[str]:
    """Return what a downgrade would drop."""
    count = connection.execute(sa.select(sa.func.count()).select_from(_webhooks)).scalar_one()
    return [f"{count} webhooks, with their secrets and deliveries"] if count else []


def downgrade() -> None:
    """Drop them."""
    for name in ("webhook_attempts", "webhook_deliveries", "webhooks"):
        op.drop_table(name)
