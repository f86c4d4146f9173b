"""Comments, and subscriptions to mails about changes."""

import sqlalchemy as sa
from alembic import op

revision = "0038"
down_revision = "0037"

_comments, _subscriptions = sa.table("comments"), sa.table("subscriptions")
_notifications = sa.table("notifications", sa.column("kind"))


def upgrade() -> None:
    """Add tables and columns, into which releases before write nothing."""
    op.create_table(
        "comments",
        sa.Column("id", sa.Uuid, nullable=False),
        sa.Column("project_id", sa.Uuid, nullable=False),
        sa.Column("environment_id", sa.Uuid),
        sa.Column("flag_id", sa.Uuid),
        sa.Column("release_id", sa.Uuid),
        sa.Column("change", sa.BigInteger),
        sa.Column("author_id", sa.Uuid),
        sa.Column("author_email", sa.Text, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("id", name="comments_primary"),
        _reference("comments", "project_id", "projects.id"),
        _reference("comments", "flag_id", "flags.id"),
        _reference("comments", "release_id", "releases.id"),
        _reference("comments", "author_id", "accounts.id", "SET NULL"),
    )
    for first, second in (
        ("flag_id", "created_at"),
        ("release_id", "created_at"),
        ("project_id", "change"),
        ("author_id", "created_at"),
    ):
        op.create_index(f"comments_{first}_{second}_index", "comments", [first, second])
    op.create_table(
        "subscriptions",
        sa.Column("id", sa.Uuid, nullable=False),
        sa.Column("project_id", sa.Uuid, nullable=False),
        sa.Column("account_id", sa.Uuid, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("environment_id", sa.Uuid),
        sa.Column("name", sa.Text),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("id", name="subscriptions_primary"),
        sa.ForeignKeyConstraint(
            ["project_id", "account_id"],
            ["members.project_id", "members.account_id"],
            "subscriptions_project_id_reference",
            ondelete="CASCADE",
        ),
        _reference("subscriptions", "environment_id", "environments.id"),
    )
    op.create_index("subscriptions_environment_id_index", "subscriptions", ["environment_id"])
    op.create_index("subscriptions_project_id_kind_name_index", "subscriptions", ["project_id", "kind", "name"])
    op.create_index("subscriptions_account_id_project_id_index", "subscriptions", ["account_id", "project_id"])
    for name in ("mentions", "subscribed"):
        op.add_column("notification_settings", sa.Column(name, sa.Boolean))
    op.add_column("notifications", sa.Column("comment_id", sa.Uuid))


def _reference(table: str, column: str, target: str, ondelete: str = "CASCADE") -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint([column], [target], f"{table}_{column}_reference", ondelete=ondelete)


def losses(connection: sa.Connection) -> list[str]:
    """Return what a downgrade would drop."""
    found = ((_comments, "comments"), (_subscriptions, "subscriptions to mails"))
    counts = [
        (connection.execute(sa.select(sa.func.count()).select_from(table)).scalar_one(), of) for table, of in found
    ]
    return [f"{count} {of}" for count, of in counts if count]


def downgrade() -> None:
    """Drop them, and what waits to be mailed because of them."""
    op.execute(sa.delete(_notifications).where(_notifications.c.kind.in_(("mentions", "subscribed"))))
    op.drop_column("notifications", "comment_id")
    for name in ("mentions", "subscribed"):
        op.drop_column("notification_settings", name)
    op.drop_table("subscriptions")
    op.drop_table("comments")
