"""The results of releases, and the users behind them."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple
from uuid import UUID

import structlog

from flagstaff.changes.changes import Actor
from flagstaff.concurrency.worker import in_worker
from flagstaff.database.database import Database
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

_USERS_AT_ONCE = 400


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

    async def open_users(
        self, actor: Actor, path: FlagPath, release_id: UUID
    ) -> tuple[Release, AsyncIterator[Sequence[ExposedUser]]]:
        """A release with its users, some at a time, in the order of their identifiers."""
        release, _ = await self._open(actor, path, release_id)
        return release, self._list_users(release_id)

    async def _open(self, actor: Actor, path: FlagPath, release_id: UUID) -> tuple[Release, dict[str, Metric]]:
        async with self.database.read() as connection:
            await open_flag(connection, actor, path, Permission.EVALUATIONS_READ)
            release = await releases_store.get_release(connection, path.flag_id, release_id)
            return release, await metrics_store.find_metrics(connection, path.project_id, release.watched)

    async def _list_users(self, release_id: UUID) -> AsyncIterator[Sequence[ExposedUser]]:
        after = ""
        while True:
            async with self.database.read_history() as connection:
                observed = await observations_store.find_observed(connection, release_id)
                if observed is None:
                    return
                number, counted = observed.number, observed.counted
                units = await observations_store.list_units(connection, number, after, _USERS_AT_ONCE)
                exposures = await observations_store.find_exposures(connection, number, units)
                done = (await observations_store.find_done_of(connection, (number,), len(counted.metrics), units)).get(
                    number, {}
                )
            segments = [each.segment for each in counted.stretches]
            by_row: dict[tuple[str, int], dict[int, Done]] = {}
            for (metric, unit), rows in done.items():
                for place, each in rows.items():
                    by_row.setdefault((unit, place), {})[metric] = each
            if units:
                yield [
                    ExposedUser(
                        unit, segments[min(rows)], segments[place], each.arm, each.at, by_row.get((unit, place), {})
                    )
                    for unit in units
                    for rows in (exposures[unit],)
                    for place, each in sorted(rows.items())
                ]
            if len(units) < _USERS_AT_ONCE:
                return
            after = units[-1]
