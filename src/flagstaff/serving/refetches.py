"""Refetches: requests of clients in browsers that have flags, for the present ones.

A client that sends back the tag of an answer is known by its name. It has a share of its own, so that a change reaches
all people behind an address, however many of them open a page at the same time: a few requests for each revision of the
environment, as the server tells of each on the streams. Names come only with answers, so the shares of all that an
address has been given are bounded, and so is their sum.
"""

from collections.abc import Hashable, Mapping

from flagstaff.limits.limiter import SlidingWindow
from flagstaff.serving.client_names import ClientNames
from flagstaff.settings import RateLimit

REFETCHES_MAX = 10
"""A client's refetches of a revision: more than one, because the tabs of a browser may have one name."""
ADDRESS_FACTOR = 10
"""How many times the limit on browsers' other requests the refetches and streams of an address are."""
_REMEMBERED_SECONDS = 600


class Refetches:
    """The shares of clients, and the revisions that they are known to have."""

    def __init__(self, limit: RateLimit | None, secret_key: str, *, capacity: int) -> None:
        """`limit` is the one on browsers' requests from one address. At most `capacity` clients are remembered."""
        self.names = ClientNames(secret_key)
        self.of_address: SlidingWindow | None = None
        """The limit of an address on refetches and on opened streams; None if it is off."""
        if limit is not None:
            self.of_address = SlidingWindow(ADDRESS_FACTOR * limit.count, limit.window_seconds, capacity=capacity)
        self._of_client = SlidingWindow(REFETCHES_MAX, _REMEMBERED_SECONDS, capacity=capacity)
        self._confirmed = SlidingWindow(1, _REMEMBERED_SECONDS, capacity=capacity)
        self._ended = SlidingWindow(1, _REMEMBERED_SECONDS, capacity=capacity)

    @property
    def shared(self) -> Mapping[str, SlidingWindow]:
        """The counts that several instances share, by names that they have in common."""
        found = {"refetches": self._of_client, "confirmed_revisions": self._confirmed, "ended_streams": self._ended}
        return found if self.of_address is None else {**found, "refetches_of_address": self.of_address}

    def admit(self, name: str, revision: int, client: Hashable) -> bool:
        """Count a request of a named client while its environment has this revision; False beyond the shares."""
        if self._of_client.hit((name, revision)):
            return False
        if self.of_address is not None and self.of_address.hit(client):
            self._of_client.forgive((name, revision))
            return False
        return True

    def has_fetched(self, name: str, revision: int) -> bool:
        """Return whether a client has fetched flags again since this revision; a first call may not know it yet."""
        return self._of_client.known((name, revision)) > 0

    def confirm(self, name: str, revision: int) -> None:
        """Note that a client has the flags of a revision, since it was answered that nothing has changed."""
        self._confirmed.hit((name, revision))

    def is_confirmed(self, name: str, revision: int) -> bool:
        """Return whether a client is known to have the flags of a revision; a first call may not know it yet."""
        return self._confirmed.known((name, revision)) > 0

    def may_end(self, name: str, revision: int) -> bool:
        """Return whether a client's stream may be ended because of a revision, which happens once."""
        return self._ended.hit((name, revision)) == 0
