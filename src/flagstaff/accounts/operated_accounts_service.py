"""Accounts from the command line, for whoever has the database. Nothing here uses the secret key."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from flagstaff.changes.changes import COMMAND_LINE, Scope, change_of
from flagstaff.database.changes_store import record
from flagstaff.database.database import Connection, Database
from flagstaff.identity.accounts import accounts_store
from flagstaff.identity.accounts.account_changes import create_account, replace_password
from flagstaff.identity.accounts.accounts import Account, refuse_common_password
from flagstaff.identity.accounts.passwords import Passwords
from flagstaff.identity.second_factors import second_factors_store
from flagstaff.values.errors import Code, Error, invalid_field


@dataclass(frozen=True, slots=True)
class OperatedAccounts:
    """The use cases of an operator. All but `create` raise Error NOT_FOUND if no account has the email."""

    database: Database
    now: Callable[[], datetime]
    passwords: Passwords
    accepts_common_passwords: bool = False

    async def create(self, *, email: str, password: str) -> Account:
        """Create an account, for whose address the operator vouches. The first of an instance is its administrator.

        Raises:
            Error: CONFLICT if the email is taken, INVALID if the password is common.
        """
        password_hash = await self._hash(email, password)
        async with self.database.transaction() as transaction:
            return await create_account(transaction, email, password_hash, self.now(), is_verified=True)

    async def set_password(self, *, email: str, password: str) -> Account:
        """Replace the password, which ends sessions, access tokens and reset links. Raises Error INVALID also."""
        password_hash = await self._hash(email, password)
        async with self.database.transaction() as transaction:
            account = await _get_account(transaction.connection, email)
            action = "account.password_reset"
            now = self.now()
            await replace_password(transaction, COMMAND_LINE, account, password_hash, action, now, ends_tokens=True)
        return account

    async def remove_second_factors(self, *, email: str) -> Account:
        """Remove all second factors."""
        async with self.database.transaction() as transaction:
            account = await _get_account(transaction.connection, email)
            await accounts_store.lock_account(transaction.connection, account.id)
            await second_factors_store.delete_second_factors(transaction.connection, account.id)
            action = "account.two_factor_reset"
            await record(
                transaction, change_of(COMMAND_LINE, action, self.now(), Scope(), before=account, after=account)
            )
        return account

    async def _hash(self, email: str, password: str) -> str:
        if not self.accepts_common_passwords:
            try:
                refuse_common_password(email, password)
            except ValueError as error:
                raise invalid_field("password", str(error)) from None
        return await self.passwords.hash(password)


async def _get_account(connection: Connection, email: str) -> Account:
    account = await accounts_store.find_account_by_email(connection, email)
    if account is None:
        raise Error(Code.NOT_FOUND, "There is no account with this email.")
    return account
