"""Deleted projects whose audit trail is still kept, for administrators, who can order to delete it at once.

The order is a change in the instance's trail, which `audit/retention.py` follows.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from flagstaff.audit import old_changes_store
from flagstaff.audit.deleted_projects import DeletedProject, TrailDeletion
from flagstaff.audit.old_changes_store import TRAIL_DELETED
from flagstaff.changes.changes import Actor, Scope, change_of
from flagstaff.database.changes_store import record
from flagstaff.database.database import Database
from flagstaff.identity.administration.rights import hold_administrators, require_administrator
from flagstaff.values.errors import invalid_field, not_found
from flagstaff.values.lists import WHOLE, Window


@dataclass(frozen=True, slots=True)
class DeletedProjects:
    """The use cases. They raise Error FORBIDDEN for everyone but administrators."""

    database: Database
    now: Callable[[], datetime]

    async def list_deleted(self, actor: Actor, window: Window = WHOLE) -> list[DeletedProject]:
        """List deleted projects with a trail, the last deleted first; a position is a time of deletion and an id."""
        async with self.database.read() as connection:
            await require_administrator(connection, actor)
            return await old_changes_store.list_deleted_projects(connection, window)

    async def delete_trail(self, actor: Actor, project_id: UUID, name: str) -> DeletedProject:
        """Order to delete the trail of a deleted project, whose name confirms that; another order changes nothing.

        Raises:
            Error: NOT_FOUND for a project that exists, or has no trail any more; INVALID for another name.
        """
        now = self.now()
        async with self.database.transaction() as transaction:
            await hold_administrators(transaction.connection, actor)
            found = await old_changes_store.find_deleted_project(transaction.connection, project_id)
            if found is None:
                raise not_found("deleted project")
            if found.name != name:
                raise invalid_field("name", "is not the name of the deleted project")
            if found.ordered_at is not None:
                return found
            order = TrailDeletion(project_id, found.deleted_at)
            await record(transaction, change_of(actor, TRAIL_DELETED, now, Scope(), after=order))
            return replace(found, ordered_at=now)
