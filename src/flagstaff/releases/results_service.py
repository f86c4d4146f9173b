"""The results of releases, and the users behind them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple
from uuid import UUID

import structlog

from flagstaff.changes.changes import Actor
from flagstaff.concurrency.worker import in_worker
from flagstaff.database.database import Connection, Database
from flagstaff.flags.access import FlagPath, open_flag
from flagstaff.metrics import metrics_store
from flagstaff.metrics.metrics import Metric
from flagstaff.permissions.permissions import Permission
from flagstaff.releases import observations_store, releases_store
from flagstaff.releases.observations import Done, Observations
from flagstaff.releases.releases import Release
from flagstaff.releases.results import Results, find_results
from flagstaff.releases.threshold_watch import find_threshold_hold

log = structlog.get_logger(__name__)


class ExposedUser(NamedTuple):
    """A user of a release in a step: the steps in force when it was first exposed, and in this one, by their places.

    With the arm and the time of the first exposure, and what it did in the step, by the place of the metric.
    """

    unit: str
    first_segment: int
    segment: int
    arm: int
    at: int
    done: dict[int, Done]


@dataclass(frozen=True, slots=True)
class ReleaseResults:
    """Reads results. All methods raise Error NOT_FOUND for resources that are not the actor's."""

    database: Database

    async def get_results(self, actor: Actor, path: FlagPath, release_id: UUID) -> Results:
        """The results of a release up to now. Their cost does not depend on the number of users."""
        release, metrics = await self._open(actor, path, release_id)
        async with self.database.read_history() as connection:
            observed = await observations_store.find_observed(connection, release_id)
        counted = observed.counted if observed else Observations()
        results = await in_worker(find_results, release, counted, metrics)
        if release.is_open and results.hold is None:
            results = replace(results, hold=await find_threshold_hold(self.database, release))
        for each in results.metrics:
            if each.judgement.failure is not None:
                what = {"release": str(release_id), "metric": each.metric.key}
                log.error("release_metric_not_shown", **what, reason=repr(each.judgement.failure))
        return results

    async def open_users(self, actor: Actor, path: FlagPath, release_id: UUID) -> tuple[Release, "ReleaseUsers"]:
        """A release with its users."""
        release, _ = await self._open(actor, path, release_id)
        return release, ReleaseUsers(self.database, release_id)

    async def _open(self, actor: Actor, path: FlagPath, release_id: UUID) -> tuple[Release, dict[str, Metric]]:
        async with self.database.read() as connection:
            await open_flag(connection, actor, path, Permission.EVALUATIONS_READ)
            release = await releases_store.get_release(connection, path.flag_id, release_id)
            return release, await metrics_store.find_metrics(connection, path.project_id, release.watched)


@dataclass(slots=True)
class ReleaseUsers:
    """Reads the users of a release, some at a time, in the order of their identifiers."""

    database: Database
    release_id: UUID
    _number: int | None = field(default=None, init=False)
    _metrics: int = field(default=0, init=False)
    _segments: Sequence[int] = field(default=(), init=False)
    _after: str = field(default="", init=False)

    async def read(self, limit: int) -> Iterator[ExposedUser] | None:
        """Some users in all of their steps, which are made when they are read; None at the end."""
        async with self.database.read_history() as connection:
            if self._number is None and not await self._observe(connection):
                return None
            number, after = self._number, self._after
            assert number is not None
            units = await observations_store.list_units(connection, number, after, limit)
            if not units:
                return None
            self._after = units[-1]
            exposures = await observations_store.list_exposures(connection, number, after, self._after)
            if max(step for _, step, *_ in exposures) >= len(self._segments):  # another step has begun since
                await self._observe(connection)
            done = [
                await observations_store.list_done_between(connection, number, metric, after, self._after)
                for metric in range(self._metrics)
            ]
        return _exposed(exposures, done, self._segments)

    async def _observe(self, connection: Connection) -> bool:
        """Read the release's steps, which takes long if there are many; return whether it was counted at all."""
        observed = await observations_store.find_observed(connection, self.release_id)
        if observed is None:
            return False
        self._number, self._metrics = observed.number, len(observed.counted.metrics)
        self._segments = [each.segment for each in observed.counted.stretches]
        return True


def _exposed(
    exposures: Iterable[tuple[str, int, int, int]],
    done: Iterable[Iterable[tuple[str, int, int, float, int]]],
    segments: Sequence[int],
) -> Iterator[ExposedUser]:
    by_row: dict[tuple[str, int], dict[int, Done]] = {}
    for metric, rows in enumerate(done):
        for unit, step, events, total, limits in rows:
            by_row.setdefault((unit, step), {})[metric] = Done(events, total, limits)
    before, first = "", 0
    for unit, step, arm, at in exposures:
        if unit != before:
            before, first = unit, segments[step]
        yield ExposedUser(unit, first, segments[step], arm, at, by_row.get((unit, step), {}))
