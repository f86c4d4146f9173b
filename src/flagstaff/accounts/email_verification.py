"""Verifies with a link in a mail that an account reads the mail of its address, with which anybody can register.

Until then, an account gets no mail in which others have written something. The link works only in a session of the
account: otherwise the owner of the address would verify an account that somebody else has registered with it.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from struct import Struct
from uuid import UUID

from flagstaff.accounts.accounts_service import Accounts
from flagstaff.changes.changes import Actor
from flagstaff.identity.accounts.account_changes import verify_email
from flagstaff.identity.accounts.accounts import VERIFICATION_LIFETIME, Account
from flagstaff.identity.sessions.signed_links import SignedLinks
from flagstaff.values.errors import Code, Error, invalid_field


class VerificationTokens:
    """Makes and reads tokens, which contain an account's id and the time until which they are valid: a day."""

    def __init__(self, secret_key: str) -> None:
        self._links = SignedLinks(secret_key, "email verification", Struct(">16sQ"))

    def issue(self, account_id: UUID, now: datetime) -> str:
        """Make the token of an account."""
        return self._links.make(account_id.bytes, int((now + VERIFICATION_LIFETIME).timestamp()))

    def read(self, token: str, now: datetime) -> UUID | None:
        """Return the account of a token; None if it is not genuine or has expired."""
        account_id, expires_at = self._links.read(token) or (b"", 0)
        return UUID(bytes=account_id) if now.timestamp() < expires_at else None


@dataclass(frozen=True, slots=True)
class EmailVerification:
    """The use cases of verification. `mail_link` mails a token to an account, unless it has got too many mails."""

    accounts: Accounts
    tokens: VerificationTokens
    mail_link: Callable[[Account, str], Awaitable[None]]

    async def require_unverified(self, actor: Actor) -> Account:
        """The actor's account; raises Error CONFLICT if its address is verified."""
        account = await self.accounts.get_own_account(actor)
        if account.email_verified_at is not None:
            raise Error(Code.CONFLICT, "The address of your account is verified already.")
        return account

    async def send_link(self, account: Account) -> None:
        """Mail the link with which the account's owner verifies its address."""
        await self.mail_link(account, self.tokens.issue(account.id, self.accounts.now()))

    async def verify(self, actor: Actor, token: str) -> None:
        """Note that the actor reads its mail; raises Error INVALID, with one text for every reason."""
        now = self.accounts.now()
        account = await self.accounts.get_own_account(actor)
        if self.tokens.read(token, now) != account.id:
            raise invalid_field(
                "token", "is not the token of a valid link for this account; ask for a new link in your account"
            )
        async with self.accounts.database.transaction() as transaction:
            await verify_email(transaction, account, now)
