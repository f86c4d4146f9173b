"""Identities of accounts at identity providers, and the sign-ins that wait for an answer."""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"

_identities = sa.table("identities")


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "identities",
        sa.Column("issuer", sa.Text, nullable=False),
        sa.Column("subject", sa.Text, nullable=False),
        sa.Column("account_id", sa.Uuid, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("is_only_way", sa.Boolean, nullable=False),
        sa.PrimaryKeyConstraint("issuer", "subject", name="identities_primary"),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name="identities_account_id_reference", ondelete="CASCADE"
        ),
    )
    op.create_index("identities_account_id_index", "identities", ["account_id"])
    op.create_table(
        "given_memberships",
        sa.Column("project_id", sa.Uuid, nullable=False),
        sa.Column("account_id", sa.Uuid, nullable=False),
        sa.Column("issuer", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("project_id", "account_id", name="given_memberships_primary"),
        sa.ForeignKeyConstraint(
            ["project_id", "account_id"],
            ["members.project_id", "members.account_id"],
            name="given_memberships_project_id_reference",
            ondelete="CASCADE",
        ),
    )
    op.create_table(
        "sign_ins",
        sa.Column("state_hash", sa.LargeBinary, nullable=False),
        sa.Column("provider", sa.Text, nullable=False),
        sa.Column("nonce", sa.Text, nullable=False),
        sa.Column("verifier", sa.Text, nullable=False),
        sa.Column("binding_hash", sa.LargeBinary, nullable=False),
        sa.Column("return_to", sa.Text, nullable=False),
        sa.Column("expires_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("state_hash", name="sign_ins_primary"),
    )
    op.create_index("sign_ins_expires_at_index", "sign_ins", ["expires_at"])


def losses(connection: sa.Connection) -> list[str]:
    """Return what a downgrade would drop."""
    number = connection.execute(sa.select(sa.func.count()).select_from(_identities)).scalar_one()
    return [f"the identities of {number} accounts at providers"] if number else []


def downgrade() -> None:
    """Drop the tables. Accounts that only their providers could open need a new password."""
    for table in ("sign_ins", "given_memberships", "identities"):
        op.drop_table(table)
