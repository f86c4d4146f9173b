"""Verifies with a link in a mail that an account reads the mail of its address, with which anybody can register.

Until then, an account gets no mail in which others have written something.
"""

import hashlib
import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from struct import Struct
from uuid import UUID

from flagstaff.audit.changes import Actor
from flagstaff.database.database import Database
from flagstaff.identity.accounts import accounts_store
from flagstaff.identity.accounts.account_changes import verify_email
from flagstaff.identity.accounts.accounts import VERIFICATION_LIFETIME, Account
from flagstaff.identity.sessions.sessions_service import invalid_token
from flagstaff.values.errors import Code, Error, invalid_field

_CONTENT = Struct(">16sQ")  # the account's id, and the seconds from 1970 until the token expires
_DIGEST_BYTES = 18
_TOKEN_CHARACTERS = (_CONTENT.size + _DIGEST_BYTES) * 4 // 3


class VerificationTokens:
    """Makes and reads the tokens of links: an account's id, a time, and 18 bytes of an HMAC-SHA256 over both."""

    def __init__(self, secret_key: str) -> None:
        self._key = hmac.digest(secret_key.encode(), b"flagstaff email verification", hashlib.sha256)

    def issue(self, account_id: UUID, now: datetime) -> str:
        """Make the token of an account, which is valid for a day: 56 characters that need no escaping in a URL."""
        content = _CONTENT.pack(account_id.bytes, int((now + VERIFICATION_LIFETIME).timestamp()))
        return urlsafe_b64encode(content + self._digest(content)).decode()

    def read(self, token: str, now: datetime) -> UUID | None:
        """Return the account of a token; None if it is not genuine or has expired."""
        if len(token) != _TOKEN_CHARACTERS or not token.isascii():
            return None
        try:
            read = urlsafe_b64decode(token)
        except ValueError:
            return None
        content, digest = read[: _CONTENT.size], read[_CONTENT.size :]
        if not hmac.compare_digest(digest, self._digest(content)):
            return None
        account_id, expires_at = _CONTENT.unpack(content)
        return UUID(bytes=account_id) if now.timestamp() < expires_at else None

    def _digest(self, content: bytes) -> bytes:
        return hmac.digest(self._key, content, hashlib.sha256)[:_DIGEST_BYTES]


@dataclass(frozen=True, slots=True)
class EmailVerification:
    """The use cases of verification. `mail_link` mails a token to an account, unless it has got too many mails."""

    database: Database
    now: Callable[[], datetime]
    tokens: VerificationTokens
    mail_link: Callable[[Account, str], Awaitable[None]]

    async def require_unverified(self, actor: Actor) -> Account:
        """The actor's account; raises Error CONFLICT if its address is verified."""
        assert actor.account_id is not None
        async with self.database.read() as connection:
            account = await accounts_store.find_account(connection, actor.account_id)
        if account is None:
            raise invalid_token()
        if account.email_verified_at is not None:
            raise Error(Code.CONFLICT, "The address of your account is verified already.")
        return account

    async def send_link(self, account: Account) -> None:
        """Mail the link with which the account's owner verifies its address."""
        await self.mail_link(account, self.tokens.issue(account.id, self.now()))

    async def verify(self, token: str) -> None:
        """Note that the account of a link reads its mail; raises Error INVALID, with one text for every reason."""
        account_id = self.tokens.read(token, self.now())
        async with self.database.transaction() as transaction:
            account = account_id and await accounts_store.find_account(transaction.connection, account_id)
            if not account or not account.is_active:
                raise invalid_field(
                    "token",
                    "is not the token of a valid link; ask for a new link in your account",
                )
            await verify_email(transaction, account, self.now())
