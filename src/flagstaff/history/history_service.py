"""The evaluation history: the result of each flag for each user, with the reason."""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, tzinfo
from typing import NamedTuple
from uuid import UUID

from flagstaff.changes.changes import Actor
from flagstaff.database.database import Connection, Database
from flagstaff.evaluation.history.filters import EvaluationFilter
from flagstaff.evaluation.history.records import RecordBatch, RecordedEvaluation
from flagstaff.evaluation.history.users import DistinctUsers
from flagstaff.evaluation.outcomes import Outcome
from flagstaff.flags import flags_store
from flagstaff.flags.access import FlagPath, open_flag
from flagstaff.history.erased_users import Digests
from flagstaff.history.store import batches
from flagstaff.history.store.distinct_users.user_sums import UsersOf, UserSums, sum_users
from flagstaff.history.store.events import write_events
from flagstaff.history.store.pages import list_evaluations
from flagstaff.history.store.recorded_flags import PresentFlag, RecordedFlag, own_flags
from flagstaff.history.store.summaries import VARIANT, Kind
from flagstaff.history.store.sums import FlagSums, TooManyCellsError, sum_by_interval
from flagstaff.metrics.events import EventBatch
from flagstaff.permissions.permissions import Permission
from flagstaff.projects import environments_store
from flagstaff.projects.access import open_environment, open_project
from flagstaff.values.errors import invalid_field
from flagstaff.values.intervals import (
    Intervals,
    calendar_intervals,
    intervals_of,
    minute_of,
    moment_of,
    shortest_minutes,
)

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


@dataclass(frozen=True, slots=True)
class SummaryFilter:
    """The subject of a summary: all flags, or the one with a key, and whether users are counted.

    The environment's evaluations are counted with the total of all flags.
    A key stands for the flag that has it, or else for the one that had it last; with an id, for the flag with the id.
    """

    flag_key: str | None = None
    flag_id: UUID | None = None
    counts_users: bool = True
    is_total: bool = False


@dataclass(frozen=True, slots=True)
class Predecessor:
    """A deleted flag that had a key before, with its results; the id is None if it is not known which flag it was.

    `last` is the start of the last interval in which it was evaluated.
    """

    flag_key: str
    flag_id: UUID | None
    on: int
    off: int
    last: datetime


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
    named_users: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Summary:
    """The results of each flag by key and interval; intervals in which it was not evaluated are left out.

    `own` is the flag that a key stands for; the others that had the key are its predecessors. Users are counted if it
    is a summary of one flag by whole days (`has_users`), and known if these are days in UTC.
    """

    since: datetime
    until: datetime
    sums: FlagSums
    own: Mapping[str, RecordedFlag]
    users: UserSums | None = None
    predecessors: list[Predecessor] = field(default_factory=list)
    has_users: bool = False

    def take_flags(self) -> Iterator[tuple[str, Iterator[FlagInterval]]]:
        """Remove and return each flag's key with its intervals, oldest first, and fill `predecessors`."""
        for flag, intervals in self.sums.take():
            own = self.own[flag.key]
            if flag == own:
                yield flag.key, (self._flag_interval(minute, kinds) for minute, kinds in intervals)
            elif flag.order() < own.order():
                self.predecessors.append(_predecessor(flag, intervals))

    def take_all(self) -> Iterator[FlagInterval]:
        """Remove and return the intervals of all flags."""
        for _, intervals in self.sums.take():
            for minute, kinds in intervals:
                yield self._flag_interval(minute, kinds)

    def _flag_interval(self, minute: int, kinds: Iterable[tuple[Kind, int]]) -> FlagInterval:
        interval = _flag_interval(minute, kinds)
        if self.users:
            day = minute // _MINUTES_A_DAY
            interval.users, interval.named_users = self.users.of_interval(day), self.users.names_of_interval(day)
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


def _predecessor(flag: RecordedFlag, intervals: Iterable[tuple[int, Iterable[tuple[Kind, int]]]]) -> Predecessor:
    found = [_flag_interval(minute, kinds) for minute, kinds in intervals]
    on, off = sum(each.on for each in found), sum(each.off for each in found)
    return Predecessor(flag.key, flag.id, on, off, found[-1].start)


class EnvironmentCount(NamedTuple):
    """The number of times that a flag was on and off in an environment."""

    environment_id: UUID
    on: int
    off: int


@dataclass(frozen=True, slots=True)
class FlagSummary:
    """The numbers of times that the flag with a key was on and off in each environment, in the order of these."""

    since: datetime
    until: datetime
    environments: Sequence[EnvironmentCount]


