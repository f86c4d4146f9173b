"""The evaluation history: the result of each flag for each user, with the reason."""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from flagstaff.audit.changes import Actor
from flagstaff.database.database import Connection, Database
from flagstaff.evaluation.history.filters import EvaluationFilter
from flagstaff.evaluation.history.records import RecordBatch, RecordedEvaluation
from flagstaff.evaluation.history.users import DistinctUsers
from flagstaff.evaluation.outcomes import Outcome
from flagstaff.history.store import batches
from flagstaff.history.store.distinct_users.user_sums import UserSums, sum_users
from flagstaff.history.store.events import write_events
from flagstaff.history.store.pages import list_evaluations
from flagstaff.history.store.summaries import VARIANT, Kind
from flagstaff.history.store.sums import FlagSums, TooManyCellsError, sum_by_interval
from flagstaff.metrics.events import EventBatch
from flagstaff.projects import environments_store
from flagstaff.projects.access import FlagPath, open_environment, open_flag, open_project
from flagstaff.projects.permissions import Permission
from flagstaff.values.errors import invalid_field
from flagstaff.values.intervals import Intervals, intervals_of, moment_of

LONGEST_FLAG_SUMMARY = timedelta(days=31)
MAX_CELLS = 100_000  # flags times intervals in one answer
_TOO_MANY_CELLS = "is too short for this many flags; use a longer interval, a shorter time range or flag_key"

_MINUTES_A_DAY = 1440


@dataclass(frozen=True, slots=True)
class EvaluationsPage:
    """Evaluations, newest first. Older ones have ids below `next_before`, which is None if there are none.

    A search examines a bounded part of the history at a time, so a short page is not necessarily the last.
    """

    items: list[RecordedEvaluation]
    next_before: bytes | None


@dataclass(slots=True)
class FlagInterval:
    """The results of a flag in an interval: how often it was on and off, for each reason, and with each variant."""

    start: datetime
    on: int
    off: int
    reasons: dict[str, int]
    off_reasons: list[str]
    variants: dict[str, int]
    users: DistinctUsers | None = None


