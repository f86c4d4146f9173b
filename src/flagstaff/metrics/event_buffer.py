"""Events in memory, until the recorder collects them."""

import secrets
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from time import time_ns
from uuid import UUID

from flagstaff.metrics.events import UNKNOWN_MAX, EventBatch, EventGroup, EventRow
from flagstaff.projects.sdk_keys import KeyKind
from flagstaff.telemetry.metrics import Metrics
from flagstaff.values.errors import unavailable

# One transaction, which the recording of evaluations waits for; encoding it takes half a millisecond of the event loop.
BATCH_EVENTS = 10_000
WAITING_MAX = 200_000
_ID_BITS = 61


@dataclass(slots=True)
class _Gathered:
    parts: list[list[EventRow]] = field(default_factory=lambda: [[]])
    """At most `BATCH_EVENTS` in each: parting all of them at once would hold the event loop for milliseconds."""
    unknown: Counter[str] = field(default_factory=Counter)

    def add(self, rows: Sequence[EventRow]) -> None:
        start = 0
        while start < len(rows):
            room = BATCH_EVENTS - len(self.parts[-1])
            self.parts[-1] += rows[start : start + room]
            start += room
            if start < len(rows):
                self.parts.append([])


class EventBuffer:
    """Collects events by environment and kind of key.

    `accepted` counts them, and `ignored` those of unknown metrics.
    """

    may_drop = False  # their applications were told that they are stored, and send them again if they are not

    def __init__(self, is_stuck: Callable[[], bool] = lambda: False) -> None:
        """`is_stuck` tells whether the events before can be neither stored nor kept on disk."""
        self._is_stuck = is_stuck
        self._records = 0
        self.accepted = 0
        self.ignored = 0
        self._gathered: defaultdict[tuple[UUID, KeyKind], _Gathered] = defaultdict(_Gathered)

    def export_metrics(self, metrics: Metrics) -> None:
        """Export the counts of events."""
        metrics.add_counter("events_accepted", "Events of metrics that were accepted.", lambda: self.accepted)
        metrics.add_counter("events_unknown", "Events of metrics that do not exist.", lambda: self.ignored)

    @property
    def records(self) -> int:
        """The number of events that were not taken."""
        return self._records

    def require_room(self, events: int) -> None:
        """Raise Error UNAVAILABLE if so many more events cannot be kept: in memory, or at all."""
        if self._is_stuck():
            raise unavailable("Events cannot be stored now. Send these again shortly.")
        if self._records + events > WAITING_MAX:
            raise unavailable("Too many events wait to be stored. Send these again shortly.")

    def record(self, environment_id: UUID, rows: Sequence[EventRow], unknown: Mapping[str, int], kind: KeyKind) -> None:
        """Record events of an environment by a kind of key, and how many named metrics that do not exist."""
        if not rows and not unknown:
            return
        gathered = self._gathered[environment_id, kind]
        gathered.add(rows)
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
            EventBatch(
                secrets.randbits(_ID_BITS),
                at,
                [EventGroup(environment_id, rows, {} if place else gathered.unknown, kind)],
            )
            for (environment_id, kind), gathered in taken.items()
            for place, rows in enumerate(gathered.parts)
        ]
