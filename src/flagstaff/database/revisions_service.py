"""Finds the revision of a project that a request has made, and the revisions that are committed."""

from collections.abc import Mapping
from uuid import UUID

from flagstaff.database.database import Database
from flagstaff.database.revisions import Revision
from flagstaff.database.revisions_store import Written, list_revisions, watch_revision

__all__ = ["Written", "load_revisions", "watch_revision"]


async def load_revisions(database: Database, project_id: UUID) -> Mapping[UUID, Revision]:
    """The committed revisions of a project's environments, by id. It checks no permission: the runtime asks."""
    async with database.query() as connection:
        return await list_revisions(connection, project_id)
