"""Permissions for webhooks of their own; until then they needed those to replace keys and to see the audit trail."""

import sqlalchemy as sa
from alembic import op

revision = "0040"
down_revision = "0039"

_NEEDED = {"keys:rotate", "audit:read"}
_ADDED = ("webhooks:read", "webhooks:write")
_tokens = sa.table("access_tokens", sa.column("id", sa.Uuid), sa.column("permissions", sa.JSON))
_update = _tokens.update().where(_tokens.c.id == sa.bindparam("token")).values(permissions=sa.bindparam("permissions"))


def upgrade() -> None:
    """Give them to the access tokens that could manage webhooks until now."""
    connection = op.get_bind()
    # In the order in which the release before writes when tokens were used, so that the two wait and do not deadlock.
    found = connection.execute(sa.select(_tokens.c.id, _tokens.c.permissions).order_by(_tokens.c.id)).all()
    rows = [
        {"token": token_id, "permissions": list(dict.fromkeys((*permissions, *_ADDED)))}
        for token_id, permissions in found
        if _NEEDED.issubset(permissions)
    ]
    if rows:
        connection.execute(_update, rows)


def downgrade() -> None:
    """Keep them: the release before ignores permissions that it does not know."""
