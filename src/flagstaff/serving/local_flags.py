"""The flags of each environment for applications that evaluate them themselves, loaded when one asks for a new state.

Never serves a state that is older than the environment's snapshot. While the database is away, the current state is
still served if it was loaded before.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from uuid import UUID

from flagstaff.concurrency.loop_turns import loop_turns
from flagstaff.concurrency.shared_tasks import SharedTasks
from flagstaff.concurrency.supervisor import Supervisor
from flagstaff.concurrency.worker import in_worker
from flagstaff.evaluation.snapshot import EnvironmentSnapshot, KnownEnvironment, ProjectSnapshot
from flagstaff.evaluation.unleash.local_flags import LocalFlags
from flagstaff.values.errors import not_found, unavailable

REMEMBERED = 256
"""For how many environments the flags are kept: those that were asked for last."""

REMEMBERED_BYTES = 128 * 1024 * 1024
"""Of how many bytes the flags of all of these may be; those of the last environment are kept in any case."""

Load = Callable[[UUID, UUID], Awaitable[LocalFlags | None]]
"""Loads the flags of a project's environment; sees everything that was committed before the call."""


class LocalFlagsCache:
    """The latest loaded flags of each environment."""

    def __init__(self, load: Load, supervisor: Supervisor, remembered_bytes: int = REMEMBERED_BYTES) -> None:
        self._load = load
        self._remembered_bytes = remembered_bytes
        self._known: OrderedDict[UUID, LocalFlags] = OrderedDict()
        self._sizes: dict[UUID, int] = {}
        self._loading: SharedTasks[UUID, LocalFlags | None] = SharedTasks(supervisor, "local flags")

    def find(self, environment: EnvironmentSnapshot | KnownEnvironment) -> LocalFlags | None:
        """The flags of an environment if they are loaded and at least as new as its snapshot."""
        known = self._known.get(environment.environment_id)
        if known is None or known.revision < environment.revision:
            return None
        self._known.move_to_end(environment.environment_id)
        return known

    async def current(self, environment: EnvironmentSnapshot | KnownEnvironment) -> LocalFlags:
        """The flags of an environment in a state that is at least as new as its snapshot, loaded if necessary.

        Callers share a load, unless it began before the snapshot's state was committed.

        Raises:
            Error: UNAVAILABLE while they cannot be loaded, NOT_FOUND when the environment has been deleted.
        """
        known = self.find(environment)
        while known is None:
            shared = self._loading.find(environment.environment_id)
            loaded = await asyncio.shield(shared or self._begin(environment))
            if loaded is None:
                raise not_found("environment")
            await loop_turns().wait()  # all who have asked since a change have it at once
            known = self.find(environment)
            if known is None and shared is None:
                raise unavailable("The flags cannot be loaded right now. Try again shortly.")
        return known

    def forget(self, project: ProjectSnapshot) -> None:
        """Forget the flags of a project's environments."""
        for environment_id in project.known:
            self._drop(environment_id)

    def _drop(self, environment_id: UUID) -> None:
        self._known.pop(environment_id, None)
        self._sizes.pop(environment_id, None)

    def _begin(self, environment: EnvironmentSnapshot | KnownEnvironment) -> asyncio.Task[LocalFlags | None]:
        environment_id = environment.environment_id
        return self._loading.begin(environment_id, self._keep(environment.project_id, environment_id))

    async def _keep(self, project_id: UUID, environment_id: UUID) -> LocalFlags | None:
        loaded = await self._load(project_id, environment_id)
        if loaded is None:
            self._drop(environment_id)
            return None
        before = self._known.get(environment_id)
        if before is not None:
            loaded = await in_worker(loaded.after, before)
        size = await in_worker(loaded.measure)
        self._known[environment_id], self._sizes[environment_id] = loaded, size
        self._known.move_to_end(environment_id)
        while len(self._known) > REMEMBERED or (
            len(self._known) > 1 and sum(self._sizes.values()) > self._remembered_bytes
        ):
            self._drop(next(iter(self._known)))
        return loaded
