"""When accounts have shown that they read the mail of their addresses, and one account for each mailbox."""

from collections.abc import Callable
from contextlib import suppress

import idna
import sqlalchemy as sa
from alembic import op

revision = "0041"
down_revision = "0040"

_accounts = sa.table(
    "accounts",
    sa.column("id"),
    sa.column("email", sa.Text),
    sa.column("email_identity", sa.Text),
    sa.column("created_at", sa.BigInteger),
    sa.column("email_verified_at", sa.BigInteger),
)


def upgrade() -> None:
    """Take the addresses of present accounts as verified, and compare addresses with their domains in ASCII.

    Of several accounts with one mailbox, all but the first keep their own spelling.
    """
    op.add_column("accounts", sa.Column("email_verified_at", sa.BigInteger))
    op.execute(sa.update(_accounts).values(email_verified_at=_accounts.c.created_at))
    _write_identities(_with_ascii_domain)


def downgrade() -> None:
    """Compare addresses as they are written, without case."""
    _write_identities(str.lower)
    op.drop_column("accounts", "email_verified_at")


def _write_identities(identity_of: Callable[[str], str]) -> None:
    accounts = _accounts.c
    query = sa.select(accounts.id, accounts.email, accounts.email_identity).order_by(accounts.created_at, accounts.id)
    rows = op.get_bind().execute(query).all()
    taken = {row.email_identity for row in rows}
    for row in rows:
        identity = identity_of(row.email)
        if identity not in taken:
            taken.add(identity)
            op.execute(sa.update(_accounts).where(accounts.id == row.id).values(email_identity=identity))


def _with_ascii_domain(email: str) -> str:
    local, at, domain = email.rpartition("@")
    with suppress(idna.IDNAError):  # no host has this name
        domain = idna.encode(domain, uts46=True, std3_rules=False).decode()
    return f"{local}{at}{domain}".lower()
