"""Collects what is known of applications that evaluate flags themselves, and passes it to the store every second.

Everything is bounded: clients choose their names and what they report.
"""

from asyncio import CancelledError, Lock
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from uuid import UUID

import structlog

from flagstaff.concurrency.supervisor import Supervisor
from flagstaff.history.applications import Client, Connection, Report, claimed
from flagstaff.telemetry.metrics import Metrics
from flagstaff.values.errors import Error, unavailable
from flagstaff.values.keys import KEY_MAX_LENGTH

log = structlog.get_logger(__name__)

WRITE = "applications-write"
WRITE_SECONDS = 1.0
REFRESH_SECONDS = 60.0
"""The pause between two writes that an open stream is alive. The store counts it as closed some time after the last."""
CONNECTIONS_MAX = 1_000  # for each environment
WAITING_COUNTS_MAX = 20_000
MISSING_MAX = 1_000  # different flags that an environment does not have and that are noted within an hour
_REFRESH = timedelta(seconds=REFRESH_SECONDS)
_FORGET = timedelta(minutes=10)
_MISSING_FOR = timedelta(hours=1)

AskedFlag = tuple[UUID, str]
"""An environment's id and a flag's key."""


@dataclass(frozen=True, slots=True)
class Noted:
    """The reports that were collected since the last write."""

    connections: Sequence[Connection]
    reports: Sequence[Report]
    asked: Mapping[AskedFlag, int]


class Applications:
    """Collects reports of applications until they are written, and knows the instances that were heard of lately."""

    def __init__(
        self,
        write: Callable[[Noted], Awaitable[int]],
        is_stored: Callable[[UUID, Client], Awaitable[bool]],
        supervisor: Supervisor,
        now: Callable[[], datetime],
    ) -> None:
        """`write` stores what was collected, and returns how many counts it dropped because there were too many.

        It gets the reports again if it raised an Error, which may pass. `is_stored` tells whether an instance is.
        """
        self.dropped = 0
        """The number of reported counts that were not stored: there were too many, or the store did not accept them."""
        self._write = write
        self._is_stored = is_stored
        self._supervisor = supervisor
        self._now = now
        self._known: defaultdict[UUID, OrderedDict[tuple[str, str], Connection]] = defaultdict(OrderedDict)
        self._changed: set[tuple[UUID, tuple[str, str]]] = set()
        self._reports: list[Report] = []
        self._waiting_counts = 0
        self._writing = Lock()
        self._asked: Counter[AskedFlag] = Counter()
        self._missing: defaultdict[UUID, set[str]] = defaultdict(set)
        self._missing_since = now()

    def export_metrics(self, metrics: Metrics) -> None:
        """Export the counts that were dropped."""
        metrics.add_counter("reports_dropped", "Reported counts that were not stored.", lambda: self.dropped)

    def start(self) -> None:
        """Start to write."""
        self._supervisor.run_every(WRITE, WRITE_SECONDS, self.write, purpose="stores what applications report")

    async def stop(self, deadline_seconds: float) -> None:
        """Write the rest; if that is not possible, it is lost, which is logged."""
        await self._supervisor.finish(WRITE, deadline_seconds)
        try:
            await self.write()
        except Error as error:
            log.warning("reports_lost", counts=self._waiting_counts, reason=error.message)

    def require_room(self, counts: int) -> None:
        """Raise Error UNAVAILABLE if a report of this many counts cannot be kept, so that its client sends it again."""
        if self._waiting_counts + counts > WAITING_COUNTS_MAX:
            self.dropped += counts
            raise unavailable("Reports cannot be stored right now. Send this one again later.")

    def record_report(self, report: Report) -> None:
        """Count a report; `require_room` must have been called."""
        self._waiting_counts += report.size
        self.dropped += report.dropped
        self._reports.append(report)

    def record_asked(self, environment_id: UUID, flag_key: str, *, exists: bool) -> None:
        """Note that a flag was asked for by its key.

        Anybody with a browser's key, which is public, can ask for any number of flags that do not exist.
        """
        key = claimed(flag_key, KEY_MAX_LENGTH)
        if exists or self._is_listed(environment_id, key):
            self._asked[environment_id, key] += 1

    async def is_new(self, environment_id: UUID, client: Client) -> bool:
        """Return whether nobody has heard of an instance before; never true of one that cannot be remembered."""
        known = self._known[environment_id]
        if (client.application, client.identity) in known or len(known) >= CONNECTIONS_MAX:
            return False
        try:
            return not await self._is_stored(environment_id, client)
        except Error:
            return False

    def record_poll(self, environment_id: UUID, client: Client, revision: int) -> None:
        """Note that an instance asked for its flags and has this revision now."""
        self._record_connection(Connection(environment_id, client, revision, self._now(), streams=False))

    def record_stream(self, environment_id: UUID, client: Client, revision: int) -> None:
        """Note that an instance has been sent this revision on its open stream."""
        self._record_connection(Connection(environment_id, client, revision, self._now(), streams=True))

    def record_closed(self, environment_id: UUID, client: Client) -> None:
        """Note that an instance's stream has ended."""
        known = self._known[environment_id].get((client.application, client.identity))
        if known is not None and known.streams:
            self._record_connection(replace(known, seen_at=self._now(), streams=False))

    async def write(self) -> None:
        """Store what was collected; raises Error UNAVAILABLE, and keeps it, if that is not possible.

        What another call is storing is stored too when this one returns.
        """
        async with self._writing:
            await self._write_collected()

    async def _write_collected(self) -> None:
        self._record_open_streams()
        changed, reports, asked = self._changed, self._reports, self._asked
        if not (changed or reports or asked):
            return
        self._changed, self._reports, self._asked = set(), [], Counter()
        # An instance whose write failed may have made room for another in the meantime.
        connections = [known for environment_id, key in changed if (known := self._known[environment_id].get(key))]
        counts = sum(report.size for report in reports)
        try:
            self.dropped += await self._write(Noted(connections, reports, asked))
        except (Error, CancelledError):
            self._changed |= changed
            self._reports = reports + self._reports
            raise
        except Exception:
            # It would fail again each time, and nothing would be stored any more.
            self._waiting_counts -= counts
            self.dropped += counts
            raise
        self._waiting_counts -= counts

    def _is_listed(self, environment_id: UUID, key: str) -> bool:
        """Return whether a flag that does not exist is one of those that are noted in this hour."""
        now = self._now()
        if now - self._missing_since >= _MISSING_FOR:
            self._missing.clear()
            self._missing_since = now
        listed = self._missing[environment_id]
        if len(listed) < MISSING_MAX:
            listed.add(key)
        return key in listed

    def _record_connection(self, seen: Connection) -> None:
        known = self._known[seen.environment_id]
        key = seen.client.application, seen.client.identity
        if key not in known and len(known) >= CONNECTIONS_MAX:
            oldest = next(iter(known))
            if known[oldest].seen_at > seen.seen_at - _FORGET:
                return  # those that are known stay known, rather than all of them taking turns
            del known[oldest]
            self._changed.discard((seen.environment_id, oldest))
        known[key] = seen
        known.move_to_end(key)
        self._changed.add((seen.environment_id, key))

    def _record_open_streams(self) -> None:
        due = self._now() - _REFRESH
        for known in tuple(self._known.values()):
            for each in [each for each in known.values() if each.streams and each.seen_at <= due]:
                self._record_connection(replace(each, seen_at=self._now()))
