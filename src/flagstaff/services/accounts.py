"""Accounts: registration, login, and the way back for who forgot the password."""

import hashlib
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from uuid_utils.compat import uuid7

from flagstaff.domain.accounts import RESET_LIFETIME, RESET_MAILS_PER_LIFETIME, Account
from flagstaff.domain.changes import COMMAND_LINE, Actor, Scope, change_of
from flagstaff.domain.errors import Code, Error
from flagstaff.services.passwords import Passwords
from flagstaff.services.tokens import Tokens
from flagstaff.storage import accounts
from flagstaff.storage.changes import record
from flagstaff.storage.database import Database, Transaction

_SPENT_RESETS_KEPT = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Accounts:
    """The use cases of accounts."""

    database: Database
    now: Callable[[], datetime]
    passwords: Passwords
    tokens: Tokens
    mail_reset_token: Callable[[str, str], Awaitable[None]]  # is handed the email and the token

    async def register(self, *, email: str, password: str) -> Account:
        """Create an account; raises Error CONFLICT if the email is taken."""
        account = Account(uuid7(), email, await self.passwords.hash(password), created_at=self.now())
        async with self.database.transaction() as transaction:
            await accounts.create_account(transaction.connection, account)
            actor = Actor(account.id, account.email)
            await record(
                transaction, change_of(actor, "account.registered", account.created_at, Scope(), after=account)
            )
        return account

    async def log_in(self, *, email: str, password: str) -> str:
        """A bearer token; raises Error UNAUTHENTICATED, after the same time, for whatever is wrong."""
        async with self.database.read() as connection:
            account = await accounts.find_account_by_email(connection, email)
        verified = await self.passwords.verify(password, account.password_hash if account else None)
        if account is None or not verified:
            raise Error(Code.UNAUTHENTICATED, "The email or the password is wrong.")
        return self.tokens.issue(account, self.now())

    async def authenticate(self, token: str) -> Actor:
        """Whose token this is; raises Error UNAUTHENTICATED."""
        claims = self.tokens.read(token, self.now())
        if claims is not None:
            account_id, stamp = claims
            async with self.database.read() as connection:
                account = await accounts.find_account(connection, account_id)
            if account is not None and self.tokens.is_current(account, stamp):
                return Actor(account.id, account.email)
        raise Error(Code.UNAUTHENTICATED, "The access token is malformed, expired or ended by a password reset.")

    async def find_account(self, email: str) -> Account | None:
        """The account with this email, if there is one."""
        async with self.database.read() as connection:
            return await accounts.find_account_by_email(connection, email)

    async def send_reset(self, account: Account) -> None:
        """Mail a reset link; beyond three in half an hour, silently nothing."""
        token, now = secrets.token_urlsafe(32), self.now()
        async with self.database.transaction() as transaction:
            connection = transaction.connection
            await accounts.lock_account(connection, account.id)
            await accounts.delete_resets_before(connection, now - _SPENT_RESETS_KEPT)
            if (
                await accounts.count_resets_since(connection, account.id, now - RESET_LIFETIME)
                >= RESET_MAILS_PER_LIFETIME
            ):
                return
            await accounts.create_reset(
                connection,
                token_hash=_hash(token),
                account_id=account.id,
                created_at=now,
                expires_at=now + RESET_LIFETIME,
            )
        await self.mail_reset_token(account.email, token)

    async def reset_password(self, *, token: str, new_password: str) -> None:
        """Set a new password by a reset link, which spends every outstanding link and ends every token.

        Raises:
            Error: INVALID, with one and the same text for an unknown, used or expired token.
        """
        async with self.database.read() as connection:
            if await accounts.find_reset_account(connection, _hash(token), self.now()) is None:
                raise _invalid_reset()  # before the costly hash
        password_hash = await self.passwords.hash(new_password)
        async with self.database.transaction() as transaction:
            connection = transaction.connection
            account_id = await accounts.find_reset_account(connection, _hash(token), self.now())
            if account_id is None:
                raise _invalid_reset()
            await accounts.lock_account(connection, account_id)
            # Of several who spend one link at once, the lock lets one pass; the others find it spent.
            if await accounts.find_reset_account(connection, _hash(token), self.now()) is None:
                raise _invalid_reset()
            account = await accounts.find_account(connection, account_id)
            assert account is not None
            await self._replace_password(transaction, Actor(account.id, account.email), account, password_hash)

    async def set_password(self, *, email: str, password: str) -> Account:
        """Set an account's password from the command line; raises Error NOT_FOUND."""
        password_hash = await self.passwords.hash(password)
        async with self.database.transaction() as transaction:
            account = await accounts.find_account_by_email(transaction.connection, email)
            if account is None:
                raise Error(Code.NOT_FOUND, "There is no account with this email.")
            await self._replace_password(transaction, COMMAND_LINE, account, password_hash)
        return account

    async def _replace_password(
        self, transaction: Transaction, actor: Actor, account: Account, password_hash: str
    ) -> None:
        now = self.now()
        await accounts.set_password_hash(transaction.connection, account.id, password_hash)
        await accounts.spend_resets(transaction.connection, account.id, now)
        change = change_of(actor, "account.password_reset", now, Scope(), before=account, after=account)
        await record(transaction, change)


def _hash(token: str) -> bytes:
    # The token has 256 random bits, so a fast hash hides it well enough; NUL or surrogates in a guess must not raise.
    return hashlib.sha256(token.encode(errors="surrogatepass")).digest()


def _invalid_reset() -> Error:
    return Error(
        Code.INVALID, "This reset link is not valid: it is unknown, has been used or has expired. Request a new one."
    )
