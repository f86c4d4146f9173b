"""Favourites of the actor's account in a project. They concern nobody else, so the audit trail does not have them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from flagstaff.changes.changes import Actor
from flagstaff.database.database import Database
from flagstaff.permissions.permissions import Permission
from flagstaff.projects.access import open_membership
from flagstaff.values.errors import not_found
from flagstaff.values.quotas import require_fewer
from flagstaff.views import favourites_store
from flagstaff.views.favourites import FAVOURITES_MAX


@dataclass(frozen=True, slots=True)
class Favourites:
    """The use cases of favourites. All raise Error NOT_FOUND for a project of which the actor is not a member."""

    database: Database
    now: Callable[[], datetime]

    async def list_favourites(self, actor: Actor, project_id: UUID) -> Sequence[str]:
        """The keys of the actor's favourites."""
        async with self.database.read() as connection:
            _, member = await open_membership(connection, actor, project_id, Permission.FLAGS_READ)
            return await favourites_store.list_favourites(connection, member.account_id, project_id)

    async def add_favourite(self, actor: Actor, project_id: UUID, key: str) -> None:
        """Make a flag a favourite, if it is not.

        Raises:
            Error: NOT_FOUND if no environment has a flag with this key, CONFLICT for too many favourites.
        """
        async with self.database.transaction() as transaction:
            connection = transaction.connection
            _, member = await open_membership(connection, actor, project_id, Permission.FLAGS_READ, for_update=True)
            if not await favourites_store.has_flag(connection, project_id, key):
                raise not_found("flag")
            present = await favourites_store.list_favourites(connection, member.account_id, project_id)
            if key not in present:
                require_fewer(len(present), FAVOURITES_MAX, "favourites of yours in this project")
                await favourites_store.add_favourite(connection, member.account_id, project_id, key, self.now())

    async def remove_favourite(self, actor: Actor, project_id: UUID, key: str) -> None:
        """Make a flag no favourite; nothing happens if it is none, or no longer exists."""
        async with self.database.transaction() as transaction:
            connection = transaction.connection
            _, member = await open_membership(connection, actor, project_id, Permission.FLAGS_READ, for_update=True)
            await favourites_store.remove_favourite(connection, member.account_id, project_id, key)
