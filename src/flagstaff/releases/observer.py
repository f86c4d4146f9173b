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

from flagstaff.database.database import Database
from flagstaff.database.tables import microseconds
from flagstaff.metrics import metrics_store
from flagstaff.metrics.metrics import Metric
from flagstaff.releases import observations_store, releases_store
from flagstaff.releases.buckets_store import read_cuts
from flagstaff.releases.counting import Counting
from flagstaff.releases.judging import Verdict, conclude
from flagstaff.releases.observations_store import Observed
from flagstaff.releases.pieces import count_news, find_uncut, read_news
from flagstaff.releases.releases import Release
from flagstaff.releases.watched_releases import WatchedReleases
from flagstaff.releases.watching import Part, Watching

LOOK_SECONDS = 0.2
IDLE_LOOK_SECONDS = 1.0
"""The pause after a look that found no release to observe."""
HELD_SECONDS = 3.0
"""After how long without a write another process takes over."""
FAILED_SECONDS, OUTAGE_SECONDS = 30.0, 1.0
"""For how long a release rests that could not be observed: for any reason, and because a database did not answer."""
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
    watching: Watching
    _releases: WatchedReleases = field(init=False)
    _seen: dict[UUID, tuple[object, ...]] = field(default_factory=dict, init=False)
    _rests_until: dict[UUID, float] = field(default_factory=dict, init=False)
    _idle_until: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        self._releases = WatchedReleases(self.database, self.watching, Part.GUARDS)

    async def look_if_due(self) -> None:
        """Look, unless the last look has just found no release to observe."""
        if monotonic() < self._idle_until:
            return
        await self.look()
        self._idle_until = 0.0 if self._releases.known else monotonic() + IDLE_LOOK_SECONDS

    async def look(self) -> None:
        """Count what is new for each release that is to be observed; nothing where nothing is new."""
        by_environment: defaultdict[UUID, list[Release]] = defaultdict(list)
        try:
            observed = await self._list_observed()
        except Exception as error:
            for release in self._releases.known.values():
                if release.segments:
                    self.watching.fail(release.id, Part.GUARDS, error)
            self._seen.clear()  # whether all can be watched again is to be seen
            raise
        for release in observed:
            by_environment[release.environment_id].append(release)
        self._seen = {each: self._seen[each] for each in by_environment if each in self._seen}
        for environment_id, releases in by_environment.items():
            try:
                await self._look_at(environment_id, releases)
            except Exception as error:  # noqa: BLE001 - it is told, and the others are still looked at
                self._seen.pop(environment_id, None)
                for release in releases:
                    self.watching.fail(release.id, Part.GUARDS, error)

    async def _look_at(self, environment_id: UUID, releases: Sequence[Release]) -> None:
        async with self.database.read_history() as connection:
            latest = (await observations_store.find_latest(connection, environment_id), *_versions(releases))
        if self._seen.get(environment_id) == latest:
            return
        if all([await self._observe(release) for release in releases]):
            self._seen[environment_id] = latest

    async def _list_observed(self) -> list[Release]:
        async with self.database.query() as connection:  # again and again, nearly always without news
            wanted = await releases_store.list_observed(connection)
        await self._releases.read(wanted)
        known = self._releases.known
        self._rests_until = {each: at for each, at in self._rests_until.items() if each in wanted}
        begun = [each for each in known.values() if each.segments]
        unknown = wanted.keys() - known.keys()
        self.watching.keep(Part.GUARDS, unknown.union(each.id for each in begun))
        return begun

    async def _observe(self, release: Release) -> bool:
        """Count what is new for a release; return whether that is done, and not for another process to do."""
        if self._rests_until.get(release.id, 0.0) > self.watching.clock():
            return False
        try:
            async with self.database.read() as connection:
                metrics = await metrics_store.find_metrics(connection, release.project_id, release.watched)
            until = perf_counter() + _PIECES_SECONDS
            progress = Progress.MORE
            while progress is Progress.MORE and perf_counter() < until:
                progress = await self._count_some(release, metrics)
        except Exception as error:  # noqa: BLE001 - it is told, and the others are still looked at
            is_outage = self.watching.fail(release.id, Part.GUARDS, error)
            self._rests_until[release.id] = self.watching.clock() + (OUTAGE_SECONDS if is_outage else FAILED_SECONDS)
            if not is_outage:
                await self._note(release, is_failing=True)
            return False
        return progress is Progress.DONE

    async def _count_some(self, release: Release, metrics: dict[str, Metric]) -> Progress:
        """Count a piece of what is new, and have guards act."""
        async with self.database.read_history() as connection:
            observed = await observations_store.find_observed(connection, release.id)
            if observed is not None and self._is_others(observed):
                return self._leave(release, observed)
            news = await read_news(connection, release, observed.counted) if observed is not None else None
        if observed is None:
            await begin_observing(self.database, release, release.segments[0].at)
            return Progress.MORE
        if news is None:
            await self._act(release, conclude(release, observed.counted, metrics), metrics, observed.now)
            return Progress.DONE
        # Read after the news, so that what cuts the buckets is known for all of them.
        async with self.database.read() as connection:
            counted = observed.counted
            cuts = await read_cuts(connection, release, find_uncut(counted, release), counted.cuts_change)
        if cuts is None:
            return Progress.DONE  # the flag was deleted, and its releases with it
        async with self.database.read_history() as connection:
            piece = await count_news(connection, release, observed, metrics, news, cuts)
        if not await self._is_current(release) or not await self._write(observed, piece.counting):
            return self._leave(release, observed)
        await self._act(release, piece.verdict, metrics, observed.now)
        return Progress.MORE if piece.more else Progress.DONE

    def _leave(self, release: Release, observed: Observed) -> Progress:
        """Leave a release to another process. If it fails there, an outage here goes on, since they may take turns."""
        if not observed.counted.failing_since:
            self.watching.leave(release.id, Part.GUARDS)
        return Progress.OTHERS

    def _is_others(self, observed: Observed) -> bool:
        return observed.holder != self.name and observed.held_until > observed.now

    async def _is_current(self, release: Release) -> bool:
        """Return whether no step has begun since the release was read: what was read may belong to that step."""
        async with self.database.read() as connection:
            if await releases_store.find_updated_at(connection, release.id) == release.updated_at:
                return True
        self._releases.known.pop(release.id, None)
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

    async def _act(self, release: Release, verdict: Verdict, metrics: dict[str, Metric], now: int) -> None:
        """Have guards act, and note whether all can be judged."""
        acted = release.alarmed
        is_news = any(each.is_reached and each.guard.metric not in acted for each in verdict.judgements)
        if release.guards and (is_news or (verdict.is_split_wrong and None not in acted)):
            await self.act(release, verdict, metrics)
            self._releases.known.pop(release.id, None)
        failed = [(each.guard.metric, each.failure) for each in verdict.judgements if each.failure is not None]
        for metric, failure in failed:
            self.watching.fail(release.id, Part.GUARDS, failure, metric=metric)
        failing_since = verdict.counted.failing_since
        if failed and failing_since:
            self.watching.begin_before(release.id, now / 1_000_000 - failing_since)
        if not failed:
            self.watching.succeed(release, Part.GUARDS)
        if bool(failed) is not bool(failing_since):
            await self._note(release, is_failing=bool(failed))

    async def _note(self, release: Release, *, is_failing: bool) -> None:
        """Store whether the release cannot be watched, so that its next step waits and its page says since when."""
        try:
            async with self.database.write_history() as connection:
                observed = await observations_store.find_observed(connection, release.id)
                if observed is None or self._is_others(observed):
                    return
                counted = observed.counted
                if bool(counted.failing_since) is not is_failing:
                    counted.failing_since = observed.now // 1_000_000 if is_failing else 0
                    await observations_store.continue_observed(connection, observed, counted, self.name, HELD_SECONDS)
        except Exception as error:  # noqa: BLE001 - sums that cannot be read hold the next step back as well
            self.watching.fail(release.id, Part.GUARDS, error)


def _versions(releases: Sequence[Release]) -> Iterator[object]:
    """Return the versions of an environment's releases, so that a change of one is news as well."""
    return ((release.id, release.updated_at) for release in releases)


async def begin_observing(database: Database, release: Release, at: datetime) -> None:
    """Begin to count for a release whose first step is applied at a time or later; nothing if that was done before."""
    async with database.write_history() as connection:
        await observations_store.create_observed(connection, release.id, release.environment_id, microseconds(at))
