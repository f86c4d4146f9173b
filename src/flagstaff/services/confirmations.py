"""Changes that require the owner of an account to confirm them with the password."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from uuid import UUID

from flagstaff.domain.accounts import Account
from flagstaff.domain.changes import Actor
from flagstaff.domain.errors import Code, Error
from flagstaff.services.passwords import Passwords
from flagstaff.storage import accounts
from flagstaff.storage.database import Connection, Database, Transaction


@dataclass(frozen=True, slots=True)
class Confirmations:
    """Opens transactions for owners who know their password."""

    database: Database
    passwords: Passwords

    @asynccontextmanager
    async def confirmed(
        self, actor: Actor, password: str, client: str = ""
    ) -> AsyncIterator[tuple[Transaction, Account]]:
        """A transaction with the actor's account, locked; raises Error UNAUTHENTICATED for a wrong password."""
        assert actor.account_id is not None
        async with self.database.read() as connection:
            account = await accounts.find_account(connection, actor.account_id)
        password_hash = account.password_hash if account else None
        if not await self.passwords.verify(password, password_hash, client=client):
            raise wrong_password()
        async with self.database.transaction() as transaction:
            present = await lock(transaction.connection, actor.account_id)
            if present.password_hash != password_hash:
                raise wrong_password()  # another request has changed it
            yield transaction, present


async def lock(connection: Connection, account_id: UUID) -> Account:
    """The account, locked until the transaction ends; raises Error UNAUTHENTICATED if it does not exist any more."""
    await accounts.lock_account(connection, account_id)
    account = await accounts.find_account(connection, account_id)
    if account is None:
        raise Error(Code.UNAUTHENTICATED, "The account does not exist any more.")
    return account


def wrong_password() -> Error:
    """What a current password that is wrong, or not current any more, raises."""
    return Error(Code.UNAUTHENTICATED, "The current password is wrong.")
