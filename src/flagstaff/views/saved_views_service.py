"""Saved views of a project, which all members see. No evaluation depends on them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from uuid_utils.compat import uuid7

from flagstaff.changes.changes import Actor, Scope, change_of
from flagstaff.database.changes_store import record
from flagstaff.database.database import Connection, Database
from flagstaff.database.preconditions import ANY_STATE, Precondition
from flagstaff.permissions.permissions import Permission, require_anywhere
from flagstaff.projects import environments_store
from flagstaff.projects.access import open_member, open_project
from flagstaff.settings import Settings
from flagstaff.views import saved_views_store
from flagstaff.views.saved_views import SavedView


@dataclass(frozen=True, slots=True)
class SavedViews:
    """The use cases of saved views. All raise Error NOT_FOUND for resources that are not the actor's."""

    database: Database
    now: Callable[[], datetime]
    settings: Settings

    async def list_views(self, actor: Actor, project_id: UUID) -> Sequence[SavedView]:
        """The views of a project by name."""
        async with self.database.read() as connection:
            await open_project(connection, actor, project_id, Permission.PROJECT_READ)
            return await saved_views_store.list_views(connection, project_id)

    async def get_view(self, actor: Actor, project_id: UUID, view_id: UUID) -> SavedView:
        """One view."""
        async with self.database.read() as connection:
            await open_project(connection, actor, project_id, Permission.PROJECT_READ)
            return await saved_views_store.get_view(connection, project_id, view_id)

    async def create_view(self, actor: Actor, project_id: UUID, name: str, search: Mapping[str, Any]) -> SavedView:
        """Save a filter as a view.

        Raises:
            Error: FORBIDDEN for members who may change flags in no environment, CONFLICT if the project has a view with
                this name, or no room.
        """
        view = SavedView(uuid7(), project_id, name, search, self.now())
        async with self.database.transaction() as transaction:
            connection = transaction.connection
            await _open(connection, actor, project_id)
            present = await saved_views_store.count_views(connection, project_id)
            self.settings.max_views_per_project.require_room(present)
            await saved_views_store.create_view(connection, view, actor.account_id)
            await record(transaction, change_of(actor, "view.created", view.created_at, Scope(project_id), after=view))
        return view

    async def update_view(
        self,
        actor: Actor,
        project_id: UUID,
        view_id: UUID,
        precondition: Precondition[SavedView] = ANY_STATE,
        **values: Any,
    ) -> SavedView:
        """Update the given fields of a view. Equal values change nothing.

        Raises:
            Error: As `create_view`.
        """
        async with self.database.transaction() as transaction:
            connection = transaction.connection
            await _open(connection, actor, project_id)
            view = await saved_views_store.get_view(connection, project_id, view_id)
            await precondition.require(connection, view, view_id, project_id)
            updated = replace(view, **values)
            if updated == view:
                return view
            await saved_views_store.update_view(connection, updated)
            change = change_of(actor, "view.updated", self.now(), Scope(project_id), before=view, after=updated)
            await record(transaction, change)
            return updated

    async def delete_view(
        self, actor: Actor, project_id: UUID, view_id: UUID, precondition: Precondition[SavedView] = ANY_STATE
    ) -> None:
        """Delete a view; no flag changes."""
        async with self.database.transaction() as transaction:
            await _open(transaction.connection, actor, project_id)
            view = await saved_views_store.get_view(transaction.connection, project_id, view_id)
            await precondition.require(transaction.connection, view, view_id, project_id)
            await saved_views_store.delete_view(transaction.connection, view_id)
            await record(transaction, change_of(actor, "view.deleted", self.now(), Scope(project_id), before=view))


async def _open(connection: Connection, actor: Actor, project_id: UUID) -> None:
    _, member = await open_member(connection, actor, project_id, for_update=True)
    present = await environments_store.list_environments(connection, project_id)
    require_anywhere(member, Permission.FLAGS_WRITE, (each.key for each in present))
