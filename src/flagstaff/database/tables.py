"""The tables after the newest migration; a test compares the two.

Ids are UUIDs; times are whole microseconds since 1970 (UTC), so that both databases order and compare them alike.
"""

from datetime import UTC, datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def microseconds(at: datetime) -> int:
    """Whole microseconds since 1970."""
    return (at - _EPOCH) // _MICROSECOND


def moment(value: int) -> datetime:
    """The moment, in UTC, `value` microseconds after 1970."""
    return _EPOCH + timedelta(microseconds=value)


class Moment(TypeDecorator[datetime]):
    """An aware datetime kept as a BIGINT of microseconds."""

    impl = sa.BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:  # noqa: ARG002
        return None if value is None else microseconds(value)

    def process_result_value(self, value: Any | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        return None if value is None else moment(value)


def _json_list(name: str) -> sa.Column[Any]:
    """A list as JSON text, in the serialisation of Python's json module. Older releases write none: it is empty."""
    return sa.Column(name, sa.JSON(none_as_null=True), nullable=False, server_default="[]")


def _revision() -> sa.Column[Any]:
    """A column of database/revisions_store.py."""
    return sa.Column("revision", sa.BigInteger, nullable=False, server_default="0")


def row_of(table: sa.Table, resource: object) -> dict[str, Any]:
    """A resource of the domain as a table's row: the attributes that are named like its columns.

    A column for which it has none gets its default.
    """
    return {each.name: getattr(resource, each.name) for each in table.columns if hasattr(resource, each.name)}


metadata = sa.MetaData(
    naming_convention={
        "ix": "%(table_name)s_%(column_0_N_name)s_index",
        "uq": "%(table_name)s_%(column_0_N_name)s_unique",
        "fk": "%(table_name)s_%(column_0_name)s_reference",
        "pk": "%(table_name)s_primary",
    }
)

accounts = sa.Table(
    "accounts",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("email", sa.Text, nullable=False),
    sa.Column("email_identity", sa.Text, nullable=False, unique=True),
    sa.Column("password_hash", sa.Text, nullable=False),
    sa.Column("created_at", Moment, nullable=False),
    sa.Column("is_administrator", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("deactivated_at", Moment),
)

# The settings that were changed while the instance ran, and its first account.
instance_settings = sa.Table(
    "instance_settings",
    metadata,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("value", sa.Text, nullable=False),
)

# The processes that serve from this database; see cluster/instances_store.py. No backup contains them.
instances = sa.Table(
    "instances",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("address", sa.Text, nullable=False),
    sa.Column("version", sa.Text, nullable=False),
    sa.Column("started_at", Moment, nullable=False),
    sa.Column("renewals", sa.BigInteger, nullable=False),
    sa.Column("is_leaving", sa.Boolean, nullable=False),
    sa.Column("expires_at", Moment, nullable=False),
    sa.Column("report", sa.Text),
    info={"transient": True},
)

password_resets = sa.Table(
    "password_resets",
    metadata,
    sa.Column("token_hash", sa.LargeBinary, primary_key=True),
    sa.Column("account_id", sa.ForeignKey("accounts.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("created_at", Moment, nullable=False),
    sa.Column("expires_at", Moment, nullable=False),
    sa.Column("spent_at", Moment),
)

# The tokens that were ended before they expired.
ended_tokens = sa.Table(
    "ended_tokens",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("expires_at", Moment, nullable=False, index=True),
)

# The sessions that have not ended. The id is also that of the session's token.
sessions = sa.Table(
    "sessions",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("account_id", sa.ForeignKey("accounts.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("device", sa.Text),
    sa.Column("address", sa.Text),
    sa.Column("created_at", Moment, nullable=False),
    sa.Column("last_seen_at", Moment, nullable=False),
    sa.Column("expires_at", Moment, nullable=False, index=True),
)

# The clients from which the owners of accounts have logged in, as keyed hashes.
known_clients = sa.Table(
    "known_clients",
    metadata,
    sa.Column("account_id", sa.ForeignKey("accounts.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("client_hash", sa.LargeBinary, primary_key=True),
    sa.Column("seen_at", Moment, nullable=False),
)

# The secrets for the codes of authenticator apps, sealed with a key that is derived from the secret key.
totp_secrets = sa.Table(
    "totp_secrets",
    metadata,
    sa.Column("account_id", sa.ForeignKey("accounts.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("sealed", sa.LargeBinary, nullable=False),
    sa.Column("created_at", Moment, nullable=False),
    sa.Column("confirmed_at", Moment),
    sa.Column("last_step", sa.BigInteger),
)

# The recovery codes that have not been used.
recovery_codes = sa.Table(
    "recovery_codes",
    metadata,
    sa.Column("account_id", sa.ForeignKey("accounts.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("code_hash", sa.LargeBinary, primary_key=True),
)

# The wrong codes of the last hour, which are limited by account.
second_factor_failures = sa.Table(
    "second_factor_failures",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("account_id", sa.ForeignKey("accounts.id", ondelete="CASCADE"), nullable=False),
    sa.Column("at", Moment, nullable=False, index=True),
    sa.Index(None, "account_id", "at"),
)

passkeys = sa.Table(
    "passkeys",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("account_id", sa.ForeignKey("accounts.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("credential_id", sa.LargeBinary, nullable=False, unique=True),
    sa.Column("public_key", sa.LargeBinary, nullable=False),
    sa.Column("sign_count", sa.BigInteger, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("created_at", Moment, nullable=False),
    sa.Column("last_used_at", Moment),
)

# Sign-ins that wait for a second factor or a passkey. `stamp` is that of the password of a login.
challenges = sa.Table(
    "challenges",
    metadata,
    sa.Column("token_hash", sa.LargeBinary, primary_key=True),
    sa.Column("purpose", sa.Text, nullable=False),
    sa.Column("account_id", sa.ForeignKey("accounts.id", ondelete="CASCADE"), index=True),
    sa.Column("stamp", sa.Text),
    sa.Column("expires_at", Moment, nullable=False, index=True),
)

projects = sa.Table(
    "projects",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("owner_id", sa.ForeignKey("accounts.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("description", sa.Text),
    sa.Column("sdk_key", sa.Text, nullable=False, unique=True),
    sa.Column("created_at", Moment, nullable=False),
    sa.Column("updated_at", Moment, nullable=False),
    sa.Column("demands_second_factor", sa.Boolean, nullable=False, server_default=sa.false()),
    _revision(),
)

environments = sa.Table(
    "environments",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("project_id", sa.ForeignKey("projects.id", ondelete="CASCADE"), nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("key", sa.Text, nullable=False),
    sa.Column("created_at", Moment, nullable=False),
    _revision(),
    sa.Column("critical", sa.Boolean),  # null: by its key
    # Its place in the order that members have chosen. Those that came after it was chosen share the last place.
    sa.Column("position", sa.Integer, nullable=False, server_default="2147483647"),
    sa.UniqueConstraint("project_id", "key"),
)

members = sa.Table(
    "members",
    metadata,
    sa.Column("project_id", sa.ForeignKey("projects.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("account_id", sa.ForeignKey("accounts.id", ondelete="CASCADE"), primary_key=True, index=True),
    sa.Column("role", sa.Text, nullable=False),
    sa.Column("created_at", Moment, nullable=False),
)

# The roles of members in single environments, where they replace the role in the project.
environment_roles = sa.Table(
    "environment_roles",
    metadata,
    sa.Column("project_id", sa.Uuid, primary_key=True),
    sa.Column("account_id", sa.Uuid, primary_key=True),
    sa.Column("environment_id", sa.ForeignKey("environments.id", ondelete="CASCADE"), primary_key=True, index=True),
    sa.Column("role", sa.Text, nullable=False),
    sa.ForeignKeyConstraint(
        ["project_id", "account_id"], ["members.project_id", "members.account_id"], ondelete="CASCADE"
    ),
)

# The identities of accounts at identity providers.
identities = sa.Table(
    "identities",
    metadata,
    sa.Column("issuer", sa.Text, primary_key=True),
    sa.Column("subject", sa.Text, primary_key=True),
    sa.Column("account_id", sa.ForeignKey("accounts.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("created_at", Moment, nullable=False),
    sa.Column("is_only_way", sa.Boolean, nullable=False),
)

# The memberships that exist because of groups at an identity provider.
given_memberships = sa.Table(
    "given_memberships",
    metadata,
    sa.Column("project_id", sa.Uuid, primary_key=True),
    sa.Column("account_id", sa.Uuid, primary_key=True),
    sa.Column("issuer", sa.Text, nullable=False),
    sa.ForeignKeyConstraint(
        ["project_id", "account_id"], ["members.project_id", "members.account_id"], ondelete="CASCADE"
    ),
)

# The sign-ins that wait for the answer of an identity provider.
sign_ins = sa.Table(
    "sign_ins",
    metadata,
    sa.Column("state_hash", sa.LargeBinary, primary_key=True),
    sa.Column("provider", sa.Text, nullable=False),
    sa.Column("nonce", sa.Text, nullable=False),
    sa.Column("verifier", sa.Text, nullable=False),
    sa.Column("binding_hash", sa.LargeBinary, nullable=False),
    sa.Column("return_to", sa.Text, nullable=False),
    sa.Column("expires_at", Moment, nullable=False, index=True),
)

# The invitations that have not been accepted. `token_hash` is the last mail's; none before the first.
invitations = sa.Table(
    "invitations",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("project_id", sa.ForeignKey("projects.id", ondelete="CASCADE"), nullable=False),
    sa.Column("email", sa.Text, nullable=False),
    sa.Column("email_identity", sa.Text, nullable=False),
    sa.Column("role", sa.Text, nullable=False),
    sa.Column("environments", sa.JSON(none_as_null=True), nullable=False, server_default="{}"),
    sa.Column("inviter_id", sa.ForeignKey("accounts.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("token_hash", sa.LargeBinary, unique=True),
    sa.Column("created_at", Moment, nullable=False),
    sa.Column("expires_at", Moment, nullable=False),
    sa.Column("sent_at", Moment),
    sa.UniqueConstraint("project_id", "email_identity"),
)

# The mails with invitations of the last day, which are limited by account and by address.
invitation_mails = sa.Table(
    "invitation_mails",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("account_id", sa.ForeignKey("accounts.id", ondelete="CASCADE"), nullable=False),
    sa.Column("email_identity", sa.Text, nullable=False),
    sa.Column("sent_at", Moment, nullable=False),
    sa.Index(None, "account_id", "sent_at"),
    sa.Index(None, "email_identity", "sent_at"),
)

# The tokens with which machines call the API. Without a project, a token is for all that its account may do.
access_tokens = sa.Table(
    "access_tokens",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("account_id", sa.ForeignKey("accounts.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("project_id", sa.ForeignKey("projects.id", ondelete="CASCADE"), index=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("token_hash", sa.LargeBinary, nullable=False, unique=True),
    sa.Column("permissions", sa.JSON(none_as_null=True), nullable=False),
    sa.Column("environments", sa.JSON(none_as_null=True)),
    sa.Column("created_at", Moment, nullable=False),
    sa.Column("expires_at", Moment),
    sa.Column("last_used_at", Moment),
)

# The keys with which applications ask for the flags of one environment.
sdk_keys = sa.Table(
    "sdk_keys",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("environment_id", sa.ForeignKey("environments.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("key_hash", sa.LargeBinary, nullable=False, unique=True),
    sa.Column("hint", sa.Text, nullable=False),
    sa.Column("creator_id", sa.ForeignKey("accounts.id", ondelete="SET NULL"), index=True),
    sa.Column("created_at", Moment, nullable=False),
    sa.Column("expires_at", Moment),
    sa.Column("last_used_at", Moment),
    sa.Column("replaces_id", sa.Uuid),  # of the key that it replaces, which may have been revoked since
)

flags = sa.Table(
    "flags",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("environment_id", sa.ForeignKey("environments.id", ondelete="CASCADE"), nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("key", sa.Text, nullable=False),
    sa.Column("description", sa.Text),
    sa.Column("enabled", sa.Boolean, nullable=False),
    sa.Column("rollout_percentage", sa.SmallInteger, nullable=False),
    sa.Column("created_at", Moment, nullable=False),
    sa.Column("updated_at", Moment, nullable=False),
    sa.Column("fallthrough", sa.Text, nullable=False, server_default="rollout"),
    sa.Column("bucketing_key", sa.Text),
    sa.Column("stickiness", sa.Text, nullable=False, server_default="default"),
    _json_list("tags"),
    _json_list("variants"),
    _json_list("prerequisites"),
    sa.Column("archived_at", Moment),
    # While the flag is archived, its state. `enabled` is then false: the release before would serve the flag otherwise.
    sa.Column("archived_enabled", sa.Boolean),
    sa.Column("owner", sa.Text),
    sa.Column("keep", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.UniqueConstraint("environment_id", "key"),
    sa.Index(None, "environment_id", "created_at", "id"),
)
# Stored off. The release before does not know archived flags: one that it turns on is not archived any more.
is_archived = sa.and_(flags.c.archived_at.is_not(None), flags.c.enabled.is_(False))

rules = sa.Table(
    "rules",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("flag_id", sa.ForeignKey("flags.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("rule_type", sa.Text, nullable=False),
    sa.Column("rule_value", sa.Text, nullable=False),  # empty for a rule without a value
    sa.Column("priority", sa.Integer, nullable=False),
    sa.Column("enabled", sa.Boolean, nullable=False),
    sa.Column("created_at", Moment, nullable=False),
    sa.Column("updated_at", Moment, nullable=False),
    sa.Column("name", sa.Text),
    _json_list("conditions"),
    sa.Column("rollout_percentage", sa.SmallInteger, nullable=False, server_default="100"),
    sa.Column("variant", sa.Text),
)
# The conditions that an evaluation checks besides look-ups. An empty list is stored as two characters on both
# databases.
is_costly = sa.or_(rules.c.rule_type.in_(("segment", "attributes")), sa.cast(rules.c.conditions, sa.Text) != "[]")

# The segments that rules refer to by their keys.
project_segments = sa.Table(
    "project_segments",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("project_id", sa.ForeignKey("projects.id", ondelete="CASCADE"), nullable=False),
    sa.Column("key", sa.Text, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("description", sa.Text),
    _json_list("conditions"),
    sa.Column("created_at", Moment, nullable=False),
    sa.Column("updated_at", Moment, nullable=False),
    sa.UniqueConstraint("project_id", "key"),
)

# Metrics, for which applications report events of users.
metrics = sa.Table(
    "metrics",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("project_id", sa.ForeignKey("projects.id", ondelete="CASCADE"), nullable=False),
    sa.Column("key", sa.Text, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("description", sa.Text),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("better", sa.Text, nullable=False),
    sa.Column("unit", sa.Text),
    sa.Column("created_at", Moment, nullable=False),
    sa.Column("updated_at", Moment, nullable=False),
    sa.UniqueConstraint("project_id", "key"),
)

# Releases of flags. `due_at` is when an unfinished one is to be looked at next, and `mark` the number of the last
# change of the flag that it knows.
releases = sa.Table(
    "releases",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("project_id", sa.ForeignKey("projects.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("environment_id", sa.ForeignKey("environments.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("flag_id", sa.ForeignKey("flags.id", ondelete="CASCADE"), nullable=False),
    sa.Column("name", sa.Text),
    _json_list("steps"),
    _json_list("guards"),
    _json_list("thresholds"),
    sa.Column("false_alarm_rate", sa.Float, nullable=False),
    sa.Column("when_late", sa.Text, nullable=False),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("reason", sa.Text),
    sa.Column("author_id", sa.Uuid),
    sa.Column("author_email", sa.Text),
    _json_list("applied"),
    _json_list("alarms"),
    sa.Column("counts_from", Moment),
    sa.Column("due_at", Moment),
    sa.Column("paused_at", Moment),
    sa.Column("ended_at", Moment),
    sa.Column("mark", sa.BigInteger, nullable=False),
    sa.Column("created_at", Moment, nullable=False),
    sa.Column("updated_at", Moment, nullable=False),
    sa.Index(None, "flag_id", "created_at"),
    sa.Index(None, "state", "due_at"),
)

# Filters of the list of flags, by which all members of a project can look.
saved_views = sa.Table(
    "saved_views",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("project_id", sa.ForeignKey("projects.id", ondelete="CASCADE"), nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("search", sa.JSON(none_as_null=True), nullable=False),
    sa.Column("creator_id", sa.ForeignKey("accounts.id", ondelete="SET NULL"), index=True),
    sa.Column("created_at", Moment, nullable=False),
    sa.UniqueConstraint("project_id", "name"),
)

# Views of the history's chart, which all members of a project see on its home.
pinned_charts = sa.Table(
    "pinned_charts",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("project_id", sa.ForeignKey("projects.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("environment_id", sa.ForeignKey("environments.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("flag_id", sa.ForeignKey("flags.id", ondelete="CASCADE"), index=True),
    sa.Column("period", sa.Text, nullable=False),
    sa.Column("split", sa.Text, nullable=False),
    sa.Column("scale", sa.Text, nullable=False),
    sa.Column("compare_before", sa.Boolean, nullable=False),
    sa.Column("compare_environment_id", sa.ForeignKey("environments.id", ondelete="SET NULL"), index=True),
    sa.Column("created_at", Moment, nullable=False),
)

# The flags that an account wants to see first, by their keys, so that they are the same in all environments.
favourites = sa.Table(
    "favourites",
    metadata,
    sa.Column("account_id", sa.ForeignKey("accounts.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("project_id", sa.ForeignKey("projects.id", ondelete="CASCADE"), primary_key=True, index=True),
    sa.Column("flag_key", sa.Text, primary_key=True),
    sa.Column("created_at", Moment, nullable=False),
)

# No foreign keys, because the trail outlives the resources.
changes = sa.Table(
    "changes",
    metadata,
    sa.Column("id", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True, autoincrement=True),
    sa.Column("at", Moment, nullable=False),
    sa.Column("actor_id", sa.Uuid),
    sa.Column("actor_email", sa.Text),
    sa.Column("action", sa.Text, nullable=False),
    sa.Column("resource_id", sa.Uuid, nullable=False),
    sa.Column("project_id", sa.Uuid),
    sa.Column("environment_id", sa.Uuid),
    sa.Column("flag_id", sa.Uuid),
    sa.Column("flag_key", sa.Text),
    sa.Column("before", sa.JSON(none_as_null=True)),
    sa.Column("after", sa.JSON(none_as_null=True)),
    sa.Column("token_id", sa.Uuid),
    sa.Column("token_name", sa.Text),
    sa.Column("restores", sa.BigInteger),
    sa.Column("release", sa.JSON(none_as_null=True)),  # the release that made the change, and the guard that acted
    sa.Column("batch", sa.JSON(none_as_null=True)),  # the operation that made it together with others
    sa.Index(None, "environment_id", "id"),
    sa.Index(None, "project_id", "id"),
    sa.Index(None, "flag_id", "id"),
    sa.Index(None, "resource_id", "id"),
    sa.Index(None, "project_id", "actor_id", "id"),
    sa.Index(None, "project_id", "action", "id"),
    sa.Index(None, "project_id", "flag_key", "id"),
    sa.Index(None, "project_id", "at", "id"),
)

# Comments of members on a flag, a release or a change: one of the three is set. The environment and the change
# have no foreign keys, as in the trail.
comments = sa.Table(
    "comments",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("project_id", sa.ForeignKey("projects.id", ondelete="CASCADE"), nullable=False),
    sa.Column("environment_id", sa.Uuid),
    sa.Column("flag_id", sa.ForeignKey("flags.id", ondelete="CASCADE")),
    sa.Column("release_id", sa.ForeignKey("releases.id", ondelete="CASCADE")),
    sa.Column("change", sa.BigInteger),
    sa.Column("author_id", sa.ForeignKey("accounts.id", ondelete="SET NULL")),
    sa.Column("author_email", sa.Text, nullable=False),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("created_at", Moment, nullable=False),
    sa.Column("updated_at", Moment, nullable=False),
    sa.Index(None, "flag_id", "created_at"),
    sa.Index(None, "release_id", "created_at"),
    sa.Index(None, "project_id", "change"),
    sa.Index(None, "author_id", "created_at"),
)

# Addresses to which changes are sent: of a project, or of the whole instance without one. `holder` is the process that
# sends until `held_until`. `dropped` counts messages beyond the bound, and `told_dropped` those that a message named.
webhooks = sa.Table(
    "webhooks",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("project_id", sa.ForeignKey("projects.id", ondelete="CASCADE"), index=True),
    sa.Column("url", sa.Text, nullable=False),
    _json_list("events"),
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


def _of_member() -> tuple[sa.Column[Any], sa.Column[Any], sa.ForeignKeyConstraint]:
    """The columns that name a member. What a member has ends with the membership."""
    return (
        sa.Column("project_id", sa.Uuid, nullable=False),
        sa.Column("account_id", sa.Uuid, nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id", "account_id"], ["members.project_id", "members.account_id"], ondelete="CASCADE"
        ),
    )


# The mails that a member wants about a project. A null stands for the default, as a missing row does.
notification_settings = sa.Table(
    "notification_settings",
    metadata,
    *_of_member(),
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
    *_of_member(),
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
    *_of_member(),
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
    *_of_member(),
    sa.Column("sent_at", Moment, nullable=False),
    sa.PrimaryKeyConstraint("project_id", "account_id"),
)

# The responses to requests with an Idempotency-Key; `status` and `body` are filled in before the commit. `outcome` says
# why the response itself is not stored, if it is not; `checks` are the permissions that the request needed.
idempotency_keys = sa.Table(
    "idempotency_keys",
    metadata,
    sa.Column("account_id", sa.ForeignKey("accounts.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("key", sa.Text, primary_key=True),
    sa.Column("created_at", Moment, nullable=False, index=True),
    sa.Column("fingerprint", sa.LargeBinary, nullable=False),
    sa.Column("project_id", sa.Uuid),
    sa.Column("environment_id", sa.Uuid),
    sa.Column("status", sa.SmallInteger),
    sa.Column("body", sa.LargeBinary),
    sa.Column("outcome", sa.Text),
    sa.Column("checks", sa.JSON(none_as_null=True)),
    sa.Index("idempotency_keys_project_id_outcome_index", "project_id", "outcome"),
)

# The history. It has no foreign keys to the configuration, which lives in another file with SQLite and may lose an
# environment at any time. Its own numbers stand for environments and layouts, to keep rows small.
HISTORY = "history"


def _version() -> sa.Column[int]:
    """The version of a row's content. Rows keep the version they were written in; readers support every version."""
    return sa.Column("version", sa.SmallInteger, nullable=False, server_default="1")


recorded_environments = sa.Table(
    "recorded_environments",
    metadata,
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("environment_id", sa.Uuid, nullable=False, unique=True),
    sa.Column("kept_from", sa.Integer, nullable=False, server_default="0"),  # counts before this minute are ignored
    # The last segment whose users were counted; see history/store/user_rollups.py.
    sa.Column("counted_segment", sa.BigInteger, nullable=False, server_default="0"),
    schema=HISTORY,
    sqlite_autoincrement=True,
)

layouts = sa.Table(
    "layouts",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("environment", sa.Integer, nullable=False),
    sa.Column("digest", sa.LargeBinary, nullable=False),
    sa.Column("content", sa.LargeBinary, nullable=False),
    sa.Column("last_used_at", Moment, nullable=False),
    _version(),
    sa.UniqueConstraint("environment", "digest"),
    schema=HISTORY,
    sqlite_autoincrement=True,
)

# Some hundred evaluations each; see history/store/segments.py.
segments = sa.Table(
    "segments",
    metadata,
    sa.Column("id", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True, autoincrement=True),
    sa.Column("environment", sa.Integer, nullable=False),
    sa.Column("layout_id", sa.Integer, nullable=False),
    sa.Column("first_time", sa.BigInteger, nullable=False),
    sa.Column("last_time", sa.BigInteger, nullable=False),
    sa.Column("size", sa.Integer, nullable=False),
    sa.Column("user_hashes", sa.LargeBinary, nullable=False),
    sa.Column("email_hashes", sa.LargeBinary, nullable=False),
    sa.Column("content", sa.LargeBinary, nullable=False),
    _version(),
    sa.Index(None, "environment", "last_time", "id"),
    sa.Index(None, "environment", "id"),
    schema=HISTORY,
    sqlite_autoincrement=True,
)

# The recently written batches, each a version 7 UUID, so that a repeated batch is recognised.
batches = sa.Table(
    "batches",
    metadata,
    sa.Column("id", sa.LargeBinary, primary_key=True),
    schema=HISTORY,
    sqlite_with_rowid=False,
)

# The instance that sends the history to another database, and its block; see history/store/export_batches.py.
deliveries = sa.Table(
    "deliveries",
    metadata,
    sa.Column("sink", sa.Text, primary_key=True),
    sa.Column("holder", sa.Text, nullable=False),
    sa.Column("held_until", Moment, nullable=False),
    sa.Column("token", sa.Text),
    sa.Column("ends", sa.Text),
    schema=HISTORY,
    sqlite_with_rowid=False,
)

# Up to where the history of each environment was sent.
delivered = sa.Table(
    "delivered",
    metadata,
    sa.Column("environment_id", sa.Uuid, primary_key=True),
    sa.Column("position", sa.Text, nullable=False),
    schema=HISTORY,
    sqlite_with_rowid=False,
)

# The counts that batches have added by minute (counted from 1970) and layout, until it is rolled up; see
# history/store/summaries.py. `bytes` is the size of the minute's segments and new layouts.
summaries = sa.Table(
    "summaries",
    metadata,
    sa.Column("environment", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("minute", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("layout_id", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("evaluations", sa.BigInteger, nullable=False),
    sa.Column("counts", sa.LargeBinary, nullable=False),
    _version(),
    sa.Column("bytes", sa.BigInteger, nullable=False, server_default="0"),
    schema=HISTORY,
    sqlite_with_rowid=False,
)

# The count of each outcome of each flag: a row for each hour (`span` 60) and one for each day (1440), which starts at a
# minute counted from 1970; see history/store/rollups.py.
flag_counts = sa.Table(
    "flag_counts",
    metadata,
    sa.Column("environment", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("span", sa.SmallInteger, primary_key=True, autoincrement=False),
    sa.Column("start", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("flag_key", sa.Text, primary_key=True),
    sa.Column("version", sa.SmallInteger, nullable=False),
    sa.Column("counts", sa.LargeBinary, nullable=False),
    schema=HISTORY,
    sqlite_with_rowid=False,
)

# The distinct users of each day, counted from 1970: those of an environment, with the flags that were the same for all
# of them, and those of each other flag; see history/store/user_rows.py.
environment_users = sa.Table(
    "environment_users",
    metadata,
    sa.Column("environment", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("day", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("version", sa.SmallInteger, nullable=False),
    sa.Column("users", sa.LargeBinary, nullable=False),
    sa.Column("flags", sa.LargeBinary, nullable=False),
    schema=HISTORY,
    sqlite_with_rowid=False,
)

flag_users = sa.Table(
    "flag_users",
    metadata,
    sa.Column("environment", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("day", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("flag_key", sa.Text, primary_key=True),
    sa.Column("version", sa.SmallInteger, nullable=False),
    sa.Column("on_users", sa.LargeBinary, nullable=False),
    sa.Column("off_users", sa.LargeBinary, nullable=False),
    schema=HISTORY,
    sqlite_with_rowid=False,
)

# The size of each hour (counted from 1970) of an environment's history.
recorded_bytes = sa.Table(
    "recorded_bytes",
    metadata,
    sa.Column("environment", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("hour", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("bytes", sa.BigInteger, nullable=False),
    schema=HISTORY,
    sqlite_with_rowid=False,
)

# The instances of applications that evaluate flags themselves; see history/store/connections.py.
connections = sa.Table(
    "connections",
    metadata,
    sa.Column("environment_id", sa.Uuid, primary_key=True),
    sa.Column("application", sa.Text, primary_key=True),
    sa.Column("identity", sa.Text, primary_key=True),
    sa.Column("instance", sa.Text, nullable=False),
    sa.Column("sdk", sa.Text, nullable=False),
    sa.Column("interval_milliseconds", sa.BigInteger),
    sa.Column("revision", sa.BigInteger, nullable=False),
    sa.Column("seen_at", Moment, nullable=False, index=True),
    sa.Column("streams", sa.Boolean, nullable=False),
    schema=HISTORY,
    sqlite_with_rowid=False,
)

# Callers, which ask for flags; see history/store/callers.py. The id is a digest of the caller, and the zero id stands
# for the project's own key. `slot` is the last five minutes with a request, counted from 1970; it has the requests in
# these and in those before.
callers = sa.Table(
    "callers",
    metadata,
    sa.Column("id", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("environment_id", sa.Uuid, nullable=False, index=True),
    sa.Column("key_id", sa.Uuid, nullable=False),
    sa.Column("protocol", sa.Text, nullable=False),
    sa.Column("user_agent", sa.Text, nullable=False),
    sa.Column("network", sa.Text, nullable=False),
    sa.Column("first_at", Moment, nullable=False),
    sa.Column("last_at", Moment, nullable=False, index=True),
    sa.Column("slot", sa.Integer, nullable=False),
    sa.Column("in_slot", sa.BigInteger, nullable=False),
    sa.Column("before_slot", sa.BigInteger, nullable=False),
    schema=HISTORY,
    sqlite_with_rowid=False,
)

# The requests of a caller in an hour, which is counted from 1970.
caller_hours = sa.Table(
    "caller_hours",
    metadata,
    sa.Column("caller", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("hour", sa.Integer, primary_key=True, autoincrement=False, index=True),
    sa.Column("requests", sa.BigInteger, nullable=False),
    schema=HISTORY,
    sqlite_with_rowid=False,
)

# Reported counts: how often each result of a flag occurred in an hour, which is counted from 1970. The
# result is "yes", "no" or "variant:" with a variant's key; see history/store/reports.py.
reported_counts = sa.Table(
    "reported_counts",
    metadata,
    sa.Column("environment_id", sa.Uuid, primary_key=True),
    sa.Column("hour", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("flag_key", sa.Text, primary_key=True),
    sa.Column("application", sa.Text, primary_key=True),
    sa.Column("sdk", sa.Text, primary_key=True),
    sa.Column("result", sa.Text, primary_key=True),
    sa.Column("count", sa.BigInteger, nullable=False),
    sa.Column("reported_at", Moment, nullable=False),
    schema=HISTORY,
    sqlite_with_rowid=False,
)

# The windows of time that were reported lately, so that a repeated report is recognised.
reported_windows = sa.Table(
    "reported_windows",
    metadata,
    sa.Column("window", sa.LargeBinary, primary_key=True),
    sa.Column("reported_at", Moment, nullable=False, index=True),
    schema=HISTORY,
    sqlite_with_rowid=False,
)

# The number of counts of an hour that were not stored because its environment already had as many as are kept.
dropped_reports = sa.Table(
    "dropped_reports",
    metadata,
    sa.Column("environment_id", sa.Uuid, primary_key=True),
    sa.Column("hour", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("counts", sa.BigInteger, nullable=False),
    schema=HISTORY,
    sqlite_with_rowid=False,
)

# The series of the request metrics that applications report. `labels` is a JSON object, sorted by its keys.
request_series = sa.Table(
    "request_series",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("environment_id", sa.Uuid, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("labels", sa.Text, nullable=False),
    sa.Column("help", sa.Text, nullable=False),
    sa.Column("seen_at", Moment, nullable=False),
    sa.UniqueConstraint(
        "environment_id", "name", "kind", "labels", name="request_series_environment_id_name_kind_labels_unique"
    ),
    schema=HISTORY,
    sqlite_autoincrement=True,
)

# The values of a series in a minute, which is counted from 1970; see metrics/request_metrics.py for the bounds.
request_samples = sa.Table(
    "request_samples",
    metadata,
    sa.Column("series", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("minute", sa.Integer, primary_key=True, autoincrement=False, index=True),
    sa.Column("bound", sa.Text, primary_key=True),
    sa.Column("amount", sa.Float, nullable=False),
    sa.Column("times", sa.BigInteger, nullable=False),
    schema=HISTORY,
    sqlite_with_rowid=False,
)

# Events of metrics: some thousand at most in a row, in the order in which they were committed in an environment.
# `number` counts an environment's events up to the last of them, and `last_at` is the latest time of these; see
# history/store/event_segments.py.
event_segments = sa.Table(
    "event_segments",
    metadata,
    sa.Column("id", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True, autoincrement=True),
    sa.Column("environment", sa.Integer, nullable=False),
    sa.Column("number", sa.BigInteger, nullable=False),
    sa.Column("size", sa.Integer, nullable=False),
    sa.Column("last_at", sa.BigInteger, nullable=False),
    _version(),
    sa.Column("content", sa.LargeBinary, nullable=False),
    sa.Index(None, "environment", "id"),
    sa.Index(None, "environment", "last_at"),
    schema=HISTORY,
    sqlite_autoincrement=True,
)

# Empty since 0039, and to be dropped after a release: events were stored here one by one.
events = sa.Table(
    "events",
    metadata,
    sa.Column("id", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True, autoincrement=True),
    sa.Column("environment", sa.Integer, nullable=False),
    sa.Column("metric", sa.Text, nullable=False),
    sa.Column("unit", sa.Text, nullable=False),
    sa.Column("at", sa.BigInteger, nullable=False),
    sa.Column("value", sa.Float),
    sa.Index(None, "environment", "id"),
    sa.Index(None, "environment", "unit"),
    schema=HISTORY,
    sqlite_autoincrement=True,
)

# The ids that clients gave events, so that a repetition counts once; the day is counted from 1970.
event_ids = sa.Table(
    "event_ids",
    metadata,
    sa.Column("environment", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("digest", sa.Text, primary_key=True),
    sa.Column("day", sa.Integer, nullable=False, index=True),
    schema=HISTORY,
    sqlite_with_rowid=False,
)

# The number of events that named a metric that their project does not have, by the day of the last one, counted from
# 1970.
unknown_metrics = sa.Table(
    "unknown_metrics",
    metadata,
    sa.Column("environment_id", sa.Uuid, primary_key=True),
    sa.Column("metric", sa.Text, primary_key=True),
    sa.Column("events", sa.BigInteger, nullable=False),
    sa.Column("last_at", Moment, nullable=False),
    schema=HISTORY,
    sqlite_with_rowid=False,
)

# The counts of a release, and the positions up to which the history was read for it; see releases/observations.py.
# `version` rises with each write. The process that reads holds it until `held_until`.
observed_releases = sa.Table(
    "observed_releases",
    metadata,
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("release_id", sa.Uuid, nullable=False, unique=True),
    sa.Column("environment_id", sa.Uuid, nullable=False),
    sa.Column("version", sa.BigInteger, nullable=False),
    sa.Column("holder", sa.Text, nullable=False),
    sa.Column("held_until", Moment, nullable=False),
    sa.Column("content", sa.LargeBinary, nullable=False),
    schema=HISTORY,
    sqlite_autoincrement=True,
)

# The users who were exposed to a release: when they first were in the latest step, with which arm, and in which step
# they first were. An arm of -1 stands for users that rules have left out, one of -2 for users seen in two arms.
exposures = sa.Table(
    "exposures",
    metadata,
    sa.Column("release", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("unit", sa.Text, primary_key=True),
    sa.Column("first_step", sa.SmallInteger, nullable=False),
    sa.Column("step", sa.SmallInteger, nullable=False),
    sa.Column("arm", sa.SmallInteger, nullable=False),
    sa.Column("at", sa.BigInteger, nullable=False),
    schema=HISTORY,
    sqlite_with_rowid=False,
)

# The events of these users: how many of a metric were counted, and the sum of their values.
user_events = sa.Table(
    "user_events",
    metadata,
    sa.Column("release", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("metric", sa.SmallInteger, primary_key=True, autoincrement=False),
    sa.Column("unit", sa.Text, primary_key=True),
    sa.Column("step", sa.SmallInteger, nullable=False),
    sa.Column("arm", sa.SmallInteger, nullable=False),
    sa.Column("events", sa.Integer, nullable=False),
    sa.Column("total", sa.Float, nullable=False),
    schema=HISTORY,
    sqlite_with_rowid=False,
)
