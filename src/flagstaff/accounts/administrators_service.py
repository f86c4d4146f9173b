"""The instance's administrators: they see and deactivate accounts, and join projects.

They see no flags: for a project of which they are no members, they get the same 404 as everyone. Joining one makes an
administrator a member, which the project's trail shows.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from flagstaff.changes.changes import COMMAND_LINE, Actor, Scope, change_of
from flagstaff.database.changes_store import record
from flagstaff.database.database import Connection, Database, Transaction
from flagstaff.database.preconditions import ANY_STATE, Precondition
from flagstaff.identity.accounts import accounts_store
from flagstaff.identity.accounts.account_changes import end_session
from flagstaff.identity.accounts.accounts import Account, ListedAccount
from flagstaff.identity.administration import administrators_store
from flagstaff.identity.administration.rights import hold_administrators, require_administrator
from flagstaff.identity.sessions import sessions_store
from flagstaff.identity.sessions.sessions import Session
from flagstaff.permissions.members import Member, Role
from flagstaff.projects import projects_store
from flagstaff.projects.access_tokens import access_tokens_store
from flagstaff.projects.members import members_store
from flagstaff.projects.projects import ListedProject
from flagstaff.values.errors import Code, Error, not_found
from flagstaff.values.lists import WHOLE, Window


@dataclass(frozen=True, slots=True)
class AccountDetails:
    """An account, how many projects count against its quota, its access tokens, and its open sessions."""

    listed: ListedAccount
    projects: int
    tokens: int
    sessions: list[Session]


@dataclass(frozen=True, slots=True)
class Administrators:
    """The use cases of administrators. All raise Error FORBIDDEN for everyone else."""

    database: Database
    now: Callable[[], datetime]

    async def list_accounts(self, actor: Actor, email: str | None, window: Window = WHOLE) -> list[ListedAccount]:
        """The accounts whose address contains a text, newest first; a position is a time of creation and an id."""
        async with self.database.read() as connection:
            await require_administrator(connection, actor)
            return await accounts_store.list_accounts(connection, email or "", window)

    async def get_account(self, actor: Actor, account_id: UUID) -> AccountDetails:
        """One account; raises Error NOT_FOUND."""
        async with self.database.read() as connection:
            await require_administrator(connection, actor)
            return AccountDetails(
                await _get_listed(connection, account_id),
                await projects_store.count_projects(connection, account_id),
                await access_tokens_store.count_account_tokens(connection, account_id),
                await sessions_store.list_sessions(connection, account_id, self.now()),
            )

    async def update_account(
        self,
        actor: Actor,
        account_id: UUID,
        precondition: Precondition[ListedAccount] = ANY_STATE,
        *,
        active: bool | None = None,
        administrator: bool | None = None,
    ) -> ListedAccount:
        """Deactivate or reactivate an account, or make it an administrator or not one any more; None keeps it.

        Deactivating an account ends its sessions and its access tokens immediately, on every instance.

        Raises:
            Error: NOT_FOUND; CONFLICT if there would be no active administrator any more.
        """
        async with self.database.transaction() as transaction:
            connection = transaction.connection
            present = await hold_administrators(connection, actor)
            await accounts_store.lock_account(connection, account_id)
            listed = await _get_listed(connection, account_id)
            await precondition.require(connection, listed, account_id, None)
            updated = account = listed.account
            if administrator is not None:
                updated = replace(updated, is_administrator=administrator)
            if active is not None and active != account.is_active:
                updated = replace(updated, deactivated_at=None if active else self.now())
            await self._write(transaction, actor, account, updated, present)
            return await _get_listed(connection, account_id)

    async def set_administrator(self, *, email: str, is_administrator: bool) -> Account:
        """The same from the command line, for the account with this email; raises Error NOT_FOUND, CONFLICT."""
        async with self.database.transaction() as transaction:
            connection = transaction.connection
            present = await administrators_store.lock_administrators(connection)
            account = await accounts_store.find_account_by_email(connection, email)
            if account is None:
                raise Error(Code.NOT_FOUND, "There is no account with this email.")
            updated = replace(account, is_administrator=is_administrator)
            return await self._write(transaction, COMMAND_LINE, account, updated, present)

    async def end_session(self, actor: Actor, account_id: UUID, session_id: UUID) -> None:
        """End a session of an account immediately on every instance; raises Error NOT_FOUND."""
        async with self.database.transaction() as transaction:
            await hold_administrators(transaction.connection, actor)
            await end_session(transaction, actor, account_id, session_id, self.now())

    async def list_projects(self, actor: Actor, name: str | None, window: Window = WHOLE) -> list[ListedProject]:
        """The projects whose name contains a text, newest first; a position is a time of creation and an id."""
        assert actor.account_id is not None
        async with self.database.read() as connection:
            await require_administrator(connection, actor)
            return await projects_store.list_all_projects(connection, actor.account_id, name or "", window)

    async def join_project(self, actor: Actor, project_id: UUID, role: Role) -> Member:
        """Make the actor a member of any project; raises Error NOT_FOUND, or CONFLICT if it is one already."""
        assert actor.account_id is not None
        assert actor.email is not None
        now = self.now()
        async with self.database.transaction() as transaction:
            connection = transaction.connection
            project = await projects_store.find_project_for_update(connection, project_id)
            await hold_administrators(connection, actor)
            if project is None:
                raise not_found("project")
            if await members_store.find_member(connection, project_id, actor.account_id) is not None:
                raise Error(Code.CONFLICT, "You are a member of this project already.")
            member = Member(project_id, actor.account_id, actor.email, role, {}, now)
            await members_store.save_member(connection, member)
            await record(transaction, change_of(actor, "member.joined", now, Scope(project_id), after=member))
            return member

    async def _write(
        self, transaction: Transaction, actor: Actor, before: Account, after: Account, present: set[UUID]
    ) -> Account:
        """Store an account, of which `present` are the active administrators; equal values change nothing."""
        connection = transaction.connection
        if not (after.is_administrator and after.is_active) and present == {before.id}:
            raise Error(
                Code.CONFLICT,
                f"{before.email} is the last administrator of this instance. Make another account an administrator "
                "first.",
            )
        if after.is_administrator != before.is_administrator:
            await administrators_store.set_administrator(connection, before.id, is_administrator=after.is_administrator)
            verb = "promoted" if after.is_administrator else "demoted"
            changed = replace(before, is_administrator=after.is_administrator)
            await self._record(transaction, actor, verb, before, changed)
        if after.is_active != before.is_active:
            await accounts_store.set_deactivated(connection, before.id, after.deactivated_at)
            if not after.is_active:
                await sessions_store.end_sessions(connection, before.id)
                await accounts_store.delete_account_tokens(connection, before.id)
            verb = "reactivated" if after.is_active else "deactivated"
            await self._record(transaction, actor, verb, before, after)
        return after

    async def _record(self, transaction: Transaction, actor: Actor, verb: str, before: Account, after: Account) -> None:
        await record(transaction, change_of(actor, f"account.{verb}", self.now(), Scope(), before=before, after=after))


async def _get_listed(connection: Connection, account_id: UUID) -> ListedAccount:
    listed = await accounts_store.find_listed_account(connection, account_id)
    if listed is None:
        raise not_found("account")
    return listed
