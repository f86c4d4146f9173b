"""Sessions, which logins open."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    """Create the table. Tokens of earlier releases have no session and stay valid until they expire."""
    op.create_table(
        "sessions",
        sa.Column("id", sa.Uuid, nullable=False),
        sa.Column("account_id", sa.Uuid, nullable=False),
        sa.Column("device", sa.Text),
        sa.Column("address", sa.Text),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("last_seen_at", sa.BigInteger, nullable=False),
        sa.Column("expires_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("id", name="sessions_primary"),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name="sessions_account_id_reference", ondelete="CASCADE"
        ),
    )
    op.create_index("sessions_account_id_index", "sessions", ["account_id"])
    op.create_index("sessions_expires_at_index", "sessions", ["expires_at"])


def downgrade() -> None:
    """Drop the table. Earlier releases accept the tokens of sessions, but for those that have been ended."""
    op.drop_table("sessions")
