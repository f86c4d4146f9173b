"""Idempotency keys, and the columns and indexes for filtering a project's audit trail."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

_INDEXES = (
    ["resource_id", "id"],
    ["project_id", "actor_id", "id"],
    ["project_id", "action", "id"],
    ["project_id", "flag_key", "id"],
    ["project_id", "at", "id"],
)

_changes = sa.table(
    "changes",
    sa.column("action", sa.Text),
    sa.column("resource_id", sa.Uuid),
    sa.column("flag_id", sa.Uuid),
    sa.column("flag_key", sa.Text),
    sa.column("after", sa.JSON),
)


def upgrade() -> None:
    """Add the flag's key to the trail, with its indexes, and the table of idempotency keys."""
    op.add_column("changes", sa.Column("flag_key", sa.Text))
    created = _changes.alias("created")
    for columns in _INDEXES:
        op.create_index(f"changes_{'_'.join(columns)}_index", "changes", columns)
    # Every flag has been created once, and its key never changes.
    key = sa.select(sa.func.max(created.c.after["key"].as_string())).where(
        created.c.resource_id == _changes.c.flag_id, created.c.action == "flag.created"
    )
    op.execute(_changes.update().where(_changes.c.flag_id.is_not(None)).values(flag_key=key.scalar_subquery()))
    op.create_table(
        "idempotency_keys",
        sa.Column("account_id", sa.Uuid, nullable=False),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("fingerprint", sa.LargeBinary, nullable=False),
        sa.Column("project_id", sa.Uuid),
        sa.Column("environment_id", sa.Uuid),
        sa.Column("status", sa.SmallInteger),
        sa.Column("body", sa.LargeBinary),
        sa.PrimaryKeyConstraint("account_id", "key", name="idempotency_keys_primary"),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name="idempotency_keys_account_id_reference", ondelete="CASCADE"
        ),
    )
    op.create_index("idempotency_keys_created_at_index", "idempotency_keys", ["created_at"])


def downgrade() -> None:
    """Drop both; the trail keeps its rows."""
    op.drop_table("idempotency_keys")
    for columns in _INDEXES:
        op.drop_index(f"changes_{'_'.join(columns)}_index", "changes")
    op.drop_column("changes", "flag_key")
