"""Reads whole histories, in the order in which evaluations were stored, for those who keep them elsewhere."""

from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from flagstaff.database.database import Connection, Database
from flagstaff.evaluation.history.filters import EvaluationFilter
from flagstaff.history.exported_rows import ExportedPlace
from flagstaff.history.history_service import find_present_flags
from flagstaff.history.store import event_segments
from flagstaff.history.store.batches import find_environment_number
from flagstaff.history.store.followed_events import EventStretch, read_events
from flagstaff.history.store.following import Position, Stretch, find_last_segment, read_segments, read_unfinished
from flagstaff.history.store.recorded_flags import own_flags
from flagstaff.history.store.summaries import VARIANT, Kind
from flagstaff.history.store.sums import FlagSums, sum_by_interval
from flagstaff.metrics.events import EventFilter
from flagstaff.projects import environments_store, projects_store, sdk_keys_store
from flagstaff.values.errors import Code, Error

MAX_FLAGS = 10_000  # with one key
_MINUTES_A_DAY = 1440
_ALL_MINUTES = range(2**31 // _MINUTES_A_DAY * _MINUTES_A_DAY)


async def find_places(connection: Connection, environment_ids: Collection[UUID]) -> Mapping[UUID, ExportedPlace]:
    """The places of these environments that exist, by their ids."""
    places = await environments_store.find_places(connection, environment_ids)
    names = await sdk_keys_store.find_key_names(connection, places.keys())
    return {
        environment_id: ExportedPlace(project_id, environment_id, key, names.get(environment_id, {}))
        for environment_id, (project_id, key) in places.items()
    }


def _results(kinds: Iterable[tuple[Kind, int]]) -> int:
    return sum(times for (outcome, _, _), times in kinds if outcome != VARIANT)


@dataclass(frozen=True, slots=True)
class HistoryExports:
    """The use cases of exports of the history, for whoever has the database. Raise Error UNAVAILABLE without it."""

    database: Database

    async def list_places(self, project_id: UUID, key: str | None) -> Sequence[ExportedPlace]:
        """The places of a project's environments, or of the one with the key.

        Raises:
            Error: NOT_FOUND when there is no such project or environment.
        """
        async with self.database.read() as connection:
            if await projects_store.find_project(connection, project_id) is None:
                raise Error(Code.NOT_FOUND, f"There is no project {project_id}.")
            found = [*await environments_store.list_environments(connection, project_id)]
            wanted = [each.id for each in found if key in {None, each.key}]
            places = await find_places(connection, wanted)
        if key is not None and not wanted:
            known = ", ".join(each.key for each in found)
            raise Error(Code.NOT_FOUND, f"The project has no environment {key!r}. Its environments are {known}.")
        return [places[each] for each in wanted]

    async def list_flags(self, environment_id: UUID, key: str) -> tuple[UUID | None, Mapping[UUID, int]]:
        """The flag that a key stands for, and the number of results of each flag that has had it, as far as known."""
        async with self.database.read() as connection:
            present = await find_present_flags(connection, environment_id, key)
        async with self.database.read_history() as connection:
            number = await find_environment_number(connection, environment_id)
            sums = FlagSums([0], MAX_FLAGS)
            if number is not None:
                sums = await sum_by_interval(
                    connection, number, _ALL_MINUTES, sums.starts, flag_key=key, present=present, max_cells=MAX_FLAGS
                )
        own = own_flags(sums.flags, present).get(key) or present.get(key)
        results = {flag.id: _results(kinds) for flag, intervals in sums.take() for _, kinds in intervals if flag.id}
        return own and own.id, results

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

    async def read_events(
        self, environment_id: UUID, position: Position, wanted: EventFilter
    ) -> AsyncIterator[EventStretch]:
        """The same for an environment's events."""
        async with self.database.read_history() as connection:
            number = await find_environment_number(connection, environment_id)
            if number is None:
                return
            last = await event_segments.find_last(connection, number)
        stretch = EventStretch(position)
        while True:
            async with self.database.read_history() as connection:
                after = await read_events(connection, number, stretch.position, wanted, last=last)
            if after.position == stretch.position:
                return
            yield after
            stretch = after
