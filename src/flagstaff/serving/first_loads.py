"""First loads of a project's environments, for which evaluations wait, and no change does.

What a first load has read is only served if no change has ended since it began. Otherwise it is loaded once more, in
line with the changes, which wait for that from then on: a project that always changes is loaded all the same.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from uuid import UUID

import structlog

from flagstaff.concurrency.claims import claiming
from flagstaff.database.revisions import Revision
from flagstaff.evaluation.snapshot import EnvironmentSnapshot
from flagstaff.serving.served import Served
from flagstaff.values.errors import Error, unavailable

log = structlog.get_logger(__name__)


class _FirstLoad:
    """A first load. `required` is a revision that it must have."""

    def __init__(self) -> None:
        self.is_outdated = self.is_in_line = False
        self.required = 0
        self.task: asyncio.Task[EnvironmentSnapshot | None]


class FirstLoads:
    """The first loads of one project that are under way. Projects take turns, a few loads at a time."""

    def __init__(
        self,
        project_id: UUID,
        served: Served,
        *,
        install: Callable[[EnvironmentSnapshot], bool],
        refresh: Callable[[UUID], Awaitable[EnvironmentSnapshot | None]],
    ) -> None:
        """`install` serves an environment, or returns False if something newer is known.

        `refresh` loads one in line with changes, and returns what is served then.
        """
        self._project_id = project_id
        self._served = served
        self._install = install
        self._refresh = refresh
        self._running: dict[UUID, _FirstLoad] = {}
        self._has_failed = False  # the latest one

    @property
    def are_running(self) -> bool:
        """True if there are any."""
        return bool(self._running)

    async def find(self, environment_id: UUID) -> EnvironmentSnapshot | None:
        """Load an environment, or wait for the load that is under way; None if it does not exist.

        Raises:
            Error: UNAVAILABLE when it cannot be loaded, or too many wait; LIMITED when too many of the project wait.
        """
        first = self._running.get(environment_id)
        if first is None or first.task.done():  # a task that was cancelled before it had begun
            first = self._running[environment_id] = _FirstLoad()
            with claiming(self._project_id):
                first.task = self._served.supervisor.spawn("first load", self._load(environment_id, first))
        return await asyncio.shield(first.task)

    def outdate(self, environment_id: UUID | None = None) -> None:
        """Note that a change has ended, to an environment or to the project."""
        for each, first in self._running.items():
            first.is_outdated |= environment_id in (each, None)

    def require(self, committed: Mapping[UUID, Revision]) -> None:
        """Note revisions that are committed: what is older is not served any more."""
        for each, first in self._running.items():
            if each in committed:
                first.required = max(first.required, committed[each].environment)

    def in_line(self) -> set[UUID]:
        """The environments that are loaded in line with changes."""
        return {each for each, first in self._running.items() if first.is_in_line}

    async def _load(self, environment_id: UUID, first: _FirstLoad) -> EnvironmentSnapshot | None:
        try:
            return await self._load_until_new(environment_id, first)
        finally:
            del self._running[environment_id]

    async def _load_until_new(self, environment_id: UUID, first: _FirstLoad) -> EnvironmentSnapshot | None:
        loaded = await self._read(environment_id, first)
        is_new = not first.is_outdated and loaded is not None and loaded.revision >= first.required
        if loaded is not None and is_new and self._install(loaded):
            return loaded
        first.is_in_line = True
        return await self._refresh(environment_id)

    async def _read(self, environment_id: UUID, first: _FirstLoad) -> EnvironmentSnapshot | None:
        async with self._served.turns.take(self._project_id):
            first.is_outdated = False  # what was committed until now is read
            try:
                loaded = await self._served.loaders.load_first(self._project_id, environment_id)
            except Error as error:
                self._record_failure(environment_id, reason=error.message)
                raise
            except Exception as error:
                self._record_failure(environment_id, exc_info=error)
                raise unavailable("The environment's flags cannot be loaded. See the server's log.") from error
        self._has_failed = False
        return loaded

    def _record_failure(self, environment_id: UUID, **details: object) -> None:
        if not self._has_failed:  # once, not at each request
            self._has_failed = True
            log.error("environment_not_loaded", environment_id=str(environment_id), **details)
