"""The state of one project: its keys, its loaded environments, how new they are, and the loads that replace them.

It never serves a state that a finished change has replaced. A change loads an environment only where that is loaded.
Elsewhere it reads the project's environments and their SDK keys, so that new keys are known at once, and a first load
that is under way begins again; the next request loads the rest. So no change waits for a first load.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from uuid import UUID

import structlog

from flagstaff.concurrency.claims import claiming
from flagstaff.concurrency.shared_loads import SharedLoad
from flagstaff.concurrency.worker import in_worker
from flagstaff.database.revisions import Revision
from flagstaff.evaluation.snapshot import EnvironmentSnapshot, ProjectSnapshot
from flagstaff.serving.first_loads import FirstLoads
from flagstaff.serving.loaders import revision_of
from flagstaff.serving.replaced_snapshots import find_replaced, free
from flagstaff.serving.served import Served
from flagstaff.serving.snapshot_states import find_older, find_outdated, merge
from flagstaff.values.errors import Error, unavailable

log = structlog.get_logger(__name__)


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
        self._is_demanded = False  # its environments are to be kept, because a request waits for them
        self._keys_read_at: int | None = None  # the revision at which its keys were read, while nothing else is kept
        self._complete_at: int | None = None  # a revision all of whose changes are served
        self._failures = 0
        self._anew: set[UUID | None] = set()  # environments to be read anew; None stands for the list of environments
        self._first_find: asyncio.Task[None] | None = None
        self._keys = SharedLoad(served.supervisor, self._reload_keys)
        self._whole = SharedLoad(served.supervisor, self._reload_whole)
        self._environments: dict[UUID, SharedLoad] = {}  # those that are being loaded again
        self._first_loads = FirstLoads(project_id, served, install=self._install, refresh=self._refresh_environment)
        self._unfinished: set[asyncio.Task[None]] = set()  # all loads but the first ones
        self._comparison: asyncio.Task[int | None] | None = None  # one that has not begun
        self._turn = asyncio.Lock()  # of comparisons

    @property
    def is_stale(self) -> bool:
        """True if a load after a change has failed, so that an old state may be served."""
        return self in self._served.stale

    @property
    def is_loading(self) -> bool:
        """True while something is loaded again: these loads may have read an older state."""
        return bool(self._unfinished)

    @property
    def is_in_use(self) -> bool:
        """True while something is loaded, for the first time or again."""
        return self.is_loading or self._first_loads.are_running or self._first_find is not None

    async def find(self) -> ProjectSnapshot | None:
        """The project, read first if necessary; None if it does not exist. Its environments need not be loaded."""
        self.is_asked_for = True
        if self.snapshot is None:
            self._is_demanded = True
            # A running load is sufficient: the response to a change during it waits for another load.
            if self._first_find is None or self._first_find.done():
                with claiming(self.project_id):
                    self._first_find = self._served.supervisor.spawn("load", self._wait_for(self._keys))
                self._first_find.add_done_callback(self._end_first_find)
            await asyncio.shield(self._first_find)
        return self.snapshot

    async def find_environment(self, environment_id: UUID) -> EnvironmentSnapshot | None:
        """An environment, loaded first if necessary; None if it does not exist.

        Raises:
            Error: UNAVAILABLE when it cannot be loaded, or too many wait; LIMITED when too many of the project wait.
        """
        while (project := await self.find()) is not None and environment_id in project.known:
            loaded = project.find_loaded(environment_id) or await self._first_loads.find(environment_id)
            if loaded is not None:  # otherwise it was deleted, or has had to make room already
                return loaded
        return None

    async def refresh(self, environment_id: UUID | None = None) -> None:
        """Serve the committed state of the project, or of one of its environments, from now on.

        Of what is not loaded, only the SDK keys are read. Callers share a load that has not begun. If a load fails, the
        old snapshot is still served, and the project is stale until everything has been loaded again.

        Raises:
            Error: UNAVAILABLE when the load fails, or what the loader raises if that is an Error.
        """
        await asyncio.shield(self.begin_refresh(environment_id))

    def begin_refresh(self, environment_id: UUID | None = None) -> asyncio.Task[None]:
        """Start a `refresh` without waiting for it. Only environments that have changed are loaded."""
        if environment_id is None or self.is_stale:
            return self._begin(self._whole)
        return self._begin(self._load_of(environment_id))

    def begin_reload(self) -> asyncio.Task[None]:
        """Start to load again everything that is loaded, whether or not it has changed."""
        self._anew.add(None)
        return self._begin(self._whole)

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
        """Forget the project, and return what was known; the next `find` reads it again.

        None if it is not loaded, is being loaded, is stale, or is asked for.
        """
        if self.snapshot is None or self.is_asked_for or self.is_in_use or self.is_stale:
            return None
        unloaded, self.snapshot, self._complete_at, self.used_in = self.snapshot, None, None, None
        self._served.known.discard(self)
        self._served.loaders.forget(self.project_id)
        self._forget_replaced(unloaded)
        return unloaded

    def unload_environment(self, environment_id: UUID) -> bool:
        """Forget an environment's flags, which the next request for them loads again; its keys stay known.

        Return False, and do nothing, if it is being loaded or an older state may be served.
        """
        if self.snapshot is None or self.is_stale or environment_id in self._environments:
            return False
        self._put(self.snapshot.without(environment_id))
        return True

    async def _wait_for(self, load: SharedLoad) -> None:
        await asyncio.shield(self._begin(load))

    async def _refresh_environment(self, environment_id: UUID) -> EnvironmentSnapshot | None:
        """Load an environment in line with changes; return what is served then."""
        await self.refresh(environment_id)
        return self.snapshot.find_loaded(environment_id) if self.snapshot is not None else None

    async def _compare_in_turn(self) -> int | None:
        async with self._turn:
            self._comparison = None  # later callers may need changes that this comparison does not see
            committed = await self._served.loaders.load_revisions(self.project_id)
            self._first_loads.require(committed)
            if self._lacking(committed):
                await self._finish_loads()
                if lacking := self._lacking(committed):
                    await self.refresh(lacking.pop() if len(lacking) == 1 else None)
            return revision_of(committed)

    def _lacking(self, committed: Mapping[UUID, Revision]) -> set[UUID | None]:
        """The environments that are known in an older state than these revisions; None stands for the project."""
        revision = revision_of(committed)
        if revision is None:
            return {None}
        if self.snapshot is None:
            return set() if self._keys_read_at is not None and self._keys_read_at >= revision else {None}
        return {*find_older(self.snapshot, committed)}

    async def _finish_loads(self) -> None:
        """Wait for the loads that have been requested."""
        if self._unfinished:
            await asyncio.wait(tuple(self._unfinished))

    def _end_first_find(self, done: asyncio.Task[None]) -> None:
        if self._first_find is done:
            self._first_find = None

    def _begin(self, load: SharedLoad) -> asyncio.Task[None]:
        task = load.begin()
        if task not in self._unfinished:
            self._unfinished.add(task)
            task.add_done_callback(self._end_load)
        return task

    def _end_load(self, done: asyncio.Task[None]) -> None:
        self._unfinished.discard(done)
        self._environments = {each: load for each, load in self._environments.items() if load.is_busy}
        if done.cancelled():
            self._failures += 1
            self._served.stale.add(self)

    @asynccontextmanager
    async def _recording_failure(self) -> AsyncIterator[None]:
        try:
            yield
        except Error as error:
            self._record_failure(reason=error.message)
            raise
        except Exception as error:
            self._record_failure(exc_info=error)
            raise unavailable("The project's flags cannot be loaded. See the server's log.") from error

    def _record_failure(self, **details: object) -> None:
        self._failures += 1
        if not self.is_stale:  # once, not at each attempt
            self._served.stale.add(self)
            log.error("project_not_loaded", project_id=str(self.project_id), **details)

    async def _reload_keys(self) -> None:
        """Read the list of environments, and their keys."""
        is_anew = None in self._anew
        self._anew.discard(None)
        async with self._recording_failure():
            project = await self._served.loaders.load_project(self.project_id)
        if project is None or self.snapshot is not None or self._is_demanded:
            self._put(merge(project, self.snapshot, is_anew=is_anew) if project is not None else None)
        else:
            self._served.known.add(self)
            for observer in self._served.key_observers:
                observer(self.project_id, frozenset(project.key_hashes()))
        if project is not None:
            self._keys_read_at = project.read_at
            self._record_complete({each: Revision(at.revision, project.read_at) for each, at in project.known.items()})

    async def _reload_whole(self) -> None:
        """Read the list of environments, and load again those that have changed, or everything, one by one."""
        was_stale, failures = self.is_stale, self._failures
        is_anew = was_stale or None in self._anew
        if is_anew:
            self._anew.add(None)
            self._complete_at = None  # the database may have lost it
            self._served.loaders.forget(self.project_id)
        self._first_loads.outdate()
        await self._wait_for(self._keys)
        failure: Exception | None = None
        for each in {*find_outdated(self.snapshot, is_anew=is_anew), *self._first_loads.in_line()}:
            if is_anew:
                self._anew.add(each)
            try:
                await self._wait_for(self._load_of(each))
            except Error as error:  # the others are loaded all the same
                failure = error
        if failure is not None:
            raise failure
        if was_stale and failures == self._failures:
            self._served.stale.discard(self)
            log.info("project_loaded_again", project_id=str(self.project_id))

    async def _reload_environment(self, environment_id: UUID) -> None:
        """Load an environment again if it is loaded, or in line to be; otherwise read its keys, with all others."""
        is_anew = environment_id in self._anew
        self._anew.discard(environment_id)
        before = self.snapshot.find_loaded(environment_id) if self.snapshot is not None else None
        if before is None and environment_id not in self._first_loads.in_line():
            self._first_loads.outdate(environment_id)
            await self._wait_for(self._keys)
            return
        async with self._recording_failure():
            environment, committed = await self._served.loaders.load_environment(
                self.project_id, environment_id, None if is_anew else before
            )
        if self.snapshot is not None:
            if environment is None:
                self._put(self.snapshot.without(environment_id, is_deleted=True))
            else:
                self._put(self.snapshot.including(environment))
        self._record_complete(committed)

    def _install(self, environment: EnvironmentSnapshot) -> bool:
        """Serve what a first load has read, unless something newer is known."""
        known = self.snapshot.known.get(environment.environment_id) if self.snapshot is not None else None
        if self.snapshot is None or known is None or environment.revision < known.revision:
            return False
        self._put(self.snapshot.including(environment))
        return True

    def _load_of(self, environment_id: UUID) -> SharedLoad:
        load = self._environments.get(environment_id)
        if load is None:
            work = partial(self._reload_environment, environment_id)
            load = self._environments[environment_id] = SharedLoad(self._served.supervisor, work)
        return load

    def _record_complete(self, committed: Mapping[UUID, Revision]) -> None:
        revision = revision_of(committed)
        if revision is not None and not self._lacking(committed):
            self._complete_at = max(revision, self._complete_at or revision)

    def _put(self, snapshot: ProjectSnapshot | None) -> None:
        before, self.snapshot, self._is_demanded = self.snapshot, snapshot, False
        if snapshot is None:
            self._served.known.discard(self)
            self._served.loaders.forget(self.project_id)
            self._complete_at = None
        else:
            self._served.known.add(self)
        for observer in self._served.observers:
            observer(self.project_id, snapshot)
        if before is not None:
            self._forget_replaced(before)

    def _forget_replaced(self, before: ProjectSnapshot) -> None:
        for each in before.environments.values():
            if self.snapshot is None or self.snapshot.find_loaded(each.environment_id) is None:
                self._served.loaders.forget(each.environment_id)
        if replaced := find_replaced(before, self.snapshot):
            self._served.supervisor.start("free", in_worker(free, replaced))
