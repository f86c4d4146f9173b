"""Watches the thresholds of releases: reads what applications reported in the last whole minutes, and has them act.

Each process may look. A threshold acts in the transaction that records it, so it acts once.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID

import structlog

from flagstaff.database.database import Connection, Database
from flagstaff.history.store import request_metrics
from flagstaff.metrics.request_metrics import MEASURES, RequestKind, has_labels, measure_of, of_latest_kind
from flagstaff.releases import releases_store
from flagstaff.releases.plans import Threshold
from flagstaff.releases.releases import Release
from flagstaff.values.errors import Code, Error

WATCH_SECONDS = 2.0
_VALUE_MAX = 1e300  # what was stored before reports were bounded may overflow, and JSON has no infinity

log = structlog.get_logger(__name__)

ActBeyond = Callable[[Release, int, float], Awaitable[None]]
"""Has the threshold of a release at a place act, which a value has passed."""


@dataclass(slots=True)
class ThresholdWatch:
    """Looks again and again; `act` is called when a threshold is to act."""

    database: Database
    act: ActBeyond
    _seen: dict[UUID, tuple[datetime, datetime]] = field(default_factory=dict, init=False)

    async def watch(self) -> None:
        """Compare each threshold that has not acted with the minutes that have passed since the step in force began.

        Nothing is read twice: what was reported in a minute is complete shortly after it.
        """
        async with self.database.read() as connection:
            releases = await releases_store.list_with_thresholds(connection)
            clock = await releases_store.read_clock(connection)
        end = request_metrics.minute_start(request_metrics.minute_of(clock - timedelta(seconds=WATCH_SECONDS)))
        self._seen = {each.id: self._seen[each.id] for each in releases if each.id in self._seen}
        for release in releases:
            state = release.updated_at, end
            if self._seen.get(release.id) == state:
                continue
            for place, threshold in release.waiting_thresholds.items():
                try:
                    await self._watch(release, place, threshold, end)
                except Exception as error:  # the others are still looked at
                    if isinstance(error, Error) and error.code is Code.UNAVAILABLE:
                        raise
                    log.exception("release_threshold_not_watched", release=str(release.id), place=place)
            self._seen[release.id] = state

    async def _watch(self, release: Release, place: int, threshold: Threshold, end: datetime) -> None:
        running = release.running
        start = end - timedelta(minutes=threshold.minutes)
        if running is None or start < running.at:
            return
        async with self.database.read_history() as connection:
            value = await read_value(connection, release.environment_id, threshold, start, end)
        if value is not None and threshold.is_passed_by(value):
            await self.act(release, place, min(max(value, -_VALUE_MAX), _VALUE_MAX))


async def read_value(
    connection: Connection, environment_id: UUID, threshold: Threshold, start: datetime, end: datetime
) -> float | None:
    """The value that a threshold limits, of the minutes from `start` until `end`; None if it is not known.

    A counter of which nothing was reported with the threshold's labels is 0 if something was reported without them: the
    applications run, and have counted nothing.
    """
    of_name = await request_metrics.list_series(connection, environment_id, threshold.request_metric)
    of_kind = [each for each in of_name if threshold.measure in MEASURES[each.kind]]
    if not of_kind:
        return None
    series = of_latest_kind(of_kind)
    kind = series[0].kind

    async def read(ids: list[int]) -> float | None:
        found = await request_metrics.sum_samples(connection, ids, start, end, threshold.minutes)
        return measure_of(threshold.measure, kind, found.get(start, ()), threshold.minutes)

    value = await read([each.id for each in series if has_labels(each, dict(threshold.labels))])
    if value is None and kind is RequestKind.COUNTER and await read([each.id for each in series]) is not None:
        return 0.0
    return value
