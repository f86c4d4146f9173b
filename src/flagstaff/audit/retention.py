"""Deletes the audit trail of projects that were deleted, some time later, in short turns of the database's writer."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

import structlog

from flagstaff.audit import old_changes_store
from flagstaff.database.database import Database

PURGE_SECONDS = 3600.0
ORDERS_SECONDS = 2.0

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class TrailRetention:
    """Deletes the trails of projects that were deleted longer ago than `kept`, or as administrators have ordered.

    `passed` returns the time that was seen to pass, by which everything is deleted by age.
    """

    database: Database
    passed: Callable[[], datetime]
    kept: timedelta
    deleted_at_once: int = 100

    async def purge(self) -> None:
        """Delete them."""
        async with self.database.read() as connection:
            ended = await old_changes_store.list_ended_projects(connection, self.passed() - self.kept)
        await self._delete(ended)

    async def purge_ordered(self) -> None:
        """Delete the trails that administrators have ordered to delete at once; after a kill, it goes on."""
        async with self.database.read() as connection:
            ordered = await old_changes_store.list_ordered_projects(connection)
        await self._delete(ordered)

    async def _delete(self, projects: Sequence[UUID]) -> None:
        for project_id in projects:
            more = True
            while more:
                async with self.database.transaction() as transaction:
                    more = await old_changes_store.delete_changes(
                        transaction.connection, project_id, self.deleted_at_once
                    )
            log.info("trail_of_deleted_project_deleted", project_id=str(project_id))
