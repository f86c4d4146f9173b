"""Deletion of accounts, by their owners and by administrators.

Everything of an account ends with it, at once and on every instance. Its projects stay, so each must have another
owner. The trail keeps that an account did what it did, by its id; `audit/forgetting.py` takes the address out of it.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID

from flagstaff.accounts import account_deletions_store
from flagstaff.changes.changes import COMMAND_LINE, DELETED_ACCOUNT, Actor, Scope, change_of
from flagstaff.database.changes_store import record
from flagstaff.database.database import Connection, Database, Transaction
from flagstaff.database.preconditions import ANY_STATE, Precondition
from flagstaff.idempotency import idempotency_store
from flagstaff.identity.accounts import accounts_store
from flagstaff.identity.accounts.accounts import Account, ListedAccount
from flagstaff.identity.administration import administrators_store
from flagstaff.identity.administration.rights import require_administrator
from flagstaff.identity.second_factors.sealing import Sealer
from flagstaff.identity.sessions import sessions_store
from flagstaff.projects import projects_store
from flagstaff.projects.access import hold_session
from flagstaff.projects.members import invitations_store, members_store
from flagstaff.projects.members.succession import hand_over
from flagstaff.projects.projects import Project
from flagstaff.values.emails import email_identity
from flagstaff.values.errors import Code, Error, not_found
from flagstaff.values.quotas import Quota

PROJECTS_MAX = 1_000
"""The projects that may have an account as a member, or an invitation by it, when it is deleted."""
_NAMED_MAX = 20


@dataclass(frozen=True, slots=True)
class AccountDeletions:
    """The use cases. All raise Error CONFLICT with what to hand over or to delete first."""

    database: Database
    now: Callable[[], datetime]
    sealer: Sealer = field(repr=False)
    quota: Quota

    async def delete_own(self, actor: Actor) -> None:
        """Delete the actor's account, which has confirmed that."""
        assert actor.account_id is not None
        async with self.database.transaction() as transaction:
            projects = await self._lock_projects(transaction.connection, actor.account_id)
            present = await administrators_store.lock_administrators(transaction.connection)
            await hold_session(transaction.connection, actor)
            own = replace(actor, email=DELETED_ACCOUNT)
            await self._delete(transaction, own, actor.account_id, projects, present)

    async def delete(
        self, actor: Actor, account_id: UUID, precondition: Precondition[ListedAccount] = ANY_STATE
    ) -> None:
        """Delete another account, as an administrator; raises Error FORBIDDEN, NOT_FOUND."""
        async with self.database.transaction() as transaction:
            connection = transaction.connection
            await require_administrator(connection, actor)
            if account_id == actor.account_id:
                raise Error(Code.CONFLICT, "This is your own account. Delete it with POST /api/me/deletion.")
            projects = await self._lock_projects(connection, account_id)
            present = await administrators_store.lock_administrators(connection)
            await require_administrator(connection, actor)  # it may have been demoted while this waited
            await account_deletions_store.hold_account(connection, account_id)
            listed = await accounts_store.find_listed_account(connection, account_id)
            if listed is None:
                raise not_found("account")
            await precondition.require(connection, listed, account_id, None)
            await self._delete(transaction, actor, account_id, projects, present)

    async def delete_by_email(self, email: str) -> Account:
        """The same from the command line."""
        async with self.database.transaction() as transaction:
            connection = transaction.connection
            account = await accounts_store.find_account_by_email(connection, email)
            if account is None:
                raise Error(Code.NOT_FOUND, "There is no account with this email.")
            projects = await self._lock_projects(connection, account.id)
            present = await administrators_store.lock_administrators(connection)
            await self._delete(transaction, COMMAND_LINE, account.id, projects, present)
            return account

    async def _lock_projects(self, connection: Connection, account_id: UUID) -> list[Project]:
        """The projects with the account, locked in the order of their ids, as all that lock several do.

        A request with an Idempotency-Key locks the account before its project, so none may be under way.
        """
        await idempotency_store.hold_back_claims(connection, account_id)
        found = await _list_projects(connection, account_id)
        locked = [await projects_store.find_project_for_update(connection, each) for each in found]
        return [each for each in locked if each is not None]

    async def _delete(
        self,
        transaction: Transaction,
        actor: Actor,
        account_id: UUID,
        projects: list[Project],
        administrators: set[UUID],
    ) -> None:
        connection, now = transaction.connection, self.now()
        await account_deletions_store.hold_account(connection, account_id)
        account = await accounts_store.find_account(connection, account_id)
        if account is None:
            raise not_found("account")
        # A project may have been added while this waited. From now on none can be.
        if not set(await _list_projects(connection, account_id)) <= {each.id for each in projects}:
            raise Error(Code.CONFLICT, "The account has just joined a project. Try again.")
        await account_deletions_store.hold_invitations(connection, account_id, account.email)
        await self._hand_over_all(connection, account, projects, is_last=administrators == {account_id})
        for project in projects:
            await self._leave(transaction, actor, account, project, now)
        await account_deletions_store.delete_invitations_to(connection, account.email)
        await sessions_store.end_sessions(connection, account_id)
        sealed = self.sealer.seal(account.email.encode(), account_id.bytes)
        unnamed = replace(account, email=DELETED_ACCOUNT)
        await record(transaction, change_of(actor, "account.deleted", now, Scope(), before=unnamed))
        await account_deletions_store.delete_account(connection, account_id, sealed)

    async def _hand_over_all(
        self, connection: Connection, account: Account, projects: list[Project], *, is_last: bool
    ) -> None:
        problems = []
        if is_last:
            problems.append("It is the last administrator of this instance: make another account one.")
        for project in projects:
            member = await members_store.find_member(connection, project.id, account.id)
            try:
                if member is not None:
                    await hand_over(connection, project, member, self.quota)
            except Error as error:
                problems.append(f"{project.name} ({project.id}): {error.message}")
        if problems:
            more = f" And {len(problems) - _NAMED_MAX} more." if len(problems) > _NAMED_MAX else ""
            listed = " ".join(problems[:_NAMED_MAX])
            raise Error(Code.CONFLICT, f"The account cannot be deleted yet. {listed}{more}")

    async def _leave(
        self, transaction: Transaction, actor: Actor, account: Account, project: Project, now: datetime
    ) -> None:
        """Take an account out of a project, with its invitations, and those to it."""
        connection, scope = transaction.connection, Scope(project.id)
        for each in await invitations_store.list_of_account(connection, project.id, account.id, account.email):
            is_to_it = email_identity(each.email) == email_identity(account.email)
            invitation = replace(each, email=DELETED_ACCOUNT) if is_to_it else each
            await invitations_store.delete_invitation(connection, each.id)
            await record(transaction, change_of(actor, "invitation.deleted", now, scope, before=invitation))
        member = await members_store.find_member(connection, project.id, account.id)
        if member is not None:
            await members_store.delete_member(connection, project.id, account.id)
            unnamed = replace(member, email=DELETED_ACCOUNT)
            await record(transaction, change_of(actor, "member.removed", now, scope, before=unnamed))


async def _list_projects(connection: Connection, account_id: UUID) -> list[UUID]:
    found = await account_deletions_store.list_projects(connection, account_id, PROJECTS_MAX + 1)
    if len(found) > PROJECTS_MAX:
        raise Error(
            Code.CONFLICT,
            f"The account is in more than {PROJECTS_MAX} projects, or has invited to them. Remove it from some first.",
        )
    return list(found)
