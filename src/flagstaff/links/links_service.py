"""Links of a project, which all members see. No evaluation depends on them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from uuid_utils.compat import uuid7

from flagstaff.audit.changes import Actor, Scope, change_of
from flagstaff.audit.changes_store import record
from flagstaff.database.database import Database
from flagstaff.links import links_store
from flagstaff.links.links import Link, require_room
from flagstaff.projects.access import open_project
from flagstaff.projects.permissions import Permission


@dataclass(frozen=True, slots=True)
class Links:
    """The use cases of links. All raise Error NOT_FOUND for resources that are not the actor's."""

    database: Database
    now: Callable[[], datetime]

    async def list_links(self, actor: Actor, project_id: UUID) -> Sequence[Link]:
        """Return the links of a project, oldest first."""
        async with self.database.read() as connection:
            await open_project(connection, actor, project_id, Permission.PROJECT_READ)
            return await links_store.list_links(connection, project_id)

    async def create_link(self, actor: Actor, project_id: UUID, name: str, address: str) -> Link:
        """Add a link; raises Error CONFLICT if there are too many."""
        link = Link(uuid7(), project_id, name, address, self.now())
        async with self.database.transaction() as transaction:
            connection = transaction.connection
            await open_project(connection, actor, project_id, Permission.PROJECT_WRITE, for_update=True)
            require_room(len(await links_store.list_links(connection, project_id)))
            await links_store.create_link(connection, link)
            await record(transaction, change_of(actor, "link.created", link.created_at, Scope(project_id), after=link))
        return link

    async def delete_link(self, actor: Actor, project_id: UUID, link_id: UUID) -> None:
        """Delete a link."""
        async with self.database.transaction() as transaction:
            connection = transaction.connection
            await open_project(connection, actor, project_id, Permission.PROJECT_WRITE, for_update=True)
            link = await links_store.get_link(connection, project_id, link_id)
            await links_store.delete_link(connection, link_id)
            await record(transaction, change_of(actor, "link.deleted", self.now(), Scope(project_id), before=link))
