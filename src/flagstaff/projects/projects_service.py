"""Projects, which have members and one SDK key each."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from uuid import UUID

from uuid_utils.compat import uuid7

from flagstaff.changes.changes import Actor, Scope, change_of
from flagstaff.concurrency.pacing import collect
from flagstaff.database.changes_store import record
from flagstaff.database.database import Database, Transaction
from flagstaff.database.preconditions import ANY_STATE, Precondition
from flagstaff.identity.accounts import accounts_store
from flagstaff.identity.second_factors.second_factors_store import has_second_factor
from flagstaff.permissions.members import Member, Role
from flagstaff.permissions.permissions import (
    OwnPermissions,
    Permission,
    may,
    own_permissions,
    record_check,
    require_of_token,
    require_project_creation,
)
from flagstaff.projects import environments_store, projects_store
from flagstaff.projects.access import find_reach, hold_token, limit, open_membership, require_second_factor
from flagstaff.projects.hidden_environments_store import hide_environments_of
from flagstaff.projects.members import members_store
from flagstaff.projects.projects import DEFAULT_ENVIRONMENTS, Environment, Project, is_critical, require_retention
from flagstaff.settings import Settings
from flagstaff.values.keys import new_sdk_key
from flagstaff.values.lists import WHOLE, Window
from flagstaff.values.moments import later_than


@dataclass(frozen=True, slots=True)
class ProjectInFull:
    """A project with its environments, the oldest first, and what the actor may do in it."""

    project: Project
    environments: list[Environment]
    permissions: OwnPermissions


@dataclass(frozen=True, slots=True)
class Projects:
    """The use cases of projects. All raise Error NOT_FOUND for a project of which the actor is not a member.

    The projects that they return have an `sdk_key` only if the actor may read it.
    """

    database: Database
    now: Callable[[], datetime]
    settings: Settings

    async def create_project(self, actor: Actor, *, name: str, description: str | None) -> Project:
        """Create a project with its SDK key and its two environments.

        Raises:
            Error: CONFLICT if the account has no room for another project, FORBIDDEN for an access token that cannot
                create projects.
        """
        assert actor.account_id is not None
        require_project_creation(actor.limits)
        now = self.now()
        project = Project(uuid7(), actor.account_id, name, description, new_sdk_key(), created_at=now, updated_at=now)

        async with self.database.transaction() as transaction:
            await hold_token(transaction.connection, actor)
            # Concurrent creations must each count those before them.
            await accounts_store.lock_account(transaction.connection, actor.account_id)
            present = await projects_store.count_projects(transaction.connection, actor.account_id)
            self.settings.max_projects_per_account.require_room(present)
            await projects_store.create_project(transaction.connection, project)
            await record(transaction, change_of(actor, "project.created", now, Scope(project.id), after=project))
            for place, (label, key) in enumerate(DEFAULT_ENVIRONMENTS):
                # A microsecond apart, so that their order by age is defined.
                created_at = now + timedelta(microseconds=place)
                environment = Environment(uuid7(), project.id, label, key, created_at, is_critical(key))
                await environments_store.create_environment(transaction.connection, environment)
                change = change_of(
                    actor, "environment.created", now, Scope(project.id, environment.id), after=environment
                )
                await record(transaction, change)
        record_check(project.id, Permission.PROJECT_WRITE)
        owner = Member(project.id, actor.account_id, actor.email or "", Role.OWNER, {}, now)
        return _shown(project, limit(actor, owner, None))

    async def list_projects(self, actor: Actor, window: Window = WHOLE) -> list[Project]:
        """The actor's projects, newest first; a position is a time of creation and an id."""
        assert actor.account_id is not None
        require_of_token(actor.limits, Permission.PROJECT_READ)
        async with self.database.read() as connection:
            reach = await find_reach(connection, actor)
            wanted = window if reach is None else WHOLE
            found = await collect(await projects_store.list_projects(connection, actor.account_id, wanted))
            if reach is not None:
                found = window.of([each for each in found if each.id in reach], _position, descending=True)
            ids = [project.id for project in found]
            memberships = await members_store.list_memberships(connection, actor.account_id, ids)
            is_open = {
                demanded: not demanded or await has_second_factor(connection, actor.account_id)
                for demanded in {project.demands_second_factor for project in found}
            }
        return [
            _shown(project, limit(actor, memberships[project.id], reach))
            if is_open[project.demands_second_factor]
            else _locked(project)
            for project in found
        ]

    async def get_project(self, actor: Actor, project_id: UUID) -> Project:
        """One project."""
        async with self.database.read() as connection:
            return _shown(*await open_membership(connection, actor, project_id, Permission.PROJECT_READ))

    async def get_project_in_full(self, actor: Actor, project_id: UUID) -> ProjectInFull:
        """One project with its environments and the actor's permissions."""
        async with self.database.read() as connection:
            project, member = await open_membership(connection, actor, project_id, Permission.PROJECT_READ)
            environments = await collect(await environments_store.list_environments(connection, project_id))
        keys = [each.key for each in environments]
        return ProjectInFull(_shown(project, member), environments, own_permissions(member, keys))

    async def update_project(
        self,
        actor: Actor,
        project_id: UUID,
        precondition: Precondition[Project] = ANY_STATE,
        **values: str | bool | int | None,
    ) -> Project:
        """Update `name`, `description`, `shares_contents` and `history_retention_days` if given.

        Equal values change nothing. Raises Error INVALID for a history that is to be kept longer than the instance's.
        """
        async with self.database.transaction() as transaction:
            project, member = await open_membership(
                transaction.connection, actor, project_id, Permission.PROJECT_WRITE, for_update=True
            )
            await precondition.require(transaction.connection, _shown(project, member), project_id, project_id)
            updated = replace(project, **values)  # type: ignore[arg-type]
            require_retention(
                updated.history_retention_days, project.history_retention_days, self.settings.history_retention_days
            )
            if updated != project:
                updated = await self._write(transaction, "project.updated", actor, project, updated)
            return _shown(updated, member)

    async def demand_second_factor(
        self, actor: Actor, project_id: UUID, precondition: Precondition[Project] = ANY_STATE, *, is_demanded: bool
    ) -> Project:
        """Demand a second factor of every member of a project, or no longer.

        Raises:
            Error: MFA_ENROLMENT_REQUIRED if the actor has none.
        """
        async with self.database.transaction() as transaction:
            connection = transaction.connection
            project, member = await open_membership(
                connection, actor, project_id, Permission.PROJECT_WRITE, for_update=True
            )
            await precondition.require(connection, project, project_id, project_id)
            updated = replace(project, demands_second_factor=is_demanded)
            await require_second_factor(connection, updated, member.account_id)
            if updated != project:
                updated = await self._write(transaction, "project.updated", actor, project, updated)
            return updated

    async def regenerate_key(
        self, actor: Actor, project_id: UUID, precondition: Precondition[Project] = ANY_STATE
    ) -> Project:
        """Give a project a new SDK key; when this returns, the old one is no longer accepted."""
        async with self.database.transaction() as transaction:
            project, member = await open_membership(
                transaction.connection, actor, project_id, Permission.KEYS_ROTATE, for_update=True
            )
            await precondition.require(transaction.connection, _shown(project, member), project_id, project_id)
            updated = replace(project, sdk_key=new_sdk_key())
            updated = await self._write(transaction, "project.key_regenerated", actor, project, updated)
            return _shown(updated, member)

    async def delete_project(
        self, actor: Actor, project_id: UUID, precondition: Precondition[Project] = ANY_STATE
    ) -> None:
        """Delete a project with its environments, flags, rules and evaluation history.

        The rows of its flags are removed afterwards.
        """
        async with self.database.transaction() as transaction:
            project, member = await open_membership(
                transaction.connection, actor, project_id, Permission.PROJECT_DELETE, for_update=True
            )
            await precondition.require(transaction.connection, _shown(project, member), project_id, project_id)
            await hide_environments_of(transaction.connection, project_id)
            await projects_store.delete_project(transaction.connection, project_id)
            change = change_of(actor, "project.deleted", self.now(), Scope(project_id), before=project)
            await record(transaction, change)

    async def _write(
        self, transaction: Transaction, action: str, actor: Actor, before: Project, after: Project
    ) -> Project:
        after = replace(after, updated_at=later_than(before.updated_at, self.now()))
        await projects_store.update_project(transaction.connection, after)
        change = change_of(actor, action, after.updated_at, Scope(after.id), before=before, after=after)
        await record(transaction, change)
        return after


def _position(project: Project) -> tuple[datetime, UUID]:
    return project.created_at, project.id


def _locked(project: Project) -> Project:
    """The project as a member sees it who does not have the second factor that it demands."""
    return replace(project, sdk_key=None)


def _shown(project: Project, member: Member) -> Project:
    """The project as a member sees it."""
    return project if may(member, Permission.KEYS_READ) else replace(project, sdk_key=None)
