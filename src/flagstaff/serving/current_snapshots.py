"""The current snapshot of each project: a look-up on a hit, one shared load on a miss, a swap on a change.

It never serves a state that a finished change has replaced. A change loads a project only where it is loaded.
Elsewhere it loads the hashes of the project's SDK keys, so that new keys are known at once; the next request loads the
rest.
"""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Generator, Iterable, Mapping
from dataclasses import replace
from itertools import chain
from uuid import UUID
from weakref import WeakValueDictionary

import structlog

from flagstaff.concurrency.pacing import in_pieces
from flagstaff.concurrency.shared_tasks import SharedTasks
from flagstaff.concurrency.supervisor import Supervisor
from flagstaff.database.revisions import Revision
from flagstaff.evaluation.snapshot import EnvironmentSnapshot, ProjectSnapshot, pieces_of
from flagstaff.telemetry.metrics import Metrics
from flagstaff.values.errors import Error, unavailable
from flagstaff.values.lists import emptying

log = structlog.get_logger(__name__)

_FLAGS_AT_ONCE = 200  # so many of an environment are freed at once: a task costs more


class Snapshots:
    """The snapshots of all projects. Each loader sees everything that was committed before its call."""

    def __init__(
        self,
        *,
        load_project: Callable[[UUID], Awaitable[ProjectSnapshot | None]],
        load_environment: Callable[[UUID, UUID], Awaitable[tuple[EnvironmentSnapshot | None, Mapping[UUID, Revision]]]],
        load_key_hashes: Callable[[UUID], Awaitable[frozenset[bytes] | None]],
        load_revisions: Callable[[UUID], Awaitable[Mapping[UUID, Revision]]],
        supervisor: Supervisor,
    ) -> None:
        """`load_revisions` returns those of a project's environments, by id, and `load_environment` also does so."""
        self._load_revisions = load_revisions
        self._load_project = load_project
        self._load_environment = load_environment
        self._load_key_hashes = load_key_hashes
        self.loaded: dict[UUID, ProjectSnapshot] = {}
        self._observers: list[Callable[[UUID, ProjectSnapshot | None], None]] = []
        self._key_observers: list[Callable[[UUID, frozenset[bytes]], None]] = []
        self._asked: set[UUID] = set()
        self._demanded: set[UUID] = set()  # projects that are to be loaded, because a request waits for them
        self._keys_read_at: dict[UUID, int] = {}  # the revisions of projects that are not loaded, when their keys were
        self._served: dict[UUID, int] = {}  # the revisions of projects all of whose changes the latest load has found
        self._supervisor = supervisor
        self._first_loads: SharedTasks[UUID, None] = SharedTasks(supervisor, "load")
        self._waiting: dict[tuple[UUID, UUID | None], asyncio.Task[None]] = {}  # loads that have not begun
        self._unfinished: defaultdict[UUID, set[asyncio.Task[None]]] = defaultdict(set)  # every project's loads
        self._locks: WeakValueDictionary[UUID, asyncio.Lock] = WeakValueDictionary()
        self._comparing: dict[UUID, asyncio.Task[int | None]] = {}  # comparisons that have not begun
        self._turns: WeakValueDictionary[UUID, asyncio.Lock] = WeakValueDictionary()  # of comparisons
        self.stale: set[UUID] = set()
        """The projects whose latest load failed, so they may serve an old state. `retry` loads them again."""

    def export_metrics(self, metrics: Metrics) -> None:
        """Export the numbers of projects."""
        metrics.add_gauge("snapshots", "Projects in memory.", lambda: len(self.loaded))
        metrics.add_gauge("snapshots_stale", "Projects that could not be loaded.", lambda: len(self.stale))

    def observe(self, observer: Callable[[UUID, ProjectSnapshot | None], None]) -> None:
        """Call `observer` at each swap with the project's id and its new snapshot, or None if it does not exist.

        All observers have returned before any task sees the new snapshot.
        """
        self._observers.append(observer)

    def observe_keys(self, observer: Callable[[UUID, frozenset[bytes]], None]) -> None:
        """Call `observer` after each change to a project that is not loaded, with its id and its SDK keys' hashes."""
        self._key_observers.append(observer)

    async def find(self, project_id: UUID) -> ProjectSnapshot | None:
        """The snapshot of a project, loaded first if necessary; None if it does not exist."""
        self._asked.add(project_id)
        if project_id not in self.loaded:
            self._demanded.add(project_id)
            # A running load is sufficient: the response to a change during it waits for another load.
            loading = self._first_loads.find(project_id)
            await asyncio.shield(loading or self._first_loads.begin(project_id, self.refresh(project_id)))
        return self.loaded.get(project_id)

    async def refresh(self, project_id: UUID, environment_id: UUID | None = None) -> None:
        """Load the committed state of a project, or of one of its environments, and serve it from now on.

        Of a project that is not loaded, and for which no request waits, only the SDK keys' hashes are loaded.

        Callers share a load that has not begun. If a load fails, the old snapshot is still served, and the project is
        stale until `retry` has loaded it.

        Raises:
            Error: UNAVAILABLE when the load fails, or what the loader raises if that is an Error.
        """
        await asyncio.shield(self.begin_refresh(project_id, environment_id))

    def begin_refresh(self, project_id: UUID, environment_id: UUID | None = None) -> asyncio.Task[None]:
        """Start a `refresh` without waiting for it."""
        place = (project_id, environment_id)
        task = self._waiting.get(place)
        if task is None or task.done():  # a task that was cancelled before it had begun
            task = self._waiting[place] = self._supervisor.spawn("load", self._reload_in_turn(*place))
            self._unfinished[project_id].add(task)
            task.add_done_callback(lambda done: self._forget(place, done))
        return task

    def loading(self) -> set[UUID]:
        """The projects that are being loaded, for the first time or again: these loads may have read an older state."""
        return set(self._unfinished)

    def take_asked(self) -> set[UUID]:
        """The projects that `find` was called for since the last call."""
        asked, self._asked = self._asked, set()
        return asked

    def unload(self, project_id: UUID) -> ProjectSnapshot | None:
        """Forget a project's snapshot, and return it; the next `find` loads the project again.

        None if it is not loaded, is being loaded, or was asked for since the last `take_asked`.
        """
        if project_id in self._asked or project_id in self._unfinished or project_id in self.stale:
            return None
        self._served.pop(project_id, None)
        return self.loaded.pop(project_id, None)

    async def catch_up(self, project_id: UUID) -> int | None:
        """Serve what is committed to a project, whether or not this process has been told of it.

        Only what differs is loaded. Returns the project's revision, whose changes are all served; None if it has no
        environments or does not exist. Callers share a comparison that has not begun.

        Raises:
            Error: As `refresh`.
        """
        task = self._comparing.get(project_id)
        if task is None or task.done():
            task = self._comparing[project_id] = self._supervisor.spawn("compare", self._compare_in_turn(project_id))
        return await asyncio.shield(task)

    async def _compare_in_turn(self, project_id: UUID) -> int | None:
        lock = self._turns.get(project_id) or self._turns.setdefault(project_id, asyncio.Lock())
        async with lock:
            del self._comparing[project_id]  # later callers may need changes that this comparison does not see
            return await self._compare(project_id)

    async def _compare(self, project_id: UUID) -> int | None:
        committed = await self._load_revisions(project_id)
        if self._lacking(project_id, committed):
            await self._finish_loads(project_id)
            if lacking := self._lacking(project_id, committed):
                await self.refresh(project_id, lacking.pop() if len(lacking) == 1 else None)
        return _revision_of(committed)

    def _lacking(self, project_id: UUID, committed: Mapping[UUID, Revision]) -> set[UUID | None]:
        """The environments that are served in an older state than these revisions; None stands for the project."""
        revision, loaded = _revision_of(committed), self.loaded.get(project_id)
        if revision is None:
            return {None}
        if loaded is None:
            return set() if self._keys_read_at.get(project_id, -1) >= revision else {None}
        served = {each.environment_id: each.revision for each in loaded.environments.values()}
        older = {key for key, each in committed.items() if served.get(key, -1) < each.environment}
        return {*older, *(served.keys() - committed.keys())}

    async def is_served(self, project_id: UUID) -> bool:
        """Return whether this instance serves what is committed to a project, after it has loaded what it lacked."""
        await self._finish_loads(project_id)
        if project_id in self.stale:
            return False  # `retry` tries again
        try:
            await self.catch_up(project_id)
        except Error:
            return False
        return project_id not in self.stale

    async def find_served(self, project_id: UUID) -> int | None:
        """The revision of a project whose changes are all served when the loads requested before have ended.

        None if a load has failed, or if there is none, as of a deleted project.

        Raises:
            Error: As `refresh`.
        """
        await self._finish_loads(project_id)
        if project_id in self.stale:
            return None
        served = self._served.get(project_id)
        return served if served is not None else await self.catch_up(project_id)

    async def _finish_loads(self, project_id: UUID) -> None:
        """Wait for the loads that have been requested."""
        if unfinished := self._unfinished.get(project_id):
            await asyncio.wait(tuple(unfinished))

    async def refresh_each(self, project_ids: Iterable[UUID]) -> None:
        """Load projects again, one by one. One that cannot be loaded becomes stale and does not stop the others."""
        for project_id in tuple(project_ids):
            await asyncio.wait([self.begin_refresh(project_id)])  # its failure is logged and kept in `stale`

    async def retry(self) -> None:
        """Load again each project that is stale; those that fail again stay stale."""
        await self.refresh_each(self.stale)

    def problems(self) -> list[str]:
        """A sentence about stale projects, if there are any."""
        if not self.stale:
            return []
        return [f"{len(self.stale)} project(s) could not be loaded after a change and may serve an old state."]

    def _forget(self, place: tuple[UUID, UUID | None], done: asyncio.Task[None]) -> None:
        if done.cancelled():
            self.stale.add(place[0])
        if self._waiting.get(place) is done:  # it was cancelled before it had begun
            del self._waiting[place]
        unfinished = self._unfinished[place[0]]
        unfinished.discard(done)
        if not unfinished:
            del self._unfinished[place[0]]

    async def _reload_in_turn(self, project_id: UUID, environment_id: UUID | None) -> None:
        lock = self._locks.get(project_id) or self._locks.setdefault(project_id, asyncio.Lock())
        async with lock:  # so that a slow load cannot replace a newer state
            del self._waiting[project_id, environment_id]  # later callers may need changes that this load does not see
            try:
                await self._reload(project_id, None if project_id in self.stale else environment_id)
            except Error as error:
                self._record_failure(project_id, reason=error.message)
                raise
            except Exception as error:
                self._record_failure(project_id, exc_info=error)
                raise unavailable("The project's flags cannot be loaded. See the server's log.") from error
            if project_id in self.stale:
                self.stale.discard(project_id)
                log.info("project_loaded_again", project_id=str(project_id))

    def _record_failure(self, project_id: UUID, **details: object) -> None:
        if project_id not in self.stale:  # once, not at each attempt
            self.stale.add(project_id)
            log.error("project_not_loaded", project_id=str(project_id), **details)

    async def _reload(self, project_id: UUID, environment_id: UUID | None) -> None:
        loaded = self.loaded.get(project_id)
        if loaded is None and project_id not in self._demanded:
            await self._reload_key_hashes(project_id)
            return
        if environment_id is None or loaded is None:
            self._put(project_id, await self._load_project(project_id))
            self._free_replaced(project_id, loaded)
            return
        others = {key: known for key, known in loaded.environments.items() if known.environment_id != environment_id}
        environment, committed = await self._load_environment(project_id, environment_id)
        if environment is not None:
            others[environment.environment_key] = environment
        self._put(project_id, replace(loaded, environments=others))
        revision = _revision_of(committed)
        if revision is not None and not self._lacking(project_id, committed):
            self._served[project_id] = revision
        self._free_replaced(project_id, loaded)

    def _free_replaced(self, project_id: UUID, before: ProjectSnapshot | None) -> None:
        """Free large environments that have been replaced in small steps, once nobody uses them."""
        now = self.loaded.get(project_id)
        kept = set(map(id, now.environments.values())) if now is not None else ()
        present = before.environments.values() if before is not None else ()
        replaced = [each for each in present if id(each) not in kept and len(each.places) > _FLAGS_AT_ONCE]
        if replaced:
            self._supervisor.start("free", in_pieces(_freeing(replaced)))

    async def _reload_key_hashes(self, project_id: UUID) -> None:
        revisions = await self._load_revisions(project_id)  # before the keys, which may be newer
        hashes = await self._load_key_hashes(project_id)
        if hashes is None:
            self._put(project_id, None)
            return
        self._keys_read_at[project_id] = _revision_of(revisions) or 0
        for observer in self._key_observers:
            observer(project_id, hashes)

    def _put(self, project_id: UUID, snapshot: ProjectSnapshot | None) -> None:
        self._demanded.discard(project_id)
        self._keys_read_at.pop(project_id, None)
        self._served.pop(project_id, None)
        if snapshot is None:
            self.loaded.pop(project_id, None)
        else:
            self.loaded[project_id] = snapshot
        for observer in self._observers:
            observer(project_id, snapshot)


def _freeing(snapshots: list[EnvironmentSnapshot]) -> Generator[None, None, None]:
    pieces: list[object] = []
    for each in chain.from_iterable(map(pieces_of, snapshots)):
        pieces.append(each)
        yield
    yield from emptying(snapshots, pieces)


def _revision_of(committed: Mapping[UUID, Revision]) -> int | None:
    """The project's revision; None if there are no environments to read it with."""
    return max((each.project for each in committed.values()), default=None)
