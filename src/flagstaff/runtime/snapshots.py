"""The present snapshot of each project, by SDK key: a look-up on a hit, one shared load on a miss, a swap on a change.

Never serves what a finished change has replaced, and never asks the database about a key that does not exist.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from uuid import UUID
from weakref import WeakValueDictionary

from flagstaff.evaluation.snapshot import EnvironmentSnapshot, ProjectSnapshot


class Snapshots:
    """All projects' snapshots. The loaders each see everything that was committed before their call."""

    def __init__(
        self,
        *,
        load_sdk_keys: Callable[[], Awaitable[Mapping[str, UUID]]],
        load_project: Callable[[UUID], Awaitable[ProjectSnapshot | None]],
        load_environment: Callable[[UUID, UUID], Awaitable[EnvironmentSnapshot | None]],
    ) -> None:
        self._load_sdk_keys = load_sdk_keys
        self._load_project = load_project
        self._load_environment = load_environment
        self.by_sdk_key: dict[str, ProjectSnapshot] = {}  # what is loaded; the hot path reads it and nothing else does
        self._project_ids: dict[str, UUID] = {}  # every SDK key there is, loaded or not
        self._sdk_keys: dict[UUID, str] = {}
        self._first_loads: dict[UUID, asyncio.Task[None]] = {}
        self._waiting: dict[tuple[UUID, UUID | None], asyncio.Task[None]] = {}
        self._locks: WeakValueDictionary[UUID, asyncio.Lock] = WeakValueDictionary()
        self._stale: set[UUID] = set()

    async def start(self) -> None:
        """Learn which SDK keys there are; projects are loaded when they are first asked for."""
        for sdk_key, project_id in (await self._load_sdk_keys()).items():
            self._project_ids[sdk_key] = project_id
            self._sdk_keys[project_id] = sdk_key

    async def find(self, sdk_key: str) -> ProjectSnapshot | None:
        """The snapshot of the project with this key, loaded first if need be; None if there is no such key."""
        project_id = self._project_ids.get(sdk_key)
        if project_id is None:
            return None
        if sdk_key not in self.by_sdk_key:
            # Even a load that has begun will do: a change during it is not answered before it is loaded after it.
            loading = self._first_loads.get(project_id)
            if loading is None:
                loading = self._first_loads[project_id] = asyncio.create_task(self._load_first(project_id))
            await asyncio.shield(loading)
        return self.by_sdk_key.get(sdk_key)

    async def refresh(self, project_id: UUID, environment_id: UUID | None = None) -> None:
        """Load what is committed of a project, or of one of its environments, and serve it from now on.

        Callers share one load if it has not begun when they come. When a load fails its error is raised, the old
        snapshot goes on being served, and `retry` makes good for it.
        """
        place = (project_id, environment_id)
        task = self._waiting.get(place)
        if task is None:
            task = self._waiting[place] = asyncio.create_task(self._reload_in_turn(project_id, environment_id))
        await asyncio.shield(task)

    async def refresh_all(self) -> None:
        """Load again whatever is loaded, and learn anew which SDK keys there are: changes may have been missed."""
        present = {project_id: sdk_key for sdk_key, project_id in (await self._load_sdk_keys()).items()}
        known = dict(self._sdk_keys)
        differing = {place for place in present.keys() | known.keys() if present.get(place) != known.get(place)}
        for project_id in differing | {snapshot.project_id for snapshot in self.by_sdk_key.values()}:
            await self.refresh(project_id)

    async def retry(self) -> None:
        """Load again whatever could not be loaded after its change; raises what the first failure raises."""
        for project_id in tuple(self._stale):
            await self.refresh(project_id)

    async def _load_first(self, project_id: UUID) -> None:
        try:
            await self.refresh(project_id)
        finally:
            del self._first_loads[project_id]

    async def _reload_in_turn(self, project_id: UUID, environment_id: UUID | None) -> None:
        lock = self._locks.get(project_id) or self._locks.setdefault(project_id, asyncio.Lock())
        async with lock:  # so that no slow load can put an old state over a newer one
            del self._waiting[project_id, environment_id]  # who comes from here on may need more than this load sees
            was_stale = project_id in self._stale
            self._stale.add(project_id)
            await self._reload(project_id, None if was_stale else environment_id)
            self._stale.discard(project_id)

    async def _reload(self, project_id: UUID, environment_id: UUID | None) -> None:
        loaded = self.by_sdk_key.get(self._sdk_keys.get(project_id, ""))
        if environment_id is None or loaded is None:
            self._put(project_id, await self._load_project(project_id))
            return
        others = {key: known for key, known in loaded.environments.items() if known.environment_id != environment_id}
        environment = await self._load_environment(project_id, environment_id)
        if environment is not None:
            others[environment.environment_key] = environment
        self._put(project_id, replace(loaded, environments=others))

    def _put(self, project_id: UUID, snapshot: ProjectSnapshot | None) -> None:
        old_key = self._sdk_keys.pop(project_id, None)
        if old_key is not None:
            self._project_ids.pop(old_key, None)
            self.by_sdk_key.pop(old_key, None)
        if snapshot is not None:
            self._sdk_keys[project_id] = snapshot.sdk_key
            self._project_ids[snapshot.sdk_key] = project_id
            self.by_sdk_key[snapshot.sdk_key] = snapshot
