"""The audit trail."""

import sqlalchemy as sa

from flagstaff.database.tables.columns import Moment, metadata

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
