"""Access tokens, and the token with which a change was made."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"

_tokens = sa.table("access_tokens")


def upgrade() -> None:
    """Create the table, and name tokens in the trail."""
    op.create_table(
        "access_tokens",
        sa.Column("id", sa.Uuid, nullable=False),
        sa.Column("account_id", sa.Uuid, nullable=False),
        sa.Column("project_id", sa.Uuid),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("token_hash", sa.LargeBinary, nullable=False),
        sa.Column("permissions", sa.JSON, nullable=False),
        sa.Column("environments", sa.JSON),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("expires_at", sa.BigInteger),
        sa.Column("last_used_at", sa.BigInteger),
        sa.PrimaryKeyConstraint("id", name="access_tokens_primary"),
        sa.UniqueConstraint("token_hash", name="access_tokens_token_hash_unique"),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name="access_tokens_account_id_reference", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name="access_tokens_project_id_reference", ondelete="CASCADE"
        ),
    )
    op.create_index("access_tokens_account_id_index", "access_tokens", ["account_id"])
    op.create_index("access_tokens_project_id_index", "access_tokens", ["project_id"])
    op.add_column("changes", sa.Column("token_id", sa.Uuid))
    op.add_column("changes", sa.Column("token_name", sa.Text))


def losses(connection: sa.Connection) -> list[str]:
    """Return what a downgrade would drop."""
    number = connection.execute(sa.select(sa.func.count()).select_from(_tokens)).scalar_one()
    return [f"{number} access tokens"] if number else []


def downgrade() -> None:
    """Drop the table and the names; the tokens end, and the trail keeps its rows."""
    op.drop_column("changes", "token_name")
    op.drop_column("changes", "token_id")
    op.drop_table("access_tokens")
