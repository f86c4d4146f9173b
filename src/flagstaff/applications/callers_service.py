"""The callers of an environment: counted in memory, stored every few seconds, and listed."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from flagstaff.changes.changes import Actor
from flagstaff.database.database import Database
from flagstaff.history.callers import CallerUse
from flagstaff.history.store import callers
from flagstaff.permissions.permissions import Permission
from flagstaff.projects import environments_store
from flagstaff.projects.access import open_environment
from flagstaff.serving.caller_counts import CallerCounts
from flagstaff.values.errors import Error

WRITE_SECONDS = 5.0
KEPT = timedelta(days=30)
LISTED_MAX = 1_000
_WRITTEN_AT_ONCE = 500  # in a transaction
_WRITTEN_EACH_TIME = 2_000


@dataclass(frozen=True, slots=True)
class Callers:
    """The use cases of callers."""

    database: Database
    now: Callable[[], datetime]

    async def write(self, counts: CallerCounts) -> None:
        """Store what was counted, or a part of it that does not take long.

        Raises:
            Error: UNAVAILABLE; what could not be stored is kept.
        """
        for _ in range(_WRITTEN_EACH_TIME // _WRITTEN_AT_ONCE):
            taken = await counts.take(_WRITTEN_AT_ONCE)
            if not taken:
                return
            try:
                async with self.database.write_history() as connection:
                    await callers.add_requests(connection, taken, self.now())
            except (Error, asyncio.CancelledError):
                counts.give_back(taken)
                raise

    async def list_callers(
        self, actor: Actor, project_id: UUID, environment_id: UUID, since: datetime | None, key_id: UUID | None
    ) -> Sequence[CallerUse]:
        """List the callers since a moment, by default all, those that asked last first.

        Raises:
            Error: NOT_FOUND, FORBIDDEN.
        """
        async with self.database.read() as connection:
            await open_environment(connection, actor, project_id, environment_id, Permission.EVALUATIONS_READ)
        now = self.now()
        async with self.database.read_history() as connection:
            oldest = max(since or now - KEPT, now - KEPT)
            return await callers.list_callers(connection, environment_id, oldest, now, LISTED_MAX, key_id)

    async def purge(self, now: datetime) -> None:
        """Delete the callers that have not asked for 30 days by `now`, and the callers of deleted environments."""
        async with self.database.write_history() as connection:
            called = await callers.list_called_environments(connection)
            await callers.delete_callers_before(connection, now - KEPT, now)
        async with self.database.read() as connection:
            # Read after the callers, so an environment that is missing here was deleted.
            existing = await environments_store.list_environment_ids(connection)
        for environment_id in called - existing:
            async with self.database.write_history() as connection:
                await callers.delete_callers(connection, environment_id)
