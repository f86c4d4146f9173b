"""Invitations to projects, and the mails that were sent for them."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"

_invitations = sa.table("invitations")


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "invitations",
        sa.Column("id", sa.Uuid, nullable=False),
        sa.Column("project_id", sa.Uuid, nullable=False),
        sa.Column("email", sa.Text, nullable=False),
        sa.Column("email_identity", sa.Text, nullable=False),
        sa.Column("role", sa.Text, nullable=False),
        sa.Column("environments", sa.JSON, nullable=False, server_default="{}"),
        sa.Column("inviter_id", sa.Uuid, nullable=False),
        sa.Column("token_hash", sa.LargeBinary),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("expires_at", sa.BigInteger, nullable=False),
        sa.Column("sent_at", sa.BigInteger),
        sa.PrimaryKeyConstraint("id", name="invitations_primary"),
        sa.UniqueConstraint("token_hash", name="invitations_token_hash_unique"),
        sa.UniqueConstraint("project_id", "email_identity", name="invitations_project_id_email_identity_unique"),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name="invitations_project_id_reference", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["inviter_id"], ["accounts.id"], name="invitations_inviter_id_reference", ondelete="CASCADE"
        ),
    )
    op.create_index("invitations_inviter_id_index", "invitations", ["inviter_id"])
    op.create_table(
        "invitation_mails",
        sa.Column("id", sa.Uuid, nullable=False),
        sa.Column("account_id", sa.Uuid, nullable=False),
        sa.Column("email_identity", sa.Text, nullable=False),
        sa.Column("sent_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("id", name="invitation_mails_primary"),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name="invitation_mails_account_id_reference", ondelete="CASCADE"
        ),
    )
    op.create_index("invitation_mails_account_id_sent_at_index", "invitation_mails", ["account_id", "sent_at"])
    op.create_index("invitation_mails_email_identity_sent_at_index", "invitation_mails", ["email_identity", "sent_at"])


def losses(connection: sa.Connection) -> list[str]:
    """Return what a downgrade would drop."""
    number = connection.execute(sa.select(sa.func.count()).select_from(_invitations)).scalar_one()
    return [f"{number} invitations"] if number else []


def downgrade() -> None:
    """Drop the tables; the links of invitations end."""
    op.drop_table("invitation_mails")
    op.drop_table("invitations")
