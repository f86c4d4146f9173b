"""Changes that require the owner of an account to confirm them with the password, or some of them in another way."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from flagstaff.changes.changes import Actor
from flagstaff.database.database import Connection, Database, Transaction
from flagstaff.identity.accounts import accounts_store
from flagstaff.identity.accounts.accounts import Account
from flagstaff.identity.accounts.passwords import Passwords
from flagstaff.identity.second_factors.code_verification import CodeProof, accept
from flagstaff.identity.second_factors.sealing import Sealer
from flagstaff.identity.sessions import sessions_store
from flagstaff.values.errors import Code, Error, invalid_field

SIGN_IN_COUNTS_FOR = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class Confirmations:
    """Asks owners of accounts to prove that they are more than someone with their session."""

    database: Database
    now: Callable[[], datetime]
    passwords: Passwords
    sealer: Sealer

    async def confirm(self, actor: Actor, proof: str | CodeProof | None, client: str = "") -> None:
        """Accept the password or the code of a second factor; a change that follows must hold the session.

        Without a proof, an account that signs in at an identity provider must have opened this session within the last
        ten minutes: it may have neither.

        Raises:
            Error: UNAUTHENTICATED for a wrong password; INVALID for a wrong code, or if a proof is missing; LIMITED.
        """
        assert actor.account_id is not None
        if isinstance(proof, str):
            await self._verify(actor.account_id, proof, client)
        elif proof is not None:
            async with self.database.transaction() as transaction:
                await lock(transaction.connection, actor.account_id)
                now = self.now()
                accepted = await accept(transaction.connection, self.sealer, actor.account_id, proof, now)
            if not accepted:
                raise proof.refusal()
        elif not await self._has_just_signed_in(actor.account_id, actor.session_id):
            raise invalid_field(
                "current_password",
                "is required, or the code of your authenticator app; if you sign in at an identity provider, sign out "
                "and in again, and try again within ten minutes",
            )

    @asynccontextmanager
    async def confirmed(
        self, actor: Actor, password: str, client: str = ""
    ) -> AsyncIterator[tuple[Transaction, Account]]:
        """A transaction with the actor's account, locked; raises Error UNAUTHENTICATED for a wrong password."""
        assert actor.account_id is not None
        password_hash = await self._verify(actor.account_id, password, client)
        async with self.database.transaction() as transaction:
            present = await lock(transaction.connection, actor.account_id)
            if present.password_hash != password_hash:
                raise wrong_password()  # another request has changed it
            yield transaction, present

    async def _verify(self, account_id: UUID, password: str, client: str) -> str | None:
        """The hash that a password fits; raises Error UNAUTHENTICATED."""
        async with self.database.read() as connection:
            account = await accounts_store.find_account(connection, account_id)
        password_hash = account.password_hash if account else None
        if not await self.passwords.verify(password, password_hash, client=client):
            raise wrong_password()
        return password_hash

    async def _has_just_signed_in(self, account_id: UUID, session_id: UUID | None) -> bool:
        if session_id is None:
            return False
        now = self.now()
        async with self.database.read() as connection:
            session = await sessions_store.find_session(connection, account_id, session_id, now)
            has_provider = await accounts_store.has_identity(connection, account_id)
        return has_provider and session is not None and now - session.created_at <= SIGN_IN_COUNTS_FOR


async def lock(connection: Connection, account_id: UUID) -> Account:
    """The account, locked until the transaction ends; raises Error UNAUTHENTICATED if it does not exist any more."""
    await accounts_store.lock_account(connection, account_id)
    account = await accounts_store.find_account(connection, account_id)
    if account is None:
        raise Error(Code.UNAUTHENTICATED, "The account does not exist any more.")
    return account


def wrong_password() -> Error:
    """Return the error for a current password that is wrong, or not current any more."""
    return Error(Code.UNAUTHENTICATED, "The current password is wrong.")
