"""Flags, their rules, and the segments that rules refer to."""

import sqlalchemy as sa

from flagstaff.database.tables.columns import Moment, json_list, metadata

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
    json_list("tags"),
    json_list("variants"),
    json_list("prerequisites"),
    sa.Column("archived_at", Moment),
    sa.Column("owner", sa.Text),
    sa.Column("keep", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.UniqueConstraint("environment_id", "key"),
    sa.Index(None, "environment_id", "created_at", "id"),
)

is_archived = flags.c.archived_at.is_not(None)

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
    json_list("conditions"),
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
    json_list("conditions"),
    sa.Column("created_at", Moment, nullable=False),
    sa.Column("updated_at", Moment, nullable=False),
    sa.UniqueConstraint("project_id", "key"),
)
