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
    # See database/change_states_store.py. If `based_on` is NULL, `before` and `after` are whole.
    sa.Column("based_on", sa.BigInteger),  # the number of the resource's change since which deltas are stored
    sa.Column("delta_bytes", sa.Integer),  # the length of these deltas, up to this one
    sa.Column("whole_bytes", sa.Integer),  # the length of the whole states before and after
    sa.Column("state_digest", sa.BigInteger),  # the keyed digest of the state after
    sa.Index(None, "environment_id", "id"),
    sa.Index(None, "project_id", "id"),
    sa.Index(None, "flag_id", "id"),
    sa.Index(None, "resource_id", "id"),
    sa.Index(None, "project_id", "actor_id", "id"),
    sa.Index(None, "project_id", "action", "id"),
    sa.Index(None, "project_id", "flag_key", "id"),
    sa.Index(None, "project_id", "at", "id"),
)


def _recorded_bytes(noun: str) -> sa.Table:
    """The bytes of changes in a project, or by an account: since the beginning of an hour, and altogether."""
    return sa.Table(
        f"{noun}_recorded_bytes",
        metadata,
        sa.Column("owner_id", sa.ForeignKey(f"{noun}s.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("began_at", Moment, nullable=False),
        sa.Column("in_hour", sa.BigInteger, nullable=False),
        sa.Column("altogether", sa.BigInteger, nullable=False),
    )


project_recorded_bytes, account_recorded_bytes = _recorded_bytes("project"), _recorded_bytes("account")
