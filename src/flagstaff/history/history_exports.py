"""Reads whole histories, in the order in which evaluations were stored, for those who keep them elsewhere."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from uuid import UUID

from flagstaff.database.database import Database
from flagstaff.evaluation.history.filters import EvaluationFilter
from flagstaff.history.store.batches import find_environment_number
from flagstaff.history.store.following import Position, Stretch, find_last_segment, read_segments, read_unfinished
from flagstaff.projects import environments_store, projects_store
from flagstaff.projects.projects import Environment
from flagstaff.values.errors import Code, Error


@dataclass(frozen=True, slots=True)
class HistoryExports:
    """The use cases of exports of the history, for whoever has the database. Raise Error UNAVAILABLE without it."""

    database: Database

    async def list_environments(self, project_id: UUID, key: str | None) -> Sequence[Environment]:
        """A project's environments, or the one with the key.

        Raises:
            Error: NOT_FOUND when there is no such project or environment.
        """
        async with self.database.read() as connection:
            if await projects_store.find_project(connection, project_id) is None:
                raise Error(Code.NOT_FOUND, f"There is no project {project_id}.")
            found = [*await environments_store.list_environments(connection, project_id)]
        wanted = [each for each in found if key in {None, each.key}]
        if key is not None and not wanted:
            known = ", ".join(each.key for each in found)
            raise Error(Code.NOT_FOUND, f"The project has no environment {key!r}. Its environments are {known}.")
        return wanted

    async def read(self, environment_id: UUID, position: Position, wanted: EvaluationFilter) -> AsyncIterator[Stretch]:
        """Read an environment's history after a position, up to what is stored at the beginning.

        Each stretch is read in a transaction of its own, so that even a long reading keeps no old rows alive.

        Raises:
            Error: CONFLICT at what only a newer version of Flagstaff can read.
        """
        async with self.database.read_history() as connection:
            number = await find_environment_number(connection, environment_id)
            if number is None:
                return
            last = await find_last_segment(connection, number)
            stretch = await read_unfinished(connection, number, position, wanted)
        while True:
            yield stretch
            async with self.database.read_history() as connection:
                after = await read_segments(connection, number, stretch.position, wanted, last=last)
            if after.position == stretch.position:
                return
            stretch = after
