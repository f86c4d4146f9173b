"""Observes releases: reads what the history has got since the last look, counts it, and has guards act.

Any process may look. A look reads, counts, and then writes counts and positions together, but only if nobody else has
counted meanwhile; so everything is counted once. Whoever has written last goes on, and the others take over when it has
not for some seconds.

Projects take turns, so that none delays the guards of another, and nothing is read where nothing is new.
"""

from dataclasses import dataclass, field
from datetime import datetime
from time import monotonic, perf_counter
from uuid import UUID

from flagstaff.database.database import Database
from flagstaff.releases import observations_store, releases_store
from flagstaff.releases.environment_watch import EnvironmentWatch
from flagstaff.releases.observations_store import Latest
from flagstaff.releases.release_judgements import Act, Judge
from flagstaff.releases.watch_turns import WatchTurns
from flagstaff.releases.watched_releases import WatchedReleases
from flagstaff.releases.watching import Part, Watching
from flagstaff.telemetry.metrics import Metrics

LOOK_SECONDS = 0.2
IDLE_LOOK_SECONDS = 1.0
"""The pause after a look that found no release to observe, and the longest one after a look that found nothing new."""
TURN_SECONDS, WORK_SECONDS = 0.05, 0.4
"""The time of a turn, and of all turns in a look. Then it is looked again who has something new."""
_REST = 20
"""How many times as long as a look that found nothing new the pause after it takes."""


@dataclass(slots=True)
class Observer:
    """Looks again and again. `name` is this process's, and `act` is called when a guard is to act."""

    database: Database
    name: str
    act: Act
    watching: Watching
    _judge: Judge = field(init=False)
    _releases: WatchedReleases = field(init=False)
    _wanted: dict[UUID, dict[UUID, datetime]] = field(default_factory=dict, init=False)
    _environments: dict[UUID, EnvironmentWatch] = field(default_factory=dict, init=False)
    _turns: WatchTurns = field(default_factory=lambda: WatchTurns(monotonic), init=False)
    _idle_until: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        self._judge = Judge(self.database, self.name, self.act, self.watching)
        self._releases = WatchedReleases(self.database, self.watching, Part.GUARDS)

    def export_metrics(self, metrics: Metrics) -> None:
        """Export the number of releases that this process watches."""
        metrics.add_gauge("releases_watched", "Releases that this process watches.", lambda: len(self._releases.known))

    async def look_if_due(self) -> None:
        """Look, unless the last look has just found no release to observe, or took long and found nothing new."""
        if monotonic() < self._idle_until:
            return
        began = monotonic()
        has_worked = await self.look()
        rest = IDLE_LOOK_SECONDS if not self._releases.known else 0.0 if has_worked else _REST * (monotonic() - began)
        self._idle_until = monotonic() + min(rest, IDLE_LOOK_SECONDS) - LOOK_SECONDS

    async def look(self) -> bool:
        """Count what is new for each release that is to be observed; return whether there was anything to do."""
        try:
            await self._list()
        except Exception as error:
            self._fail_all(error)
            raise
        try:
            async with self.database.read_history() as connection:
                latest = await observations_store.list_latest(connection, self._environments)
        except Exception as error:  # noqa: BLE001 - it is told, and looked at again
            self._fail_all(error)
            return True
        return await self._take_turns(latest)

    async def _list(self) -> None:
        """Read the releases that have changed."""
        async with self.database.read() as connection:  # again and again, nearly always without news
            states = await releases_store.read_states(connection)
            known = self._environments
            changed = [
                each
                for each, state in states.items()
                if each not in known or known[each].is_outdated or known[each].state != state
            ]
            if changed:
                self._wanted |= await releases_store.list_observed(connection, changed)
        gone = self._wanted.keys() - states.keys()
        for each in gone:
            del self._wanted[each]
        wanted = {release_id: at for some in self._wanted.values() for release_id, at in some.items()}
        if not changed and not gone and wanted.keys() == self._releases.known.keys():
            return
        for environment_id in changed:
            if environment_id in known and known[environment_id].is_outdated:
                for release_id in self._wanted[environment_id].keys() - known[environment_id].releases.keys():
                    self._releases.known.pop(release_id, None)
        await self._releases.read(wanted)
        begun = {each.id: each for each in self._releases.known.values() if each.segments}
        unknown = wanted.keys() - self._releases.known.keys()
        self.watching.keep(Part.GUARDS, unknown.union(begun))
        self._environments = {}
        for environment_id, some in self._wanted.items():
            releases = {each: begun[each] for each in some if each in begun}
            watch = known.get(environment_id) or EnvironmentWatch(self.database, environment_id, self._judge)
            watch.set_releases(releases, states[environment_id])
            self._environments[environment_id] = watch

    async def _take_turns(self, latest: dict[UUID, Latest]) -> bool:
        """Give turns to the projects whose environments have something to do, those first that had the least time."""
        waiting = [
            (next(iter(watch.releases.values())).project_id, environment_id)
            for environment_id, watch in self._environments.items()
            if watch.releases and watch.has_work(latest.get(environment_id))
        ]
        self._turns.begin(waiting)
        end = perf_counter() + WORK_SECONDS
        while perf_counter() < end and (turn := self._turns.next()) is not None:
            project_id, environment_id = turn
            began, has_more = perf_counter(), False
            watch = self._environments[environment_id]
            try:
                has_more = await watch.take_turn(began + TURN_SECONDS)
            except Exception as error:  # noqa: BLE001 - it is told, and the others are still looked at
                self._fail(watch, error)
            self._turns.end(project_id, environment_id, perf_counter() - began, has_more=has_more)
        return bool(waiting)

    def _fail_all(self, error: Exception) -> None:
        for watch in self._environments.values():
            self._fail(watch, error)

    def _fail(self, watch: EnvironmentWatch, error: Exception) -> None:
        """Tell that an environment's releases cannot be watched; whether they can again is to be seen."""
        watch.forget_all()
        for release_id in watch.releases:
            self.watching.fail(release_id, Part.GUARDS, error)
