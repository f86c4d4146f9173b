"""Collects when sessions and access tokens are used, so that it is written a few times an hour, outside of requests."""

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from uuid import UUID

from flagstaff.identity.sessions.sessions import SEEN_AGAIN_AFTER


class Sightings:
    """The last use of each credential, as far as it is worth a write, until it is written.

    It is lost if the process is killed. Only credentials that were found in the database are recorded, so there are
    never more than it has.
    """

    def __init__(self) -> None:
        self._seen: dict[UUID, datetime] = {}

    def record(self, credential_id: UUID, stored: datetime | None, now: datetime) -> None:
        """Record that a credential is used; `stored` is its last use in the database."""
        if stored is None or now - stored >= SEEN_AGAIN_AFTER:
            self._seen[credential_id] = now

    def latest(self, credential_id: UUID, stored: datetime) -> datetime:
        """The last use of a credential: it is not in the database as long as that refuses writes."""
        return max(stored, self._seen.get(credential_id, stored))

    async def write(self, write: Callable[[Mapping[UUID, datetime]], Awaitable[None]]) -> None:
        """Write what is not written. If that fails, it is kept for the next time."""
        if seen := dict(self._seen):
            await write(seen)
            self._seen = {each: at for each, at in self._seen.items() if seen.get(each) != at}
