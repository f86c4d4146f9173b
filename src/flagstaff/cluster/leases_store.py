"""The leases of the instances on one database: which instances may be answering, judged by this instance's own clock.

An instance renews its lease again and again, and counts on it for `HOLD_SECONDS` from the moment at which it sent
the renewal. Another one regards the lease as lapsed when two readings of it, `LEASE_SECONDS` apart, show no renewal. So
no clock is compared with another: not with the database's, which may jump, and not with another machine's.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from flagstaff.cluster.lease import LEASE_SECONDS


class Member(NamedTuple):
    """An instance, as the others see it: its id, what people call it, and its version."""

    id: str
    address: str
    version: str


class Row(NamedTuple):
    """Another instance's row. One of the release before leases holds none.

    `acknowledges` is whether it has said that it acknowledges changes, takes lists, and listens to a channel of its own
    (database/messages.py).
    """

    id: str
    address: str
    renewals: int
    is_leaving: bool
    holds_lease: bool
    acknowledges: bool


class Reading(NamedTuple):
    """The rows of all other instances, and a time of the clock: when the statement that read them was sent.

    The time is taken after all waiting for the connection, and before PostgreSQL can have received the statement. So
    the rows are not older than it, and PostgreSQL has noted a renewal in the same statement later than it.
    """

    rows: list[Row]
    began_at: float


@dataclass(slots=True)
class _Seen:
    address: str
    renewals: int
    since: float
    has_lapsed: bool = False


class Leases:
    """The other instances, as readings of the table have shown them."""

    def __init__(self, clock: Callable[[], float], address: str = "") -> None:
        """`address` is this instance's own."""
        self._clock = clock
        self._address = address
        self._seen: dict[str, _Seen] = {}
        self.arrivals = 0
        """The number of times that an instance has appeared, or has renewed a lease that had lapsed."""

    def record(self, rows: Iterable[Row], began_at: float) -> None:
        """Record a reading of all rows of other instances. It was begun at this time of the clock, and has just ended.

        A row that is missing counts as not renewed: a database that has failed over may have lost it.
        """
        now = self._clock()
        present: set[str] = set()
        for row in rows:
            present.add(row.id)
            if row.is_leaving:
                self._seen.pop(row.id, None)
                continue
            seen = self._seen.get(row.id)
            if seen is None or seen.renewals != row.renewals:
                self.arrivals += seen is None or seen.has_lapsed
                self._seen[row.id] = _Seen(row.address, row.renewals, now)
        for instance, seen in list(self._seen.items()):
            if began_at - seen.since >= LEASE_SECONDS:
                seen.has_lapsed = True
                if instance not in present:
                    del self._seen[instance]

    def live(self) -> dict[str, str]:
        """The addresses of the instances whose leases had not lapsed at the last reading, by their ids."""
        return {instance: seen.address for instance, seen in self._seen.items() if not seen.has_lapsed}

    def lapsed(self) -> dict[str, str]:
        """The same for those whose leases had, but not if another one, or this one, has taken the address since."""
        taken = {self._address, *self.live().values()}
        return {
            instance: seen.address
            for instance, seen in self._seen.items()
            if seen.has_lapsed and seen.address not in taken
        }
