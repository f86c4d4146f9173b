"""Events in memory, until the recorder collects them."""

import secrets
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from time import time_ns
from uuid import UUID

from flagstaff.metrics.events import UNKNOWN_MAX, EventBatch, EventGroup
from flagstaff.values.errors import unavailable

BATCH_EVENTS = 5_000  # one transaction, which the recording of evaluations waits for
WAITING_MAX = 200_000
_ID_BITS = 61


@dataclass(slots=True)
class _Columns:
    metrics: list[str] = field(default_factory=list)
    units: list[str] = field(default_factory=list)
    times: list[int] = field(default_factory=list)
    values: list[float | None] = field(default_factory=list)
    digests: list[str | None] = field(default_factory=list)
    unknown: Counter[str] = field(default_factory=Counter)


class EventBuffer:
    """Collects events by environment. `accepted` counts them, and `ignored` those of unknown metrics."""

    def __init__(self) -> None:
        self._records = 0
        self.accepted = 0
        self.ignored = 0
        self._columns: defaultdict[UUID, _Columns] = defaultdict(_Columns)

    @property
    def records(self) -> int:
        """The number of events that were not taken."""
        return self._records

    def require_room(self, events: int) -> None:
        """Raise Error UNAVAILABLE if so many more events cannot be kept in memory."""
        if self._records + events > WAITING_MAX:
            raise unavailable("Too many events wait to be stored. Send these again shortly.")

    def record(
        self,
        environment_id: UUID,
        metrics: Sequence[str],
        units: Sequence[str],
        times: Sequence[int],
        values: Sequence[float | None],
        digests: Sequence[str | None],
        unknown: Mapping[str, int],
    ) -> None:
        """Record events of an environment, column by column, and how many named metrics that do not exist."""
        if not units and not unknown:
            return
        columns = self._columns[environment_id]
        columns.metrics += metrics
        columns.units += units
        columns.times += times
        columns.values += values
        columns.digests += digests
        self._records += len(units)
        self.accepted += len(units)
        for metric, events in unknown.items():
            self.ignored += events
            if metric in columns.unknown or len(columns.unknown) < UNKNOWN_MAX:
                columns.unknown[metric] += events

    def take(self) -> list[EventBatch]:
        """Remove all events and return them in batches."""
        taken, self._columns = self._columns, defaultdict(_Columns)
        self._records = 0
        at = time_ns() // 1000
        return [
            EventBatch(secrets.randbits(_ID_BITS), at, [group])
            for environment_id, columns in taken.items()
            for group in _groups(environment_id, columns)
        ]


def _groups(environment_id: UUID, columns: _Columns) -> list[EventGroup]:
    groups = []
    for start in range(0, max(1, len(columns.units)), BATCH_EVENTS):
        part = slice(start, start + BATCH_EVENTS)
        groups.append(
            EventGroup(
                environment_id,
                columns.metrics[part],
                columns.units[part],
                columns.times[part],
                columns.values[part],
                columns.digests[part],
                {} if start else columns.unknown,
            )
        )
    return groups
