"""The clients from which owners of accounts log in, so that guesses from other clients do not lock them out."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from flagstaff.database.database import Database
from flagstaff.identity.accounts import accounts_store
from flagstaff.identity.accounts.accounts import KNOWN_CLIENT_LIFETIME, Account
from flagstaff.identity.sessions.tokens import Tokens

CLIENTS_PER_ACCOUNT = 100
_NOTED_AGAIN_AFTER = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class TrustedAddresses:
    """The clients (addresses, or IPv6 networks) from which each account's owner has recently logged in."""

    database: Database
    now: Callable[[], datetime]
    tokens: Tokens

    async def is_known(self, email: str, client: str) -> bool:
        """Return whether this client is known for the account with this email, if there is one."""
        async with self.database.read() as connection:
            account = await accounts_store.find_account_by_email(connection, email)
            if account is None:
                return False
            seen_at = await accounts_store.client_seen_at(
                connection, account.id, self.tokens.hash_client(account, client)
            )
        return seen_at is not None and seen_at > self.now() - KNOWN_CLIENT_LIFETIME

    async def remember(self, account: Account, client: str) -> None:
        """Remember for 90 days that the owner of an account, as it was then, used its password at this client.

        Most calls write nothing. Neither does one whose password has been changed since.
        """
        now = self.now()
        client_hash = self.tokens.hash_client(account, client)
        async with self.database.read() as connection:
            seen_at = await accounts_store.client_seen_at(connection, account.id, client_hash)
        if seen_at is not None and seen_at > now - _NOTED_AGAIN_AFTER:
            return
        async with self.database.transaction() as transaction:
            connection = transaction.connection
            await accounts_store.lock_account(connection, account.id)
            present = await accounts_store.find_account(connection, account.id)
            if present is None or present.password_hash != account.password_hash:
                return
            await accounts_store.record_client(connection, account.id, client_hash, now)
            await accounts_store.forget_clients_beyond(connection, account.id, CLIENTS_PER_ACCOUNT)
