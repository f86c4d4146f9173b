"""Changes as what differs from the resource's change before, and the bytes that accounts and projects have written."""

import sqlalchemy as sa
from alembic import op

from flagstaff.database import initial_schema

revision = "1002"
down_revision = "1001"

_ADDED = ("based_on", "delta_bytes", "whole_bytes", "state_digest")
_json = sa.JSON(none_as_null=True)
_changes = sa.table(
    "changes",
    sa.column("id", sa.BigInteger),
    sa.column("resource_id", sa.Uuid),
    sa.column("based_on", sa.BigInteger),
    sa.column("before", _json),
    sa.column("after", _json),
)
_columns = _changes.c
_ROWS_AT_ONCE = 500


def upgrade() -> None:
    """Add columns and tables. A change that has no base is whole, and the bytes written before are not counted."""
    initial_schema.run_statements(op.get_bind(), revision)


def downgrade() -> None:
    """Store all changes as wholes, and drop the columns and tables."""
    connection = op.get_bind()
    resources = sa.select(_columns.resource_id).where(_columns.based_on.is_not(None)).distinct()
    for resource_id in connection.execute(resources).scalars().all():
        _store_wholes(connection, resource_id)
    for column in _ADDED:
        op.drop_column("changes", column)
    op.drop_table("account_recorded_bytes")
    op.drop_table("project_recorded_bytes")


def _store_wholes(connection: sa.Connection, resource_id: object) -> None:
    """Go through the changes of a resource, oldest first, some at a time."""
    of_resource = sa.select(_changes).where(_columns.resource_id == resource_id).order_by(_columns.id)
    done, before = 0, {}
    while rows := connection.execute(of_resource.where(_columns.id > done).limit(_ROWS_AT_ONCE)).all():
        for row in rows:
            after = row.after or {}
            if row.based_on is not None:
                after = {**before, **after}
                states = {"before": before, "after": after}
                connection.execute(_changes.update().where(_columns.id == row.id).values(states))
            done, before = row.id, after
