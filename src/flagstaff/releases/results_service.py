"""The results of releases, and the users behind them."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from uuid import UUID

from flagstaff.audit.changes import Actor
from flagstaff.concurrency.pacing import in_pieces
from flagstaff.database.database import Database
from flagstaff.metrics import metrics_store
from flagstaff.metrics.metrics import Metric
from flagstaff.projects.access import FlagPath, open_flag
from flagstaff.projects.permissions import Permission
from flagstaff.releases import observations_store, releases_store
from flagstaff.releases.observations import Done, Observations
from flagstaff.releases.releases import Release
from flagstaff.releases.results import Results, finding_results

_USERS_AT_ONCE = 400


class ExposedUser(NamedTuple):
    """A user of a release: when and with which arm it was exposed, and what it did, by the place of the metric."""

    unit: str
    first_step: int
    step: int
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
        return await in_pieces(finding_results(release, observed.counted if observed else Observations(), metrics))

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
                number = observed.number
                rows: list[Any] = await observations_store.list_exposures(connection, number, after, _USERS_AT_ONCE)
                done = await observations_store.find_done(connection, number, [row.unit for row in rows])
            by_unit: dict[str, dict[int, Done]] = {}
            for (metric, unit), each in done.items():
                by_unit.setdefault(unit, {})[metric] = each
            if rows:
                yield [
                    ExposedUser(unit, first, step, arm, at, by_unit.get(unit, {}))
                    for unit, first, step, arm, at in rows
                ]
            if len(rows) < _USERS_AT_ONCE:
                return
            after = rows[-1].unit
