"""Events in memory, until the recorder collects them."""

import secrets
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from time import time_ns
from uuid import UUID

from flagstaff.metrics.events import UNKNOWN_MAX, EventBatch, EventGroup, EventRow
from flagstaff.values.errors import unavailable

BATCH_EVENTS = 5_000  # one transaction, which the recording of evaluations waits for
WAITING_MAX = 200_000
_ID_BITS = 61


@dataclass(slots=True)
class _Gathered:
    rows: list[EventRow] = field(default_factory=list)
    unknown: Counter[str] = field(default_factory=Counter)


class EventBuffer:
    """Collects events by environment. `accepted` counts them, and `ignored` those of unknown metrics."""

    def __init__(self) -> None:
        self._records = 0
        self.accepted = 0
        self.ignored = 0
        self._gathered: defaultdict[UUID, _Gathered] = defaultdict(_Gathered)

    @property
    def records(self) -> int:
        """The number of events that were not taken."""
        return self._records

    def require_room(self, events: int) -> None:
        """Raise Error UNAVAILABLE if so many more events cannot be kept in memory."""
        if self._records + events > WAITING_MAX:
            raise unavailable("Too many events wait to be stored. Send these again shortly.")

    def record(self, environment_id: UUID, rows: Sequence[EventRow], unknown: Mapping[str, int]) -> None:
        """Record events of an environment, and how many named metrics that do not exist."""
        if not rows and not unknown:
            return
        gathered = self._gathered[environment_id]
        gathered.rows += rows
        self._records += len(rows)
        self.accepted += len(rows)
        for metric, events in unknown.items():
            self.ignored += events
            if metric in gathered.unknown or len(gathered.unknown) < UNKNOWN_MAX:
                gathered.unknown[metric] += events

    def take(self) -> list[EventBatch]:
        """Remove all events and return them in batches."""
        taken, self._gathered = self._gathered, defaultdict(_Gathered)
        self._records = 0
        at = time_ns() // 1000
        return [
            EventBatch(secrets.randbits(_ID_BITS), at, [group])
            for environment_id, gathered in taken.items()
            for group in _groups(environment_id, gathered)
        ]


def _groups(environment_id: UUID, gathered: _Gathered) -> list[EventGroup]:
    starts = range(0, max(1, len(gathered.rows)), BATCH_EVENTS)
    return [
        EventGroup(environment_id, gathered.rows[start : start + BATCH_EVENTS], {} if start else gathered.unknown)
        for start in starts
    ]
