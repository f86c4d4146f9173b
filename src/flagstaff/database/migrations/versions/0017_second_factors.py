"""Second factors of accounts, and the challenges that wait for a proof of one."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"

_accounts = sa.table("accounts", sa.column("id"))
_totp = sa.table("totp_secrets", sa.column("account_id"), sa.column("confirmed_at"))
_passkeys = sa.table("passkeys", sa.column("account_id"))


def _account(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["account_id"], ["accounts.id"], name=f"{table}_account_id_reference", ondelete="CASCADE"
    )


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "totp_secrets",
        sa.Column("account_id", sa.Uuid, nullable=False),
        sa.Column("sealed", sa.LargeBinary, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("confirmed_at", sa.BigInteger),
        sa.Column("last_step", sa.BigInteger),
        sa.PrimaryKeyConstraint("account_id", name="totp_secrets_primary"),
        _account("totp_secrets"),
    )
    op.create_table(
        "recovery_codes",
        sa.Column("account_id", sa.Uuid, nullable=False),
        sa.Column("code_hash", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("account_id", "code_hash", name="recovery_codes_primary"),
        _account("recovery_codes"),
    )
    op.create_table(
        "second_factor_failures",
        sa.Column("id", sa.Uuid, nullable=False),
        sa.Column("account_id", sa.Uuid, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("id", name="second_factor_failures_primary"),
        _account("second_factor_failures"),
    )
    op.create_index("second_factor_failures_at_index", "second_factor_failures", ["at"])
    op.create_index("second_factor_failures_account_id_at_index", "second_factor_failures", ["account_id", "at"])
    op.create_table(
        "passkeys",
        sa.Column("id", sa.Uuid, nullable=False),
        sa.Column("account_id", sa.Uuid, nullable=False),
        sa.Column("credential_id", sa.LargeBinary, nullable=False),
        sa.Column("public_key", sa.LargeBinary, nullable=False),
        sa.Column("sign_count", sa.BigInteger, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("last_used_at", sa.BigInteger),
        sa.PrimaryKeyConstraint("id", name="passkeys_primary"),
        sa.UniqueConstraint("credential_id", name="passkeys_credential_id_unique"),
        _account("passkeys"),
    )
    op.create_index("passkeys_account_id_index", "passkeys", ["account_id"])
    op.create_table(
        "challenges",
        sa.Column("token_hash", sa.LargeBinary, nullable=False),
        sa.Column("purpose", sa.Text, nullable=False),
        sa.Column("account_id", sa.Uuid),
        sa.Column("stamp", sa.Text),
        sa.Column("expires_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("token_hash", name="challenges_primary"),
        _account("challenges"),
    )
    op.create_index("challenges_account_id_index", "challenges", ["account_id"])
    op.create_index("challenges_expires_at_index", "challenges", ["expires_at"])
    op.add_column("projects", sa.Column("demands_second_factor", sa.Boolean, nullable=False, server_default=sa.false()))


def losses(connection: sa.Connection) -> list[str]:
    """Return what a downgrade would drop."""
    has_totp = sa.exists().where(_totp.c.account_id == _accounts.c.id, _totp.c.confirmed_at.is_not(None))
    has_passkey = sa.exists().where(_passkeys.c.account_id == _accounts.c.id)
    count = sa.select(sa.func.count()).select_from(_accounts).where(has_totp | has_passkey)
    number = connection.execute(count).scalar_one()
    return [f"the second factors of {number} accounts"] if number else []  # and with them, what projects demand


def downgrade() -> None:
    """Drop the tables; accounts are then protected by their passwords alone."""
    with op.batch_alter_table("projects") as projects:
        projects.drop_column("demands_second_factor")
    for table in ("challenges", "passkeys", "second_factor_failures", "recovery_codes", "totp_secrets"):
        op.drop_table(table)
