"""Accounts, their sessions, second factors and tokens, and their identities at identity providers."""

import sqlalchemy as sa

from flagstaff.database.tables.columns import Moment, metadata

accounts = sa.Table(
    "accounts",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("email", sa.Text, nullable=False),
    sa.Column("email_identity", sa.Text, nullable=False, unique=True),
    sa.Column("password_hash", sa.Text, nullable=False),
    sa.Column("created_at", Moment, nullable=False),
    sa.Column("is_administrator", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("deactivated_at", Moment),
    sa.Column("email_verified_at", Moment),
)

# The accounts that were deleted and whose address the audit trail may still have: sealed, with the number of the last
# change that was examined for it, and of the one at which that ends.
deleted_accounts = sa.Table(
    "deleted_accounts",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("sealed", sa.LargeBinary, nullable=False),
    sa.Column("examined", sa.BigInteger, nullable=False),
    sa.Column("until", sa.BigInteger, nullable=False),
)

# The settings that were changed while the instance ran, and its first account.
instance_settings = sa.Table(
    "instance_settings",
    metadata,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("value", sa.Text, nullable=False),
)

password_resets = sa.Table(
    "password_resets",
    metadata,
    sa.Column("token_hash", sa.LargeBinary, primary_key=True),
    sa.Column("account_id", sa.ForeignKey("accounts.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("created_at", Moment, nullable=False),
    sa.Column("expires_at", Moment, nullable=False),
    sa.Column("spent_at", Moment),
)

# The sessions that have not ended. The id is also that of the session's token.
sessions = sa.Table(
    "sessions",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("account_id", sa.ForeignKey("accounts.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("device", sa.Text),
    sa.Column("address", sa.Text),
    sa.Column("created_at", Moment, nullable=False),
    sa.Column("last_seen_at", Moment, nullable=False),
    sa.Column("expires_at", Moment, nullable=False, index=True),
)

# The clients from which the owners of accounts have logged in, as keyed hashes.
known_clients = sa.Table(
    "known_clients",
    metadata,
    sa.Column("account_id", sa.ForeignKey("accounts.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("client_hash", sa.LargeBinary, primary_key=True),
    sa.Column("seen_at", Moment, nullable=False),
)

# The secrets for the codes of authenticator apps, sealed with a key that is derived from the secret key.
totp_secrets = sa.Table(
    "totp_secrets",
    metadata,
    sa.Column("account_id", sa.ForeignKey("accounts.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("sealed", sa.LargeBinary, nullable=False),
    sa.Column("created_at", Moment, nullable=False),
    sa.Column("confirmed_at", Moment),
    sa.Column("last_step", sa.BigInteger),
)

# The recovery codes that have not been used.
recovery_codes = sa.Table(
    "recovery_codes",
    metadata,
    sa.Column("account_id", sa.ForeignKey("accounts.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("code_hash", sa.LargeBinary, primary_key=True),
)

# The wrong codes of the last hour, which are limited by account.
second_factor_failures = sa.Table(
    "second_factor_failures",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("account_id", sa.ForeignKey("accounts.id", ondelete="CASCADE"), nullable=False),
    sa.Column("at", Moment, nullable=False, index=True),
    sa.Index(None, "account_id", "at"),
)

passkeys = sa.Table(
    "passkeys",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("account_id", sa.ForeignKey("accounts.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("credential_id", sa.LargeBinary, nullable=False, unique=True),
    sa.Column("public_key", sa.LargeBinary, nullable=False),
    sa.Column("sign_count", sa.BigInteger, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("created_at", Moment, nullable=False),
    sa.Column("last_used_at", Moment),
)

# Sign-ins that wait for a second factor or a passkey. `stamp` is that of the password of a login.
challenges = sa.Table(
    "challenges",
    metadata,
    sa.Column("token_hash", sa.LargeBinary, primary_key=True),
    sa.Column("purpose", sa.Text, nullable=False),
    sa.Column("account_id", sa.ForeignKey("accounts.id", ondelete="CASCADE"), index=True),
    sa.Column("stamp", sa.Text),
    sa.Column("expires_at", Moment, nullable=False, index=True),
)

# The identities of accounts at identity providers.
identities = sa.Table(
    "identities",
    metadata,
    sa.Column("issuer", sa.Text, primary_key=True),
    sa.Column("subject", sa.Text, primary_key=True),
    sa.Column("account_id", sa.ForeignKey("accounts.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("created_at", Moment, nullable=False),
    sa.Column("is_only_way", sa.Boolean, nullable=False),
)

# The sign-ins that wait for the answer of an identity provider.
sign_ins = sa.Table(
    "sign_ins",
    metadata,
    sa.Column("state_hash", sa.LargeBinary, primary_key=True),
    sa.Column("provider", sa.Text, nullable=False),
    sa.Column("nonce", sa.Text, nullable=False),
    sa.Column("verifier", sa.Text, nullable=False),
    sa.Column("binding_hash", sa.LargeBinary, nullable=False),
    sa.Column("return_to", sa.Text, nullable=False),
    sa.Column("expires_at", Moment, nullable=False, index=True),
)

# The tokens with which machines call the API. Without a project, a token is for all that its account may do.
access_tokens = sa.Table(
    "access_tokens",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("account_id", sa.ForeignKey("accounts.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("project_id", sa.ForeignKey("projects.id", ondelete="CASCADE"), index=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("token_hash", sa.LargeBinary, nullable=False, unique=True),
    sa.Column("permissions", sa.JSON(none_as_null=True), nullable=False),
    sa.Column("environments", sa.JSON(none_as_null=True)),
    sa.Column("created_at", Moment, nullable=False),
    sa.Column("expires_at", Moment),
    sa.Column("last_used_at", Moment),
)
