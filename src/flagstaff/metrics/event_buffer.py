"""Events in memory, until the recorder collects them."""

import secrets
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from time import time_ns
from uuid import UUID

from flagstaff.metrics.events import UNKNOWN_MAX, EventBatch, EventGroup, EventRow
from flagstaff.projects.record_origins import Origin, Origins
from flagstaff.projects.sdk_keys import KeyKind
from flagstaff.telemetry.metrics import Metrics
from flagstaff.values.errors import unavailable

# One transaction, which the recording of evaluations waits for; encoding it takes half a millisecond of the event loop.
BATCH_EVENTS = 10_000
WAITING_MAX = 200_000
_ID_BITS = 61
_PROTOCOL = "events"  # as serving.callers names the only way in which events come


@dataclass(slots=True)
class _Part:
    rows: list[EventRow] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    """The place of each row's key among the keys."""


@dataclass(slots=True)
class _Gathered:
    parts: list[_Part] = field(default_factory=lambda: [_Part()])
    """At most `BATCH_EVENTS` in each: parting all of them at once would hold the event loop for milliseconds."""
    unknown: Counter[str] = field(default_factory=Counter)
    keys: dict[int, tuple[int, UUID | None]] = field(default_factory=dict)
    """The place and the id of each key. Ids are told apart as objects, because Python hashes them slowly."""

    def add(self, rows: Sequence[EventRow], key_id: UUID | None) -> None:
        place, _ = self.keys.setdefault(id(key_id), (len(self.keys), key_id))
        start = 0
        while start < len(rows):
            part = self.parts[-1]
            some = rows[start : start + BATCH_EVENTS - len(part.rows)]
            part.rows += some
            part.places += [place] * len(some)
            start += len(some)
            if start < len(rows):
                self.parts.append(_Part())

    def origins(self, part: _Part, instance: str) -> Origins:
        known = [Origin(None, key_id, _PROTOCOL, instance) for _, key_id in self.keys.values()]
        return Origins(known, part.places if len(known) > 1 else ())


class EventBuffer:
    """Collects events by environment and kind of key.

    `accepted` counts them, and `ignored` counts events of unknown metrics. `instance` is the name of this one.
    """

    may_drop = False  # their applications were told that they are stored, and send them again if they are not

    def __init__(self, is_stuck: Callable[[], bool] = lambda: False, *, instance: str = "") -> None:
        """`is_stuck` tells whether the events before can be neither stored nor kept on disk."""
        self._is_stuck = is_stuck
        self._instance = instance
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

    def record(
        self,
        environment_id: UUID,
        rows: Sequence[EventRow],
        unknown: Mapping[str, int],
        kind: KeyKind,
        key_id: UUID | None = None,
    ) -> None:
        """Record events of an environment by a key of a kind, and how many named metrics that do not exist."""
        if not rows and not unknown:
            return
        gathered = self._gathered[environment_id, kind]
        gathered.add(rows, key_id)
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
                [
                    EventGroup(
                        environment_id,
                        part.rows,
                        {} if place else gathered.unknown,
                        kind,
                        gathered.origins(part, self._instance) if part.rows else None,
                    )
                ],
            )
            for (environment_id, kind), gathered in taken.items()
            for place, part in enumerate(gathered.parts)
        ]
