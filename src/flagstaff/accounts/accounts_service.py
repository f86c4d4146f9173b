"""Accounts: registration, the check of a password, and password changes."""

import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from flagstaff.changes.changes import Actor
from flagstaff.database.database import Database
from flagstaff.identity.accounts import accounts_store
from flagstaff.identity.accounts.account_changes import create_account, replace_password, verify_email
from flagstaff.identity.accounts.accounts import (
    KNOWN_CLIENT_LIFETIME,
    RESET_LIFETIME,
    RESET_MAILS_PER_LIFETIME,
    Account,
    refuse_common_password,
)
from flagstaff.identity.accounts.confirmations import wrong_password
from flagstaff.identity.accounts.passwords import Passwords
from flagstaff.identity.second_factors import second_factors_store
from flagstaff.identity.sessions import sessions_store
from flagstaff.identity.sessions.sessions import Origin
from flagstaff.identity.sessions.sessions_service import Sessions, invalid_token
from flagstaff.identity.sessions.tokens import hash_token
from flagstaff.projects.admission import admit, find_invitation
from flagstaff.projects.members import invitations_store
from flagstaff.projects.members.invitations import MAILS_COUNTED_FOR
from flagstaff.values.errors import Code, Error, invalid_field

_SPENT_RESETS_KEPT = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Accounts:
    """The use cases of accounts."""

    database: Database
    now: Callable[[], datetime]
    passwords: Passwords
    sessions: Sessions
    mail_reset_token: Callable[[str, str], Awaitable[None]]  # called with the email and the token
    accepts_common_passwords: bool = False

    async def register(self, *, email: str, password: str, invitation: str | None = None, client: str = "") -> Account:
        """Create an account, which becomes a member of a project if the token of its invitation is given.

        The first account of an instance is its administrator.

        Raises:
            Error: CONFLICT if the email is taken, INVALID if the password is common or the invitation is not valid
                for it.
        """
        self._check_password(email, password, field="password")
        if invitation is not None:  # before the expensive hash
            async with self.database.read() as connection:
                await find_invitation(connection, invitation, email, self.now(), field="invitation")
        password_hash = await self.passwords.hash(password, client=client)
        async with self.database.transaction() as transaction:
            account = await create_account(transaction, email, password_hash, self.now(), is_verified=False)
            if invitation is not None:
                actor = Actor(account.id, account.email)
                await admit(transaction, actor, invitation, self.now(), field="invitation")
        return account

    async def verify_password(self, *, email: str, password: str, client: str = "") -> Account:
        """The account with this password; raises Error UNAUTHENTICATED, after the same time whatever is wrong.

        Clients take turns to have passwords checked.
        """
        account = await self.find_account(email)
        verified = await self.passwords.verify(password, account.password_hash if account else None, client=client)
        if account is None or not verified:
            raise Error(Code.UNAUTHENTICATED, "The email or the password is wrong.")
        return account

    async def get_own_account(self, actor: Actor) -> Account:
        """The actor's account."""
        assert actor.account_id is not None
        async with self.database.read() as connection:
            account = await accounts_store.find_account(connection, actor.account_id)
        if account is None:
            raise invalid_token()
        return account

    async def change_password(
        self, actor: Actor, *, current: str, new: str, client: str = "", origin: Origin
    ) -> tuple[Account, str]:
        """Replace the actor's password, which ends every session and reset link.

        Returns the account and the token of a new session.

        Raises:
            Error: UNAUTHENTICATED when `current` is not the current password; INVALID when `new` is common.
        """
        account = await self.get_own_account(actor)
        self._check_password(account.email, new, field="new_password")
        if not await self.passwords.verify(current, account.password_hash, client=client):
            raise wrong_password()
        password_hash = await self.passwords.hash(new, client=client)
        async with self.database.transaction() as transaction:
            await accounts_store.lock_account(transaction.connection, account.id)
            present = await accounts_store.find_account(transaction.connection, account.id)
            if present is None or present.password_hash != account.password_hash:
                raise wrong_password()  # another request has changed it
            action = "account.password_changed"
            changed = await replace_password(
                transaction, actor, account, password_hash, action, self.now(), ends_tokens=False
            )
            return changed, await self.sessions.open_within(transaction.connection, changed, origin)

    async def find_account(self, email: str) -> Account | None:
        """The account with this email, if there is one."""
        async with self.database.read() as connection:
            return await accounts_store.find_account_by_email(connection, email)

    async def send_reset(self, account: Account) -> None:
        """Mail a reset link. Sends at most three in half an hour and silently ignores further requests."""
        token, now = secrets.token_urlsafe(32), self.now()
        async with self.database.transaction() as transaction:
            connection = transaction.connection
            await accounts_store.lock_account(connection, account.id)
            await accounts_store.delete_resets_before(connection, now - _SPENT_RESETS_KEPT)
            if (
                await accounts_store.count_resets_since(connection, account.id, now - RESET_LIFETIME)
                >= RESET_MAILS_PER_LIFETIME
            ):
                return
            await accounts_store.create_reset(
                connection,
                token_hash=hash_token(token),
                account_id=account.id,
                created_at=now,
                expires_at=now + RESET_LIFETIME,
            )
        await self.mail_reset_token(account.email, token)

    async def reset_password(
        self, *, token: str, new_password: str, keeps_tokens: bool = False, client: str = ""
    ) -> Account:
        """Set a new password with a reset link, which invalidates every outstanding link and ends every session.

        Whoever had the old password may have made access tokens. So they end as well, unless they are to be kept. If
        nobody has shown before that the account reads the address's mail, somebody else may have registered it, so its
        second factors and access tokens end in any case.

        Raises:
            Error: INVALID, with the same text for an unknown, used or expired token, or naming the field when the
                password is common.
        """
        async with self.database.read() as connection:
            owner_id = await accounts_store.find_reset_account(connection, hash_token(token), self.now())
            owner = await accounts_store.find_account(connection, owner_id) if owner_id else None
        if owner is None:
            raise _invalid_reset()  # before the expensive hash
        self._check_password(owner.email, new_password, field="newPassword")
        password_hash = await self.passwords.hash(new_password, client=client)
        async with self.database.transaction() as transaction:
            connection = transaction.connection
            account_id = await accounts_store.find_reset_account(connection, hash_token(token), self.now())
            if account_id is None:
                raise _invalid_reset()
            await accounts_store.lock_account(connection, account_id)
            # If several requests use one link at once, the lock lets one pass; the others find the link used.
            if await accounts_store.find_reset_account(connection, hash_token(token), self.now()) is None:
                raise _invalid_reset()
            account = await accounts_store.find_account(connection, account_id)
            assert account is not None
            is_first_proof = account.email_verified_at is None
            account = await verify_email(transaction, account, self.now())
            if is_first_proof:
                await second_factors_store.delete_second_factors(connection, account.id)
            actor, ends_tokens = Actor(account.id, account.email), is_first_proof or not keeps_tokens
            action = "account.password_reset"
            return await replace_password(
                transaction, actor, account, password_hash, action, self.now(), ends_tokens=ends_tokens
            )

    def _check_password(self, email: str, password: str, *, field: str) -> None:
        if self.accepts_common_passwords:
            return
        try:
            refuse_common_password(email, password)
        except ValueError as error:
            raise invalid_field(field, str(error)) from None

    async def purge(self, now: datetime | None = None) -> None:
        """Delete the sessions that have expired, and clients that have not logged in for 90 days.

        Mails of invitations that no limit counts any more are forgotten as well.

        `now` is the time that was seen to pass, here and in the other methods of this name; by default, the clock's.
        """
        now = now or self.now()
        async with self.database.transaction() as transaction:
            await sessions_store.delete_expired(transaction.connection, now)
            await accounts_store.delete_clients(transaction.connection, now - KNOWN_CLIENT_LIFETIME)
            await invitations_store.forget_mails_before(transaction.connection, now - MAILS_COUNTED_FOR)


def _invalid_reset() -> Error:
    return Error(
        Code.INVALID, "This reset link is not valid: it is unknown, has been used or has expired. Request a new one."
    )
