"""Collects when sessions and access tokens are used, so that it is written a few times an hour, outside of requests."""

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from flagstaff.identity.sessions.sessions import SEEN_AGAIN_AFTER


class Sightings:
    """The last use of each credential, as far as it is worth a write. It is lost if the process is killed."""

    def __init__(self) -> None:
        self._seen: dict[UUID, datetime] = {}

    def record(self, credential_id: UUID, stored: datetime | None, now: datetime) -> None:
        """Record that a credential is used; `stored` is its last use in the database."""
        if stored is None or now - stored >= SEEN_AGAIN_AFTER:
            self._seen[credential_id] = now

    def take(self) -> Mapping[UUID, datetime]:
        """Take the uses since the last call. If they cannot be written, the next use is kept again."""
        seen, self._seen = self._seen, {}
        return seen
