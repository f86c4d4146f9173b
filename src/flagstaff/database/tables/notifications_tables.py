"""The mails that members want about changes, and those that wait or were sent."""

import sqlalchemy as sa

from flagstaff.database.tables.columns import Moment, member_columns, metadata

# The mails that a member wants about a project. A null stands for the default, as a missing row does.
notification_settings = sa.Table(
    "notification_settings",
    metadata,
    *member_columns(),
    sa.Column("critical", sa.Boolean),
    sa.Column("owned", sa.Boolean),
    sa.Column("stale", sa.Boolean),
    sa.Column("webhooks", sa.Boolean),
    sa.Column("releases", sa.Boolean),
    sa.Column("mentions", sa.Boolean),
    sa.Column("subscribed", sa.Boolean),
    sa.PrimaryKeyConstraint("project_id", "account_id"),
)

# Subscriptions of members to the changes of an environment, or of a flag or a tag, which `name` is. A flag is
# named by its key, so that its deletion is told, too.
subscriptions = sa.Table(
    "subscriptions",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    *member_columns(),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("environment_id", sa.ForeignKey("environments.id", ondelete="CASCADE"), index=True),
    sa.Column("name", sa.Text),
    sa.Column("created_at", Moment, nullable=False),
    sa.Index(None, "project_id", "kind", "name"),
    sa.Index(None, "account_id", "project_id"),
)

# Notifications for the next mails of members: of the change with a number, or, where that is 0, of a comment.
# Whoever sends a mail holds its rows until `held_until`.
notifications = sa.Table(
    "notifications",
    metadata,
    sa.Column("id", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True, autoincrement=True),
    *member_columns(),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("change", sa.BigInteger, nullable=False),
    sa.Column("created_at", Moment, nullable=False),
    sa.Column("held_until", Moment),
    sa.Column("comment_id", sa.Uuid),
    sa.Index(None, "account_id", "project_id", "id"),
    sa.Index(None, "project_id", "account_id"),
)

# The number up to which the changes of a project were examined for mails.
notification_positions = sa.Table(
    "notification_positions",
    metadata,
    sa.Column("project_id", sa.ForeignKey("projects.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("change", sa.BigInteger, nullable=False),
)

# The mails of the last hour, which are limited by account.
notification_mails = sa.Table(
    "notification_mails",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("account_id", sa.ForeignKey("accounts.id", ondelete="CASCADE"), nullable=False),
    sa.Column("sent_at", Moment, nullable=False, index=True),
    sa.Index(None, "account_id", "sent_at"),
)

# The times at which members were last told of their stale flags.
stale_reminders = sa.Table(
    "stale_reminders",
    metadata,
    *member_columns(),
    sa.Column("sent_at", Moment, nullable=False),
    sa.PrimaryKeyConstraint("project_id", "account_id"),
)
