"""The releases that a process watches: each is read again only when it was changed, and fails alone."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from flagstaff.database.database import Database
from flagstaff.releases import releases_store
from flagstaff.releases.releases import Release
from flagstaff.releases.watching import Part, Watching
from flagstaff.values.lists import parts_of

_AT_ONCE = 100


@dataclass(slots=True)
class WatchedReleases:
    """The releases of which a part is watched, as they were read last."""

    database: Database
    watching: Watching
    part: Part
    known: dict[UUID, Release] = field(default_factory=dict, init=False)

    async def read(self, wanted: Mapping[UUID, datetime]) -> None:
        """Read the wanted releases, of which the times of the last change are given; leave out what cannot be read."""
        old, self.known = self.known, {}
        self.known = {each: old[each] for each, at in wanted.items() if each in old and old[each].updated_at == at}
        changed = [each for each in wanted if each not in self.known]
        for some in parts_of(changed, _AT_ONCE):
            try:
                async with self.database.read() as connection:
                    found = await releases_store.find_releases(connection, some)
            except Exception as error:  # noqa: BLE001 - it is told, and the others are still watched
                found = dict.fromkeys(some, error)
            for release_id, each in found.items():
                if isinstance(each, Exception):
                    self.watching.fail(release_id, self.part, each)
                else:
                    self.known[release_id] = each