@dataclass(frozen=True, slots=True)
class Summary:
    """The results of each flag by key and interval; intervals in which it was not evaluated are left out.

    Users are counted if it is a summary of one flag by whole days.
    """

    since: datetime
    until: datetime
    interval: timedelta
    sums: FlagSums
    users: UserSums | None = None

    def take_flags(self) -> Iterator[tuple[str, Iterator[FlagInterval]]]:
        """Remove and return each flag's key with its intervals, oldest first."""
        for key, intervals in self.sums.take():
            yield key, (self._flag_interval(minute, kinds) for minute, kinds in intervals)

    def _flag_interval(self, minute: int, kinds: Iterable[tuple[Kind, int]]) -> FlagInterval:
        interval = _flag_interval(minute, kinds)
        interval.users = self.users.of_interval(minute // _MINUTES_A_DAY) if self.users else None
        return interval


def _flag_interval(minute: int, kinds: Iterable[tuple[Kind, int]]) -> FlagInterval:
    interval = FlagInterval(moment_of(minute), 0, 0, {}, [], {})
    for (number, percentage, detail), times in kinds:
        if number == VARIANT:
            interval.variants[detail] = times
            continue
        outcome = Outcome(number)
        reason = outcome.reason(percentage, detail)
        interval.reasons[reason] = times
        if outcome.enabled:
            interval.on += times
        else:
            interval.off += times
            interval.off_reasons.append(reason)
    return interval


class EnvironmentCount(NamedTuple):
    """The number of times that a flag was on and off in an environment."""

    environment_id: UUID
    on: int
    off: int


@dataclass(frozen=True, slots=True)
class FlagSummary:
    """The numbers of times that the flags with a key were on and off in each environment, in the order of these."""

    since: datetime
    until: datetime
    environments: Sequence[EnvironmentCount]


@dataclass(frozen=True, slots=True)
class History:
    """The use cases of the evaluation history. Those for an actor raise Error NOT_FOUND for others' resources."""

    database: Database
    now: Callable[[], datetime]
    # One at a time: each pauses for other work, but many at once would still take most of the time.
    _summaries: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(1))

    async def record(self, *given: RecordBatch) -> set[int]:
        """Store batches of evaluations, all or none of them; return the ids of those that were not stored before."""
        async with self.database.write_history() as connection:
            return await batches.write_batches(connection, *given)

    async def record_events(self, *given: EventBatch) -> set[int]:
        """Store batches of events of metrics, all or none; return the ids of those that were not stored before."""
        async with self.database.write_history() as connection:
            return await write_events(connection, *given)

    async def list_environment_evaluations(
        self,
        actor: Actor,
        project_id: UUID,
        environment_id: UUID,
        wanted: EvaluationFilter,
        *,
        limit: int,
        before: bytes | None,
    ) -> EvaluationsPage:
        """The evaluations of an environment with ids below `before`, including those of deleted flags."""
        async with self.database.read() as connection:
            await open_environment(connection, actor, project_id, environment_id, Permission.EVALUATIONS_READ)
        return await self._list(environment_id, wanted, limit=limit, before=before)

    async def list_flag_evaluations(
        self, actor: Actor, path: FlagPath, wanted: EvaluationFilter, *, limit: int, before: bytes | None
    ) -> EvaluationsPage:
        """The evaluations of a flag with ids below `before`; `wanted` filters by the flag's id."""
        async with self.database.read() as connection:
            await open_flag(connection, actor, path, Permission.EVALUATIONS_READ)
        return await self._list(path.environment_id, wanted, limit=limit, before=before)

    async def summarise_environment(
        self,
        actor: Actor,
        project_id: UUID,
        environment_id: UUID,
        *,
        since: datetime | None,
        until: datetime | None,
        interval: timedelta,
        flag_key: str | None,
        counts_users: bool = True,
    ) -> Summary:
        """Count how often each flag, or the one with the key, was on and off, by reason; by default in the last day.

        `since` is rounded down and `until` up to whole intervals, which start at midnight UTC or a multiple after it.

        Raises:
            Error: INVALID when the result is too large for one answer.
        """
        asked = intervals_of(since, until or self.now(), interval)
        start, stop, step = asked.start, asked.stop, asked.step
        async with self.database.read() as connection:
            await open_environment(connection, actor, project_id, environment_id, Permission.EVALUATIONS_READ)
        async with self._summaries, self.database.read_history() as connection:
            number = await batches.find_environment_number(connection, environment_id)
            sums = FlagSums(step, MAX_CELLS)
            minutes = range(start, stop)
            days = range(start // _MINUTES_A_DAY, stop // _MINUTES_A_DAY)
            is_of_users = counts_users and flag_key and step % _MINUTES_A_DAY == 0
            users = UserSums(days, step // _MINUTES_A_DAY) if is_of_users else None
            if number is not None:
                try:
                    sums = await sum_by_interval(
                        connection, number, minutes, step, flag_key=flag_key, max_cells=MAX_CELLS
                    )
                except TooManyCellsError:
                    raise invalid_field("interval", _TOO_MANY_CELLS) from None
                if users and flag_key:
                    await sum_users(connection, number, flag_key, users)
        return Summary(asked.since, asked.until, interval, sums, users)

    async def summarise_flag(
        self, actor: Actor, project_id: UUID, flag_key: str, *, since: datetime | None, until: datetime | None
    ) -> FlagSummary:
        """Count how often the flag with a key was on and off in each environment; by default in the last day.

        `since` is rounded down and `until` up to whole hours.

        Raises:
            Error: INVALID for more than 31 days.
        """
        end = until or self.now()
        if since is not None and end - since > LONGEST_FLAG_SUMMARY:
            raise invalid_field("since", f"must be at most {LONGEST_FLAG_SUMMARY.days} days before until")
        asked = intervals_of(since, end, timedelta(hours=1))
        async with self.database.read() as connection:
            await open_project(connection, actor, project_id, Permission.EVALUATIONS_READ)
            ids = [each.id for each in await environments_store.list_environments(connection, project_id)]
        async with self._summaries, self.database.read_history() as connection:
            counts = [await _count(connection, each, flag_key, asked) for each in ids]
        return FlagSummary(asked.since, asked.until, counts)

    async def _list(
        self, environment_id: UUID, wanted: EvaluationFilter, *, limit: int, before: bytes | None
    ) -> EvaluationsPage:
        async with self.database.read_history() as connection:
            number = await batches.find_environment_number(connection, environment_id)
            if number is None:
                return EvaluationsPage([], None)
            page = await list_evaluations(connection, number, wanted, limit=limit, before=before)
        return EvaluationsPage(page.items, page.next_before)


async def _count(connection: Connection, environment_id: UUID, flag_key: str, asked: Intervals) -> EnvironmentCount:
    """Count how often the flag with a key was on and off in an environment."""
    number = await batches.find_environment_number(connection, environment_id)
    if number is None:
        return EnvironmentCount(environment_id, 0, 0)
    minutes = range(asked.start, asked.stop)
    sums = await sum_by_interval(connection, number, minutes, asked.step, flag_key=flag_key, max_cells=MAX_CELLS)
    found = [_flag_interval(minute, kinds) for _, intervals in sums.take() for minute, kinds in intervals]
    return EnvironmentCount(environment_id, sum(each.on for each in found), sum(each.off for each in found))