@dataclass(frozen=True, slots=True)
class History:
    """The use cases of the evaluation history. Those for an actor raise Error NOT_FOUND for others' resources.

    By `digests`, late records of users who were erased are known.
    """

    database: Database
    now: Callable[[], datetime]
    digests: Digests | None = None
    # One at a time: each pauses for other work, but many at once would still take most of the time.
    _summaries: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(1))

    async def record(self, *given: RecordBatch) -> set[int]:
        """Store batches of evaluations, all or none of them; return the ids of those that were not stored before."""
        async with self.database.write_history() as connection:
            return await batches.write_batches(connection, *given, digests=self.digests)

    async def record_events(self, *given: EventBatch) -> set[int]:
        """Store batches of events of metrics, all or none; return the ids of those that were not stored before."""
        async with self.database.write_history() as connection:
            return await write_events(connection, *given, digests=self.digests)

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
        """The evaluations of an environment with ids below `before`, including evaluations of deleted flags.

        A key in the filter stands for the flag that has it, or else for all that had it.
        """
        async with self.database.read() as connection:
            await open_environment(connection, actor, project_id, environment_id, Permission.EVALUATIONS_READ)
            wanted = await _of_present_flag(connection, environment_id, wanted)
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
        interval: str,
        zone: tzinfo,
        wanted: SummaryFilter,
    ) -> Summary:
        """Count how often each flag, or the one that is wanted, was on and off, by reason; by default in the last day.

        `since` is rounded down and `until` up to whole intervals of a time zone.

        Raises:
            Error: INVALID when the result is too large for one answer.
        """
        asked, flag_key = calendar_intervals(since, until or self.now(), interval, zone), wanted.flag_key
        async with self.database.read() as connection:
            await open_environment(connection, actor, project_id, environment_id, Permission.EVALUATIONS_READ)
            present = await find_present_flags(connection, environment_id, flag_key)
        async with self._summaries, self.database.read_history() as connection:
            number = await batches.find_environment_number(connection, environment_id)
            sums = FlagSums(asked.starts, MAX_CELLS)
            minutes = range(asked.start, asked.stop)
            is_of_users = wanted.counts_users and (flag_key or wanted.is_total) and _is_of_days(interval)
            users = _users_in(asked) if is_of_users else None
            own: Mapping[str, RecordedFlag] = {}
            if number is not None:
                try:
                    sums = await sum_by_interval(
                        connection,
                        number,
                        minutes,
                        asked.starts,
                        flag_key=flag_key,
                        present=present,
                        max_cells=MAX_CELLS,
                    )
                except TooManyCellsError:
                    raise invalid_field("interval", _TOO_MANY_CELLS) from None
                own = own_flags(sums.flags, present)
                if flag_key and wanted.flag_id:
                    own = {flag_key: RecordedFlag(flag_key, wanted.flag_id)}
                if users:
                    await sum_users(connection, number, _users_of(flag_key, own, present), users)
        return Summary(asked.since, asked.until, sums, own, users, has_users=bool(is_of_users))

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
            present = {each: await find_present_flags(connection, each, flag_key) for each in ids}
        async with self._summaries, self.database.read_history() as connection:
            counts = [await _count(connection, each, flag_key, present[each], asked) for each in ids]
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


def _users_of(flag_key: str | None, own: Mapping[str, RecordedFlag], present: Mapping[str, PresentFlag]) -> UsersOf:
    if flag_key is None:
        return UsersOf()
    now = present.get(flag_key)
    flag_id = own[flag_key].id if flag_key in own else now and now.id
    is_present = now is not None and now.id == flag_id
    return UsersOf(flag_key, flag_id, now.first_minute // _MINUTES_A_DAY if now and is_present else None)


def _is_of_days(interval: str) -> bool:
    return shortest_minutes(interval) % _MINUTES_A_DAY == 0


def _users_in(asked: Intervals) -> UserSums | None:
    """Return sums of users for intervals of days in UTC, by which users are counted; None for other days."""
    if any(each % _MINUTES_A_DAY for each in asked.bounds):
        return None
    days = [each // _MINUTES_A_DAY for each in asked.bounds]
    return UserSums(range(days[0], days[-1]), days[:-1])


async def _of_present_flag(connection: Connection, environment_id: UUID, wanted: EvaluationFilter) -> EvaluationFilter:
    """Return the filter with the id of the flag that has its key, if there is one."""
    if wanted.flag is None or wanted.flag.key is None or wanted.flag.flag_id is not None:
        return wanted
    present = await flags_store.list_identities(connection, environment_id, wanted.flag.key)
    for flag_id, _ in present.values():
        return replace(wanted, flag=replace(wanted.flag, flag_id=flag_id))
    return wanted


async def find_present_flags(
    connection: Connection, environment_id: UUID, flag_key: str | None
) -> Mapping[str, PresentFlag]:
    """The flags of an environment by key, or the one with the key."""
    found = await flags_store.list_identities(connection, environment_id, flag_key)
    return {key: PresentFlag(flag_id, minute_of(created_at)) for key, (flag_id, created_at) in found.items()}


async def _count(
    connection: Connection,
    environment_id: UUID,
    flag_key: str,
    present: Mapping[str, PresentFlag],
    asked: Intervals,
) -> EnvironmentCount:
    """Count how often the flag with a key was on and off in an environment."""
    number = await batches.find_environment_number(connection, environment_id)
    if number is None:
        return EnvironmentCount(environment_id, 0, 0)
    minutes = range(asked.start, asked.stop)
    sums = await sum_by_interval(
        connection, number, minutes, asked.starts, flag_key=flag_key, present=present, max_cells=MAX_CELLS
    )
    summary = Summary(asked.since, asked.until, sums, own_flags(sums.flags, present))
    found = [each for _, intervals in summary.take_flags() for each in intervals]
    return EnvironmentCount(environment_id, sum(each.on for each in found), sum(each.off for each in found))
