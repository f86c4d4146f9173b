"""Environments of a project, such as production."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from uuid_utils.compat import uuid7

from flagstaff.changes.changes import Actor, Change, Scope, change_of
from flagstaff.concurrency.pacing import collect
from flagstaff.database.changes_store import record
from flagstaff.database.database import Connection, Database, Transaction
from flagstaff.database.preconditions import ANY_STATE, Precondition
from flagstaff.permissions.permissions import Permission
from flagstaff.projects import environments_store
from flagstaff.projects.access import open_environment, open_project
from flagstaff.projects.hidden_environments_store import hide_environments
from flagstaff.projects.projects import Environment, EnvironmentOrder, is_critical, require_retention
from flagstaff.settings import Settings
from flagstaff.values.errors import invalid_field
from flagstaff.values.keys import require_same_key
from flagstaff.values.lists import WHOLE, Window


@dataclass(frozen=True, slots=True)
class Environments:
    """The use cases of environments. All raise Error NOT_FOUND for resources that are not the actor's."""

    database: Database
    now: Callable[[], datetime]
    settings: Settings

    async def create_environment(
        self, actor: Actor, project_id: UUID, *, key: str, critical: bool | None = None, **values: Any
    ) -> Environment:
        """Create an environment with these fields.

        Raises:
            Error: CONFLICT if the project has one with this key, or no room for another.
        """
        async with self.database.transaction() as transaction:
            await open_project(
                transaction.connection, actor, project_id, Permission.ENVIRONMENTS_WRITE, for_update=True
            )
            return await self.add(transaction, actor, project_id, key=key, critical=critical, **values)

    async def add(
        self,
        transaction: Transaction,
        actor: Actor,
        project_id: UUID,
        *,
        key: str,
        critical: bool | None = None,
        **values: Any,
    ) -> Environment:
        """Create an environment in a project that the actor has opened for an update."""
        environment = self.draft(project_id, key=key, critical=critical, **values)
        await self.require_room(transaction.connection, project_id)
        await environments_store.create_environment(transaction.connection, environment)
        await record(transaction, creation_of(actor, environment))
        return environment

    def draft(self, project_id: UUID, *, key: str, critical: bool | None, **values: Any) -> Environment:
        """An environment with these fields as it would be created now."""
        is_warned_of = is_critical(key, chosen=critical)
        return Environment(uuid7(), project_id, key=key, created_at=self.now(), critical=is_warned_of, **values)

    async def require_room(self, connection: Connection, project_id: UUID) -> None:
        """Raise Error CONFLICT if a project has no room for another environment."""
        present = await environments_store.count_environments(connection, project_id)
        self.settings.max_environments_per_project.require_room(present)

    async def list_environments(self, actor: Actor, project_id: UUID, window: Window = WHOLE) -> list[Environment]:
        """The environments of a project in their order; a position is that, a time of creation and an id."""
        async with self.database.read() as connection:
            await open_project(connection, actor, project_id, Permission.PROJECT_READ)
            found = await environments_store.list_environments(connection, project_id, window)
        return await collect(found)

    async def get_environment(self, actor: Actor, project_id: UUID, environment_id: UUID) -> Environment:
        """One environment."""
        async with self.database.read() as connection:
            return await open_environment(connection, actor, project_id, environment_id, Permission.PROJECT_READ)

    async def update_environment(
        self,
        actor: Actor,
        project_id: UUID,
        environment_id: UUID,
        precondition: Precondition[Environment] = ANY_STATE,
        *,
        key: str | None = None,
        **values: Any,
    ) -> Environment:
        """Update the given fields of an environment: its name, whether it is critical, and its retention.

        Raises:
            Error: INVALID when `key` is given and differs from the current key, which never changes, or when its
                history is to be kept for longer than the instance's.
        """
        scope = Scope(project_id, environment_id)
        async with self.database.transaction() as transaction:
            connection = transaction.connection
            environment = await open_environment(
                connection, actor, project_id, environment_id, Permission.ENVIRONMENTS_WRITE, for_update=True
            )
            await precondition.require(connection, environment, environment_id, project_id)
            require_same_key(environment.key, key)
            updated = replace(environment, **values)
            require_retention(
                updated.history_retention_days,
                environment.history_retention_days,
                self.settings.history_retention_days,
            )
            if updated != environment:
                await environments_store.update_environment(connection, updated)
                change = change_of(actor, "environment.updated", self.now(), scope, before=environment, after=updated)
                await record(transaction, change)
        return updated

    async def order_environments(
        self,
        actor: Actor,
        project_id: UUID,
        environment_ids: Sequence[UUID],
        precondition: Precondition[Sequence[Environment]] = ANY_STATE,
    ) -> list[Environment]:
        """Put the environments of a project in an order, in which each must be once.

        Raises:
            Error: INVALID when one is missing or is not in the project.
        """
        async with self.database.transaction() as transaction:
            connection = transaction.connection
            await open_project(connection, actor, project_id, Permission.ENVIRONMENTS_WRITE, for_update=True)
            present = list(await environments_store.list_environments(connection, project_id))
            await precondition.require(connection, present, project_id, project_id)
            ordered = _in_order(present, environment_ids)
            if ordered != present:
                await environments_store.place_environments(connection, environment_ids)
                before, after = (_order_of(project_id, each) for each in (present, ordered))
                scope = Scope(project_id)
                change = change_of(actor, "environment.reordered", self.now(), scope, before=before, after=after)
                await record(transaction, change)
        return ordered

    async def delete_environment(
        self, actor: Actor, project_id: UUID, environment_id: UUID, precondition: Precondition[Environment] = ANY_STATE
    ) -> None:
        """Delete an environment with its flags, rules and evaluation history; the rows are removed afterwards."""
        scope = Scope(project_id, environment_id)
        async with self.database.transaction() as transaction:
            connection = transaction.connection
            environment = await open_environment(
                connection, actor, project_id, environment_id, Permission.ENVIRONMENTS_WRITE, for_update=True
            )
            await precondition.require(connection, environment, environment_id, project_id)
            await hide_environments(connection, [environment_id])
            change = change_of(actor, "environment.deleted", self.now(), scope, before=environment)
            await record(transaction, change)


def creation_of(actor: Actor, environment: Environment) -> Change:
    """The change by which an environment is created."""
    scope = Scope(environment.project_id, environment.id)
    return change_of(actor, "environment.created", environment.created_at, scope, after=environment)


def _in_order(present: Sequence[Environment], environment_ids: Sequence[UUID]) -> list[Environment]:
    by_id = {each.id: each for each in present}
    given = set(environment_ids)
    missing = [each.name for each in present if each.id not in given]
    if missing:
        raise invalid_field("environment_ids", f"must have all environments of the project; {missing[0]} is missing")
    for each in environment_ids:
        if each not in by_id:
            raise invalid_field("environment_ids", f"must have only environments of the project; {each} is not one")
    return [by_id[each] for each in environment_ids]


def _order_of(project_id: UUID, environments: Sequence[Environment]) -> EnvironmentOrder:
    return EnvironmentOrder(project_id, tuple(each.key for each in environments))
