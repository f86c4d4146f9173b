"""Observes releases: reads what the history has got since the last look, counts it, and has guards act.

Any process may look. A look reads, counts, and then writes counts and positions together, but only if nobody else has
counted meanwhile; so everything is counted once. Whoever has written last goes on, and the others take over when it has
not for some seconds.
"""

from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum, auto
from time import monotonic, perf_counter
from uuid import UUID

import structlog

from flagstaff.database.database import Database
from flagstaff.database.tables import microseconds
from flagstaff.metrics import metrics_store
from flagstaff.metrics.metrics import Metric
from flagstaff.releases import observations_store, releases_store
from flagstaff.releases.counting import Counting
from flagstaff.releases.judging import Verdict, conclude
from flagstaff.releases.observations_store import Observed
from flagstaff.releases.pieces import read_piece
from flagstaff.releases.releases import Release
from flagstaff.values.errors import Code, Error

log = structlog.get_logger(__name__)

LOOK_SECONDS = 0.2
IDLE_LOOK_SECONDS = 1.0
"""The pause after a look that found no release to observe."""
HELD_SECONDS = 3.0
"""After how long without a write another process takes over."""
FAILED_SECONDS = 30.0
"""For how long a release rests that could not be observed."""
_PIECES_SECONDS = 0.15  # for one release in one look


class Progress(Enum):
    """The progress of a look at a release."""

    DONE = auto()
    MORE = auto()
    """There may be more to count."""
    OTHERS = auto()
    """Another process counts."""


Act = Callable[[Release, Verdict, dict[str, Metric]], Awaitable[None]]
"""Has the guards of a release act that are to act."""


@dataclass(slots=True)
class Observer:
    """Looks again and again. `name` is this process's, and `act` is called when a guard is to act."""

    database: Database
    name: str
    act: Act
    _releases: dict[UUID, Release] = field(default_factory=dict, init=False)
    _seen: dict[UUID, tuple[object, ...]] = field(default_factory=dict, init=False)
    _rests_until: dict[UUID, float] = field(default_factory=dict, init=False)
    _idle_until: float = field(default=0.0, init=False)

    async def look_if_due(self) -> None:
        """Look, unless the last look has just found no release to observe."""
        if monotonic() < self._idle_until:
            return
        await self.look()
        self._idle_until = 0.0 if self._releases else monotonic() + IDLE_LOOK_SECONDS

    async def look(self) -> None:
        """Count what is new for each release that is to be observed; nothing where nothing is new."""
        by_environment: defaultdict[UUID, list[Release]] = defaultdict(list)
        for release in await self._list_observed():
            by_environment[release.environment_id].append(release)
        self._seen = {each: self._seen[each] for each in by_environment if each in self._seen}
        for environment_id, releases in by_environment.items():
            async with self.database.read_history() as connection:
                latest = (await observations_store.find_latest(connection, environment_id), *_versions(releases))
            if self._seen.get(environment_id) == latest:
                continue
            if all([await self._observe(release) for release in releases]):
                self._seen[environment_id] = latest

    async def _list_observed(self) -> list[Release]:
        async with self.database.query() as connection:  # again and again, nearly always without news
            wanted = await releases_store.list_observed(connection)
        for release_id, updated_at in wanted.items():
            known = self._releases.get(release_id)
            if known is None or known.updated_at != updated_at:
                async with self.database.read() as connection:
                    found = await releases_store.find_release(connection, release_id)
                if found is not None:
                    self._releases[release_id] = found
        self._releases = {each: self._releases[each] for each in wanted if each in self._releases}
        self._rests_until = {each: at for each, at in self._rests_until.items() if each in wanted}
        return [each for each in self._releases.values() if each.segments]

    async def _observe(self, release: Release) -> bool:
        """Count what is new for a release; return whether that is done, and not for another process to do."""
        if self._rests_until.get(release.id, 0.0) > monotonic():
            return False
        try:
            async with self.database.read() as connection:
                metrics = await metrics_store.find_metrics(connection, release.project_id, release.watched)
            until = perf_counter() + _PIECES_SECONDS
            progress = Progress.MORE
            while progress is Progress.MORE and perf_counter() < until:
                progress = await self._count_some(release, metrics)
        except Exception as error:
            if isinstance(error, Error) and error.code is Code.UNAVAILABLE:
                raise
            log.exception("release_not_observed", release=str(release.id))
            self._rests_until[release.id] = monotonic() + FAILED_SECONDS
            return False
        return progress is Progress.DONE

    async def _count_some(self, release: Release, metrics: dict[str, Metric]) -> Progress:
        """Count a piece of what is new, and have guards act."""
        async with self.database.read_history() as connection:
            observed = await observations_store.find_observed(connection, release.id)
            if observed is not None and self._is_others(observed):
                return Progress.OTHERS
            piece = await read_piece(connection, release, observed, metrics) if observed is not None else None
        if observed is None:
            await begin_observing(self.database, release, release.segments[0].at)
            return Progress.MORE
        if piece is None:
            await self._act(release, conclude(release, observed.counted, metrics), metrics)
            return Progress.DONE
        if not await self._is_current(release) or not await self._write(observed, piece.counting):
            return Progress.OTHERS
        await self._act(release, piece.verdict, metrics)
        return Progress.MORE if piece.more else Progress.DONE

    def _is_others(self, observed: Observed) -> bool:
        return observed.holder != self.name and observed.held_until > observed.now

    async def _is_current(self, release: Release) -> bool:
        """Return whether no step has begun since the release was read: what was read may belong to that step."""
        async with self.database.read() as connection:
            if await releases_store.find_updated_at(connection, release.id) == release.updated_at:
                return True
        self._releases.pop(release.id, None)
        return False

    async def _write(self, observed: Observed, counting: Counting) -> bool:
        """Write what was counted; return False, and write nothing, if another process has counted meanwhile."""
        async with self.database.write_history() as connection:
            if not await observations_store.continue_observed(
                connection, observed, counting.counted, self.name, HELD_SECONDS
            ):
                return False
            await observations_store.put_exposures(connection, observed.number, counting.changed_exposures)
            await observations_store.put_done(connection, observed.number, counting.changed_done)
        return True

    async def _act(self, release: Release, verdict: Verdict, metrics: dict[str, Metric]) -> None:
        if not release.guards:
            return
        acted = release.alarmed
        if verdict.is_split_wrong:
            is_news = None not in acted
        else:
            is_news = any(each.is_reached and each.guard.metric not in acted for each in verdict.judgements)
        if is_news:
            await self.act(release, verdict, metrics)
            self._releases.pop(release.id, None)


def _versions(releases: Sequence[Release]) -> Iterator[object]:
    """Return the versions of an environment's releases, so that a change of one is news as well."""
    return ((release.id, release.updated_at) for release in releases)


async def begin_observing(database: Database, release: Release, at: datetime) -> None:
    """Begin to count for a release whose first step is applied at a time or later; nothing if that was done before."""
    async with database.write_history() as connection:
        await observations_store.create_observed(connection, release.id, release.environment_id, microseconds(at))
