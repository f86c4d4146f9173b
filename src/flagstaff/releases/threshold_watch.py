"""Watches the thresholds of releases: reads what applications reported in the last whole minutes, and has them act.

Each process may look. A threshold acts in the transaction that records it, so it acts once.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID

from flagstaff.database.database import Connection, Database
from flagstaff.history.store import request_metrics
from flagstaff.metrics.request_metrics import MEASURES, RequestKind, has_labels, measure_of, of_latest_kind
from flagstaff.releases import releases_store
from flagstaff.releases.judging import Hold
from flagstaff.releases.plans import Threshold
from flagstaff.releases.releases import Release
from flagstaff.releases.watched_releases import WatchedReleases
from flagstaff.releases.watching import Part, Watching

WATCH_SECONDS = 2.0
_VALUE_MAX = 1e300  # what was stored before reports were bounded may overflow, and JSON has no infinity

ActBeyond = Callable[[Release, int, float], Awaitable[None]]
"""Has the threshold of a release at a place act, which a value has passed."""


@dataclass(slots=True)
class ThresholdWatch:
    """Looks again and again; `act` is called when a threshold is to act."""

    database: Database
    act: ActBeyond
    watching: Watching
    _releases: WatchedReleases = field(init=False)
    _seen: dict[UUID, tuple[datetime, datetime]] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self._releases = WatchedReleases(self.database, self.watching, Part.THRESHOLDS)

    async def watch(self) -> None:
        """Compare each threshold that has not acted with the minutes that have passed since the step in force began.

        Nothing is read twice: what was reported in a minute is complete shortly after it.
        """
        try:
            async with self.database.read() as connection:
                wanted = await releases_store.list_with_thresholds(connection)
                clock = await releases_store.read_clock(connection)
        except Exception as error:
            for release_id in self._releases.known:
                self.watching.fail(release_id, Part.THRESHOLDS, error)
            self._seen.clear()  # whether all can be watched again is to be seen
            raise
        end = _end_of_minutes(clock)
        self.watching.keep(Part.THRESHOLDS, wanted)
        await self._releases.read(wanted)
        self._seen = {each: self._seen[each] for each in wanted if each in self._seen}
        for release in self._releases.known.values():
            state = release.updated_at, end
            if self._seen.get(release.id) == state:
                continue
            is_seen = True
            for place, threshold in release.waiting_thresholds.items():
                try:
                    await self._watch(release, place, threshold, end)
                except Exception as error:  # noqa: BLE001 - the others are still looked at, and this one soon again
                    is_seen = False
                    self.watching.fail(release.id, Part.THRESHOLDS, error, place=place)
            if is_seen:
                self._seen[release.id] = state
                self.watching.succeed(release, Part.THRESHOLDS)

    async def _watch(self, release: Release, place: int, threshold: Threshold, end: datetime) -> None:
        value = await _find_passing(self.database, release, threshold, end)
        if value is not None:
            await self.act(release, place, min(max(value, -_VALUE_MAX), _VALUE_MAX))


async def find_threshold_hold(database: Database, release: Release) -> Hold | None:
    """Return why thresholds keep the next step from beginning: one is about to act, or cannot be read."""
    if release.next_step is None or release.running is None or not release.waiting_thresholds:
        return None
    async with database.read() as connection:
        clock = await releases_store.read_clock(connection)
    end, found = _end_of_minutes(clock), None
    for threshold in release.waiting_thresholds.values():
        try:
            if await _find_passing(database, release, threshold, end) is not None:
                return Hold.THRESHOLD
        except Exception:  # noqa: BLE001 - the watch tells of it
            found = Hold.UNREADABLE_THRESHOLD
    return found


def _end_of_minutes(clock: datetime) -> datetime:
    """The end of the last minute of which all is reported."""
    return request_metrics.minute_start(request_metrics.minute_of(clock - timedelta(seconds=WATCH_SECONDS)))


async def _find_passing(database: Database, release: Release, threshold: Threshold, end: datetime) -> float | None:
    """The value with which a threshold is passed; None if it is not, or if its minutes began before the step."""
    running = release.running
    start = end - timedelta(minutes=threshold.minutes)
    if running is None or start < running.at:
        return None
    async with database.read_history() as connection:
        value = await read_value(connection, release.environment_id, threshold, start, end)
    return value if value is not None and threshold.is_passed_by(value) else None


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
