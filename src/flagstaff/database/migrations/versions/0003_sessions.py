"""The tokens that were ended early, and the clients from which each account's owner has logged in."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Create both tables."""
    op.create_table(
        "ended_tokens",
        sa.Column("id", sa.Uuid, nullable=False),
        sa.Column("expires_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("id", name="ended_tokens_primary"),
    )
    op.create_index("ended_tokens_expires_at_index", "ended_tokens", ["expires_at"])
    op.create_table(
        "known_clients",
        sa.Column("account_id", sa.Uuid, nullable=False),
        sa.Column("client_hash", sa.LargeBinary, nullable=False),
        sa.Column("seen_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("account_id", "client_hash", name="known_clients_primary"),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name="known_clients_account_id_reference", ondelete="CASCADE"
        ),
    )


def downgrade() -> None:
    """Drop them."""
    op.drop_table("known_clients")
    op.drop_table("ended_tokens")
