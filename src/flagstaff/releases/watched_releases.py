"""The releases that a process watches: each is read in a `try` of its own, and again only when it was changed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from flagstaff.database.database import Database
from flagstaff.releases import releases_store
from flagstaff.releases.releases import Release
from flagstaff.releases.watching import Part, Watching


@dataclass(slots=True)
class WatchedReleases:
    """The releases of which a part is watched, as they were read last."""

    database: Database
    watching: Watching
    part: Part
    known: dict[UUID, Release] = field(default_factory=dict, init=False)

    async def read(self, wanted: Mapping[UUID, datetime]) -> None:
        """Read the wanted releases, of which the times of the last change are given; leave out what cannot be read."""
        known, self.known = self.known, {}
        for release_id, updated_at in wanted.items():
            found = known.get(release_id)
            if found is None or found.updated_at != updated_at:
                try:
                    async with self.database.read() as connection:
                        found = await releases_store.find_release(connection, release_id)
                except Exception as error:  # noqa: BLE001 - it is told, and the others are still watched
                    self.watching.fail(release_id, self.part, error)
                    continue
            if found is not None:
                self.known[release_id] = found
