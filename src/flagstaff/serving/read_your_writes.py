"""Read your writes: answers wait until this instance serves the revision that a request demands.

A change's response leaves when all instances that are in touch serve the change. One that is not in touch may still
answer from an older state; a request that names the revision it has seen gets the new state from it, or an error.
"""

import asyncio
from uuid import UUID

from flagstaff.concurrency.shared_tasks import SharedTasks
from flagstaff.concurrency.supervisor import Supervisor
from flagstaff.evaluation.snapshot import ProjectSnapshot
from flagstaff.serving.current_snapshots import Snapshots
from flagstaff.values.errors import Error, unavailable

WAIT_SECONDS = 1.0
"""For how long a request waits."""


class ReadYourWrites:
    """Finds out whether the snapshots have a revision, and loads those that do not."""

    def __init__(self, snapshots: Snapshots, supervisor: Supervisor) -> None:
        self._snapshots = snapshots
        # By project: a revision whose changes its snapshot has, even if none of its environments has this number.
        self._reached: dict[UUID, int] = {}
        self._checks: SharedTasks[UUID, None] = SharedTasks(supervisor, "revision check")
        snapshots.observe(self._swap)

    async def reach(self, project: ProjectSnapshot, revision: int) -> None:
        """Return when the project's present snapshot has all changes up to a revision.

        Raises:
            Error: UNAVAILABLE if it does not within `WAIT_SECONDS`, or if the project has no such revision.
        """
        try:
            async with asyncio.timeout(WAIT_SECONDS):
                await self._reach(project, revision)
        except TimeoutError:
            raise _not_reached(revision) from None

    async def _reach(self, project: ProjectSnapshot, revision: int) -> None:
        project_id = project.project_id
        loaded = project.environments.values()  # what is loaded later is newer
        if loaded and all(max(each.revision, each.read_at) >= revision for each in loaded):
            return
        while self._reached.get(project_id, 0) < revision:
            # A check that runs already may have read before the revision was committed.
            shared = self._checks.find(project_id)
            await asyncio.shield(shared or self._checks.begin(project_id, self._check(project_id)))
            if shared is None and self._reached.get(project_id, 0) < revision:
                raise _not_reached(revision)

    async def _check(self, project_id: UUID) -> None:
        """Note up to which revision the snapshot has all changes, loading it again if it lacks some."""
        revision = await self._snapshots.catch_up(project_id)
        if revision is not None:
            self._reached[project_id] = max(revision, self._reached.get(project_id, 0))

    def _swap(self, project_id: UUID, project: ProjectSnapshot | None) -> None:
        if project is None:
            self._reached.pop(project_id, None)


def _not_reached(revision: int) -> Error:
    return unavailable(f"This instance does not have the revision {revision} of the project. Try again shortly.")
