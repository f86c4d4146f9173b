"""Webhooks with their deliveries, and the notices that they may be sent."""

import sqlalchemy as sa

from flagstaff.database.tables.columns import Moment, json_list, metadata

# Addresses to which changes are sent: of a project, or of the whole instance without one. `holder` is the process that
# sends until `held_until`. `dropped` counts messages beyond the bound, and `told_dropped` those that a message named.
# `owner_id` is the administrator whose rights one of the instance has.
webhooks = sa.Table(
    "webhooks",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("project_id", sa.ForeignKey("projects.id", ondelete="CASCADE"), index=True),
    sa.Column("url", sa.Text, nullable=False),
    json_list("events"),
    sa.Column("environments", sa.JSON(none_as_null=True)),
    sa.Column("tags", sa.JSON(none_as_null=True)),
    sa.Column("format", sa.Text, nullable=False),
    sa.Column("description", sa.Text),
    sa.Column("enabled", sa.Boolean, nullable=False),
    sa.Column("disabled_reason", sa.Text),
    sa.Column("secret", sa.LargeBinary, nullable=False),
    sa.Column("previous_secret", sa.LargeBinary),
    sa.Column("previous_secret_until", Moment),
    sa.Column("created_at", Moment, nullable=False),
    sa.Column("updated_at", Moment, nullable=False),
    sa.Column("holder", sa.Text),
    sa.Column("held_until", Moment),
    sa.Column("dropped", sa.BigInteger, nullable=False, server_default="0"),
    sa.Column("told_dropped", sa.BigInteger, nullable=False, server_default="0"),
    sa.Column("owner_id", sa.Uuid),
)

# Those that may want to be told of what happens in the project that is bound as `project`, or in none.
is_concerned_webhook = sa.and_(
    webhooks.c.enabled,
    sa.or_(webhooks.c.project_id.is_(None), webhooks.c.project_id == sa.bindparam("project", type_=sa.Uuid)),
)

# Messages to webhooks, inserted in the transaction of the changes that they are about, and kept for 30 days.
webhook_deliveries = sa.Table(
    "webhook_deliveries",
    metadata,
    sa.Column("number", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True, autoincrement=True),
    sa.Column("webhook_id", sa.ForeignKey("webhooks.id", ondelete="CASCADE"), nullable=False),
    sa.Column("project_id", sa.Uuid),
    sa.Column("first_change", sa.BigInteger),
    sa.Column("last_change", sa.BigInteger),
    sa.Column("type", sa.Text),  # of changes: null until the first attempt
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("attempts", sa.SmallInteger, nullable=False, server_default="0"),
    sa.Column("created_at", Moment, nullable=False, index=True),
    sa.Column("revision", sa.BigInteger),
    sa.Column("next_attempt_at", Moment),
    sa.Column("notice", sa.BigInteger),  # without changes and without a notice, it is a test
    sa.Index(None, "webhook_id", "state", "number"),
    sa.Index(None, "state", "next_attempt_at"),
    sqlite_autoincrement=True,
)

webhook_attempts = sa.Table(
    "webhook_attempts",
    metadata,
    sa.Column("id", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True, autoincrement=True),
    sa.Column("delivery", sa.ForeignKey("webhook_deliveries.number", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("at", Moment, nullable=False),
    sa.Column("milliseconds", sa.Integer, nullable=False),
    sa.Column("status", sa.SmallInteger),
    sa.Column("error", sa.Text),
    sa.Column("answer", sa.Text),
)

# Notices: what the server has noticed by itself and told, kept for 30 days.
notices = sa.Table(
    "notices",
    metadata,
    sa.Column("number", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True, autoincrement=True),
    sa.Column("type", sa.Text, nullable=False),
    sa.Column("project_id", sa.ForeignKey("projects.id", ondelete="CASCADE"), index=True),
    sa.Column("environment_id", sa.ForeignKey("environments.id", ondelete="CASCADE"), index=True),
    sa.Column("at", Moment, nullable=False, index=True),
    sa.Column("details", sa.JSON(none_as_null=True), nullable=False),
    sqlite_autoincrement=True,
)

# The flags of which it was told that they are stale, or asked for but missing, as long as they are.
noticed_flags = sa.Table(
    "noticed_flags",
    metadata,
    sa.Column("environment_id", sa.ForeignKey("environments.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("type", sa.Text, primary_key=True),
    sa.Column("flag_key", sa.Text, primary_key=True),
    sa.Column("since", Moment, nullable=False),
)

# The same of instances that lag, or whose history falls behind.
noticed_instances = sa.Table(
    "noticed_instances",
    metadata,
    sa.Column("type", sa.Text, primary_key=True),
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("since", Moment, nullable=False),
)

# The times at which environments were last examined for flags that are stale, and for those that are asked for but
# missing.
environment_looks = sa.Table(
    "environment_looks",
    metadata,
    sa.Column("environment_id", sa.ForeignKey("environments.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("stale_at", Moment),
    sa.Column("missing_at", Moment),
)
