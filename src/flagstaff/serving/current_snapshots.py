"""The current snapshot of each project: a look-up on a hit, one shared load on a miss, a swap on a change."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from uuid import UUID
from weakref import WeakValueDictionary

from flagstaff.concurrency.fair_queue import FairQueue
from flagstaff.concurrency.supervisor import Supervisor
from flagstaff.evaluation.snapshot import EnvironmentSnapshot, ProjectSnapshot
from flagstaff.serving.loaders import Loaders
from flagstaff.serving.served import Served
from flagstaff.serving.served_project import ServedProject
from flagstaff.telemetry.metrics import Metrics

FIRST_LOADS_AT_ONCE, FIRST_LOADS_WAITING = 2, 1_000
_TOO_MANY = "Too many environments are being loaded. Try again shortly."


class Snapshots:
    """The projects that are served, by their ids."""

    def __init__(self, loaders: Loaders, supervisor: Supervisor) -> None:
        turns = FairQueue(
            at_once=FIRST_LOADS_AT_ONCE,
            waiting=FIRST_LOADS_WAITING,
            waiting_of_one=FIRST_LOADS_WAITING,
            too_many=_TOO_MANY,
            too_many_of_one=_TOO_MANY,
        )
        self._served = Served(loaders, supervisor, turns)
        # A project that is not known may be in use all the same, and must not be loaded by two objects at once.
        self._projects: WeakValueDictionary[UUID, ServedProject] = WeakValueDictionary()

    def export_metrics(self, metrics: Metrics) -> None:
        """Export the numbers of projects and environments."""
        metrics.add_gauge("snapshots", "Projects in memory.", lambda: len(self.loaded))
        metrics.add_gauge("snapshot_environments", "Environments whose flags are in memory.", self.count_environments)
        metrics.add_gauge("snapshots_stale", "Projects that could not be loaded.", lambda: len(self._served.stale))

    @property
    def loaded(self) -> Mapping[UUID, ProjectSnapshot]:
        """The snapshots in memory, by their projects' ids."""
        return {each.project_id: each.snapshot for each in self._served.known if each.snapshot is not None}

    def count_environments(self) -> int:
        """Count the environments whose flags are in memory."""
        return sum(len(each.environments) for each in self.loaded.values())

    def list_known(self) -> list[ServedProject]:
        """The projects that are loaded, or whose keys were read."""
        return list(self._served.known)

    def is_stale(self, project_id: UUID | None = None) -> bool:
        """Return whether the latest load of a project, or of any, has failed, so that it may serve an old state."""
        stale = self._served.stale
        return bool(stale) if project_id is None else self._projects.get(project_id) in stale

    def is_loading(self) -> bool:
        """Return whether a project is being loaded."""
        return any(each.is_loading for each in self._projects.values())

    def observe(self, observer: Callable[[UUID, ProjectSnapshot | None], None]) -> None:
        """Call `observer` at each swap with the project's id and its new snapshot, or None if it does not exist.

        All observers have returned before any task sees the new snapshot.
        """
        self._served.observers.append(observer)

    def observe_keys(self, observer: Callable[[UUID, frozenset[bytes]], None]) -> None:
        """Call `observer` after each change to a project that is not loaded, with its id and its SDK keys' hashes."""
        self._served.key_observers.append(observer)

    async def find(self, project_id: UUID) -> ProjectSnapshot | None:
        """The snapshot of a project; see `ServedProject.find`."""
        return await self._project(project_id).find()

    async def find_environment(self, project_id: UUID, environment_id: UUID) -> EnvironmentSnapshot | None:
        """An environment of a project; see `ServedProject.find_environment`."""
        return await self._project(project_id).find_environment(environment_id)

    def find_present(self, project_id: UUID) -> ProjectSnapshot | None:
        """The present state of a project, if it is in memory."""
        known = self._projects.get(project_id)
        return known.snapshot if known is not None else None

    def unload_environment(self, project_id: UUID, environment_id: UUID) -> bool:
        """Unload an environment; see `ServedProject.unload_environment`."""
        known = self._projects.get(project_id)
        return known is not None and known.unload_environment(environment_id)

    async def refresh(self, project_id: UUID, environment_id: UUID | None = None) -> None:
        """Load a project, or one of its environments; see `ServedProject.refresh`."""
        await self._project(project_id).refresh(environment_id)

    def begin_refresh(self, project_id: UUID, environment_id: UUID | None = None) -> asyncio.Task[None]:
        """Start a `refresh` without waiting for it."""
        return self._project(project_id).begin_refresh(environment_id)

    async def catch_up(self, project_id: UUID) -> int | None:
        """Serve what is committed to a project; see `ServedProject.catch_up`."""
        return await self._project(project_id).catch_up()

    async def is_served(self, project_id: UUID) -> bool:
        """Return whether what is committed to a project is served; see `ServedProject.is_served`."""
        return await self._project(project_id).is_served()

    async def find_served(self, project_id: UUID) -> int | None:
        """The revision of a project whose changes are all served; see `ServedProject.find_served`."""
        return await self._project(project_id).find_served()

    async def refresh_all(self, others: Iterable[UUID]) -> None:
        """Load again the projects that are loaded or being loaded, and these others."""
        loading = {each.project_id for each in self._projects.values() if each.is_in_use}
        await self._refresh_each([self._project(each) for each in {*others, *self.loaded, *loading}])

    async def retry(self) -> None:
        """Load again each project that is stale; those that fail again stay stale."""
        await self._refresh_each(list(self._served.stale))

    def problems(self) -> list[str]:
        """A sentence about stale projects, if there are any."""
        if not self._served.stale:
            return []
        return [f"{len(self._served.stale)} project(s) could not be loaded after a change and may serve an old state."]

    def _project(self, project_id: UUID) -> ServedProject:
        known = self._projects.get(project_id)
        return known or self._projects.setdefault(project_id, ServedProject(project_id, self._served))

    async def _refresh_each(self, projects: Iterable[ServedProject]) -> None:
        """Load projects again, one by one. One that cannot be loaded becomes stale and does not stop the others."""
        for each in projects:
            await asyncio.wait([each.begin_reload()])  # its failure is logged, and it stays stale
