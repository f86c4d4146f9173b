"""The state of one project: its current snapshot, how new it is, and the loads that replace it.

It never serves a state that a finished change has replaced. A change loads a project only where it is loaded.
Elsewhere it loads the hashes of the project's SDK keys, so that new keys are known at once; the next request loads the
rest.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from uuid import UUID

import structlog

from flagstaff.concurrency.claims import claiming
from flagstaff.concurrency.supervisor import Supervisor
from flagstaff.concurrency.worker import in_worker
from flagstaff.database.revisions import Revision
from flagstaff.evaluation.snapshot import ProjectSnapshot
from flagstaff.serving.loaders import Loaders, revision_of
from flagstaff.serving.replaced_snapshots import find_replaced, free
from flagstaff.values.errors import Error, unavailable

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Served:
    """The state that all projects share: how they are loaded, who observes them, and the sets that keep them in memory.

    `known` are those that are loaded, or whose keys were read. `stale` are those whose latest load has failed.
    """

    loaders: Loaders
    supervisor: Supervisor
    observers: list[Callable[[UUID, ProjectSnapshot | None], None]] = field(default_factory=list)
    key_observers: list[Callable[[UUID, frozenset[bytes]], None]] = field(default_factory=list)
    known: "set[ServedProject]" = field(default_factory=set)
    stale: "set[ServedProject]" = field(default_factory=set)


class ServedProject:
    """A project. There is one object for each, as long as anything is known of it or anybody uses it."""

    def __init__(self, project_id: UUID, served: Served) -> None:
        self.project_id = project_id
        self.snapshot: ProjectSnapshot | None = None
        self.is_asked_for = False
        """Whether `find` was called since somebody has set this to False."""
        self.used_in: int | None = None
        """The number of the sweep that has last found the project in use; None if none has seen it since its load."""
        self._served = served
        self._is_demanded = False  # it is to be loaded, because a request waits for it
        self._keys_read_at: int | None = None  # the revision at which its keys were read, while it is not loaded
        self._complete_at: int | None = None  # the revision all of whose changes the latest load has found
        self._lock = asyncio.Lock()
        self._first_load: asyncio.Task[None] | None = None
        self._waiting: dict[UUID | None, asyncio.Task[None]] = {}  # loads that have not begun, by environment
        self._unfinished: set[asyncio.Task[None]] = set()  # all loads
        self._comparison: asyncio.Task[int | None] | None = None  # one that has not begun
        self._turn = asyncio.Lock()  # of comparisons

    @property
    def is_stale(self) -> bool:
        """True if the latest load has failed, so that an old state may be served."""
        return self in self._served.stale

    @property
    def is_loading(self) -> bool:
        """True while it is loaded, for the first time or again: these loads may have read an older state."""
        return bool(self._unfinished)

    async def find(self) -> ProjectSnapshot | None:
        """The snapshot, loaded first if necessary; None if the project does not exist."""
        self.is_asked_for = True
        if self.snapshot is None:
            self._is_demanded = True
            # A running load is sufficient: the response to a change during it waits for another load.
            if self._first_load is None or self._first_load.done():
                with claiming(self.project_id):
                    self._first_load = self._served.supervisor.spawn("load", self.refresh())
                self._first_load.add_done_callback(self._end_first_load)
            await asyncio.shield(self._first_load)
        return self.snapshot

    async def refresh(self, environment_id: UUID | None = None) -> None:
        """Load the committed state of the project, or of one of its environments, and serve it from now on.

        Of a project that is not loaded, and for which no request waits, only the SDK keys' hashes are loaded.

        Callers share a load that has not begun. If a load fails, the old snapshot is still served, and the project is
        stale until another load has succeeded.

        Raises:
            Error: UNAVAILABLE when the load fails, or what the loader raises if that is an Error.
        """
        await asyncio.shield(self.begin_refresh(environment_id))

    def begin_refresh(self, environment_id: UUID | None = None) -> asyncio.Task[None]:
        """Start a `refresh` without waiting for it."""
        task = self._waiting.get(environment_id)
        if task is None or task.done():  # a task that was cancelled before it had begun
            task = self._served.supervisor.spawn("load", self._reload_in_turn(environment_id))
            self._waiting[environment_id] = task
            self._unfinished.add(task)
            task.add_done_callback(partial(self._end_load, environment_id))
        return task

    async def catch_up(self) -> int | None:
        """Serve what is committed, whether or not this process has been told of it.

        Only what differs is loaded. Returns the project's revision, whose changes are all served; None if it has no
        environments or does not exist. Callers share a comparison that has not begun.

        Raises:
            Error: As `refresh`.
        """
        if self._comparison is None or self._comparison.done():
            self._comparison = self._served.supervisor.spawn("compare", self._compare_in_turn())
        return await asyncio.shield(self._comparison)

    async def is_served(self) -> bool:
        """Return whether this instance serves what is committed, after it has loaded what it lacked."""
        await self._finish_loads()
        if self.is_stale:
            return False  # the next retry tries again
        try:
            await self.catch_up()
        except Error:
            return False
        return not self.is_stale

    async def find_served(self) -> int | None:
        """The revision whose changes are all served when the loads requested before have ended.

        None if a load has failed, or if there is none, as of a deleted project.

        Raises:
            Error: As `refresh`.
        """
        await self._finish_loads()
        if self.is_stale:
            return None
        return self._complete_at if self._complete_at is not None else await self.catch_up()

    def unload(self) -> ProjectSnapshot | None:
        """Forget the snapshot, and return it; the next `find` loads the project again.

        None if it is not loaded, is being loaded, is stale, or is asked for.
        """
        if self.snapshot is None or self.is_asked_for or self.is_loading or self.is_stale:
            return None
        unloaded, self.snapshot, self._complete_at, self.used_in = self.snapshot, None, None, None
        self._served.known.discard(self)
        return unloaded

    async def _compare_in_turn(self) -> int | None:
        async with self._turn:
            self._comparison = None  # later callers may need changes that this comparison does not see
            committed = await self._served.loaders.load_revisions(self.project_id)
            if self._lacking(committed):
                await self._finish_loads()
                if lacking := self._lacking(committed):
                    await self.refresh(lacking.pop() if len(lacking) == 1 else None)
            return revision_of(committed)

    def _lacking(self, committed: Mapping[UUID, Revision]) -> set[UUID | None]:
        """The environments that are served in an older state than these revisions; None stands for the project."""
        revision = revision_of(committed)
        if revision is None:
            return {None}
        if self.snapshot is None:
            return set() if self._keys_read_at is not None and self._keys_read_at >= revision else {None}
        served = {each.environment_id: each.revision for each in self.snapshot.environments.values()}
        older = {key for key, each in committed.items() if served.get(key, -1) < each.environment}
        return {*older, *(served.keys() - committed.keys())}

    async def _finish_loads(self) -> None:
        """Wait for the loads that have been requested."""
        if self._unfinished:
            await asyncio.wait(tuple(self._unfinished))

    def _end_first_load(self, done: asyncio.Task[None]) -> None:
        if self._first_load is done:
            self._first_load = None

    def _end_load(self, environment_id: UUID | None, done: asyncio.Task[None]) -> None:
        if done.cancelled():
            self._served.stale.add(self)
        if self._waiting.get(environment_id) is done:  # it was cancelled before it had begun
            del self._waiting[environment_id]
        self._unfinished.discard(done)

    async def _reload_in_turn(self, environment_id: UUID | None) -> None:
        async with self._lock:  # so that a slow load cannot replace a newer state
            del self._waiting[environment_id]  # later callers may need changes that this load does not see
            try:
                await self._reload(None if self.is_stale else environment_id)
            except Error as error:
                self._record_failure(reason=error.message)
                raise
            except Exception as error:
                self._record_failure(exc_info=error)
                raise unavailable("The project's flags cannot be loaded. See the server's log.") from error
            if self.is_stale:
                self._served.stale.discard(self)
                log.info("project_loaded_again", project_id=str(self.project_id))

    def _record_failure(self, **details: object) -> None:
        if not self.is_stale:  # once, not at each attempt
            self._served.stale.add(self)
            log.error("project_not_loaded", project_id=str(self.project_id), **details)

    async def _reload(self, environment_id: UUID | None) -> None:
        before, loaders = self.snapshot, self._served.loaders
        if before is None and not self._is_demanded:
            await self._reload_key_hashes()
        elif before is None or environment_id is None:
            self._put(await loaders.load_project(self.project_id))
        else:
            environment, committed = await loaders.load_environment(self.project_id, environment_id)
            others = {key: each for key, each in before.environments.items() if each.environment_id != environment_id}
            if environment is not None:
                others[environment.environment_key] = environment
            self._put(replace(before, environments=others))
            if not self._lacking(committed):
                self._complete_at = revision_of(committed)
        if before is not None:
            replaced = find_replaced(before, self.snapshot)
            if replaced:
                self._served.supervisor.start("free", in_worker(free, replaced))

    async def _reload_key_hashes(self) -> None:
        loaders = self._served.loaders
        revisions = await loaders.load_revisions(self.project_id)  # before the keys, which may be newer
        hashes = await loaders.load_key_hashes(self.project_id)
        if hashes is None:
            self._put(None)
            return
        self._keys_read_at = revision_of(revisions) or 0
        self._served.known.add(self)
        for observer in self._served.key_observers:
            observer(self.project_id, hashes)

    def _put(self, snapshot: ProjectSnapshot | None) -> None:
        self.snapshot, self._is_demanded, self._keys_read_at, self._complete_at = snapshot, False, None, None
        if snapshot is None:
            self._served.known.discard(self)
        else:
            self._served.known.add(self)
        for observer in self._served.observers:
            observer(self.project_id, snapshot)
