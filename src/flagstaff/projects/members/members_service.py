"""Members of a project and their roles. When a method returns, every later request sees what it did."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from flagstaff.changes.changes import Actor, Scope, change_of
from flagstaff.database.changes_store import record
from flagstaff.database.database import Database
from flagstaff.database.preconditions import ANY_STATE, Precondition
from flagstaff.permissions.members import Member, Role
from flagstaff.permissions.permissions import OwnPermissions, Permission, own_permissions, require_grant
from flagstaff.projects import environments_store
from flagstaff.projects.access import open_membership
from flagstaff.projects.access_tokens import access_tokens_store
from flagstaff.projects.members import members_store
from flagstaff.projects.members.environment_roles import require_environment_roles
from flagstaff.projects.members.succession import hand_over
from flagstaff.settings import Settings


@dataclass(frozen=True, slots=True)
class Members:
    """The use cases of members. All raise Error NOT_FOUND for a project of which the actor is not a member."""

    database: Database
    now: Callable[[], datetime]
    settings: Settings

    async def list_members(self, actor: Actor, project_id: UUID) -> list[Member]:
        """The members of a project, the longest-standing first."""
        async with self.database.read() as connection:
            await open_membership(connection, actor, project_id, Permission.MEMBERS_READ)
            return await members_store.list_members(connection, project_id)

    async def get_member(self, actor: Actor, project_id: UUID, account_id: UUID) -> Member:
        """One member."""
        async with self.database.read() as connection:
            await open_membership(connection, actor, project_id, Permission.MEMBERS_READ)
            return await members_store.get_member(connection, project_id, account_id)

    async def list_own_permissions(self, actor: Actor, project_id: UUID) -> OwnPermissions:
        """List the actor's permissions in a project."""
        async with self.database.read() as connection:
            _, member = await open_membership(connection, actor, project_id, Permission.PROJECT_READ)
            keys = [each.key for each in await environments_store.list_environments(connection, project_id)]
        return own_permissions(member, keys)

    async def update_member(
        self,
        actor: Actor,
        project_id: UUID,
        account_id: UUID,
        precondition: Precondition[Member] = ANY_STATE,
        **values: Any,
    ) -> Member:
        """Update `role` and `environments` of a member if given; equal values change nothing.

        Raises:
            Error: FORBIDDEN if the actor may not give or take the role, INVALID for an environment that does not exist,
                CONFLICT if the project would have no owner.
        """
        async with self.database.transaction() as transaction:
            connection = transaction.connection
            project, own = await open_membership(
                connection, actor, project_id, Permission.MEMBERS_WRITE, for_update=True
            )
            member = await members_store.get_member(connection, project_id, account_id)
            updated = replace(member, **values)
            require_grant(own, member.role, updated.role)
            await precondition.require(connection, member, account_id, project_id)
            if updated == member:
                return member
            await require_environment_roles(connection, project_id, updated.role, updated.environments)
            if updated.role is not Role.OWNER:
                await hand_over(connection, project, member, self.settings.max_projects_per_account)
            await members_store.save_member(connection, updated)
            change = change_of(actor, "member.updated", self.now(), Scope(project_id), before=member, after=updated)
            await record(transaction, change)
            return updated

    async def remove_member(
        self, actor: Actor, project_id: UUID, account_id: UUID, precondition: Precondition[Member] = ANY_STATE
    ) -> None:
        """Remove a member and the access tokens that it has made; everyone may remove themselves, but no access token.

        Raises:
            Error: FORBIDDEN if the actor may not take the role, CONFLICT if the project would have no owner.
        """
        leaves = account_id == actor.account_id and actor.token is None
        needed = Permission.PROJECT_READ if leaves else Permission.MEMBERS_WRITE
        async with self.database.transaction() as transaction:
            connection = transaction.connection
            project, own = await open_membership(connection, actor, project_id, needed, for_update=True)
            member = await members_store.get_member(connection, project_id, account_id)
            if not leaves:
                require_grant(own, member.role)
            await precondition.require(connection, member, account_id, project_id)
            await hand_over(connection, project, member, self.settings.max_projects_per_account)
            await access_tokens_store.delete_member_tokens(connection, project_id, account_id)
            await members_store.delete_member(connection, project_id, account_id)
            change = change_of(actor, "member.removed", self.now(), Scope(project_id), before=member)
            await record(transaction, change)
