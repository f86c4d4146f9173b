"""Deletes what was counted for releases that do not exist any more, in small steps."""

from dataclasses import dataclass

from flagstaff.database.database import Database
from flagstaff.releases import observations_store, releases_store

PURGE_SECONDS = 60.0
_USERS_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class ReleaseRetention:
    """Deletes the users of releases that were deleted with their flag, or because newer ones have ended."""

    database: Database

    async def purge(self) -> None:
        """Delete them."""
        async with self.database.read_history() as connection:
            numbers = await observations_store.list_numbers(connection)
        if not numbers:
            return
        async with self.database.read() as connection:
            # Read after the history, so a release that is missing here was deleted and not created in between.
            present = await releases_store.list_ids(connection)
        for release_id, number in numbers.items():
            more = release_id not in present
            while more:
                async with self.database.write_history() as connection:
                    more = await observations_store.delete_some(connection, number, _USERS_AT_ONCE)
