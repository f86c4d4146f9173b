"""Deletes the users who were counted for releases that do not exist any more, or ended long ago, in small steps."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from flagstaff.database.database import Database
from flagstaff.metrics.events import EVENTS_KEPT_DAYS
from flagstaff.releases import observations_store, releases_store

PURGE_SECONDS = 60.0
_USERS_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class ReleaseRetention:
    """Deletes what was counted for releases that were deleted, and the users of those that ended 90 days ago.

    `passed` returns the time that was seen to pass, by which everything is deleted by age.
    """

    database: Database
    passed: Callable[[], datetime]

    async def purge(self) -> None:
        """Delete them."""
        async with self.database.read_history() as connection:
            numbers = await observations_store.list_numbers(connection)
        if not numbers:
            return
        async with self.database.read() as connection:
            # Read after the history, so a release that is missing here was deleted and not created in between.
            present = await releases_store.list_ids(connection)
            ended = await releases_store.list_ended(connection, self.passed() - timedelta(days=EVENTS_KEPT_DAYS))
        for release_id, number in numbers.items():
            is_gone = release_id not in present
            if is_gone or release_id in ended:
                await self._delete(number, with_sums=is_gone)

    async def _delete(self, number: int, *, with_sums: bool) -> None:
        more = True
        while more:
            async with self.database.write_history() as connection:
                more = await observations_store.delete_users(connection, number, _USERS_AT_ONCE)
        if with_sums:
            async with self.database.write_history() as connection:
                await observations_store.delete_observed(connection, number)
