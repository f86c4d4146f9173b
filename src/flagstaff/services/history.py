"""The evaluation history: who got what, and why; and its end, by age and with what it belongs to."""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from uuid import UUID

from flagstaff.domain.changes import Actor
from flagstaff.domain.errors import invalid_field
from flagstaff.evaluation.history.filters import EvaluationFilter
from flagstaff.evaluation.history.layout import Layout
from flagstaff.evaluation.history.records import RecordBatch, RecordedEvaluation
from flagstaff.services.access import FlagPath, open_environment, open_flag
from flagstaff.storage import environments
from flagstaff.storage.database import Database
from flagstaff.storage.history import batches, deletions
from flagstaff.storage.history.pages import get_layouts, list_evaluations
from flagstaff.storage.history.summaries import Count, outcomes_of, sum_by_interval

MAX_INTERVALS = 1000
MAX_CELLS = 100_000  # flags times intervals in one answer
DELETED_AT_ONCE = 50  # segments, so that no batch waits long for a deletion
BATCHES_REMEMBERED = timedelta(days=7)  # how late one may come again of which nobody knew whether it had arrived

_MINUTE = timedelta(minutes=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class EvaluationsPage:
    """Evaluations, newest first; those before the id `next_before` are older, unless that is None.

    A search looks at a bounded part of the history at a time, so that a page may be short and not the last.
    """

    items: Sequence[RecordedEvaluation]
    next_before: bytes | None


@dataclass(slots=True)
class FlagInterval:
    """What came of a flag in an interval: how often it was on and off, and how often for each reason."""

    start: datetime
    on: int
    off: int
    reasons: dict[str, int]


@dataclass(frozen=True, slots=True)
class Summary:
    """Per flag key its intervals, oldest first; intervals in which a flag was not evaluated are left out."""

    since: datetime
    until: datetime
    interval: timedelta
    flags: Mapping[str, Sequence[FlagInterval]]


@dataclass(frozen=True, slots=True)
class History:
    """The use cases of the evaluation history. Those for an actor raise Error NOT_FOUND for what is not theirs."""

    database: Database
    now: Callable[[], datetime]

    async def record(self, batch: RecordBatch) -> bool:
        """Store a batch of evaluations; return False, and change nothing, if it is there already."""
        async with self.database.write_history() as connection:
            return await batches.write_batch(connection, batch)

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
        """The evaluations of an environment, also of flags that are no more, below the id `before`."""
        async with self.database.read() as connection:
            await open_environment(connection, actor, project_id, environment_id)
        return await self._list(environment_id, wanted, limit=limit, before=before)

    async def list_flag_evaluations(
        self, actor: Actor, path: FlagPath, wanted: EvaluationFilter, *, limit: int, before: bytes | None
    ) -> EvaluationsPage:
        """The evaluations of a flag, by whose id `wanted` filters, below the id `before`."""
        async with self.database.read() as connection:
            await open_flag(connection, actor, path)
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
    ) -> Summary:
        """How often each flag, or the one with the key, was on and off, by reason; of the last 24 hours by default.

        `since` is rounded down and `until` up to whole intervals, which start at midnight UTC or a multiple after it.

        Raises:
            Error: INVALID when that would be too much for one answer.
        """
        step = interval // _MINUTE
        end = until or self.now()
        stop = -(-_minutes(end, up=True) // step) * step
        start = _minutes(since if since is not None else end - timedelta(days=1)) // step * step
        if start >= stop:
            raise invalid_field("since", "must be before until")
        if (stop - start) // step > MAX_INTERVALS:
            raise invalid_field("interval", f"must divide the time into at most {MAX_INTERVALS:,} parts")
        async with self.database.read() as connection:
            await open_environment(connection, actor, project_id, environment_id)
        async with self.database.read_history() as connection:
            number = await batches.find_environment_number(connection, environment_id)
            sums = {} if number is None else await sum_by_interval(connection, number, range(start, stop), step)
            layouts = await get_layouts(connection, {layout_id for _, layout_id in sums})
        _require_moderate(sums, layouts, flag_key)
        flags = await asyncio.to_thread(_by_flag, sums, layouts, flag_key)
        return Summary(_moment(start), _moment(stop), interval, flags)

    async def purge(self, retention: timedelta) -> None:
        """Delete what is older than the retention and what belongs to environments that are no more, bit by bit."""
        async with self.database.read_history() as connection:
            recorded = await batches.list_recorded_environments(connection)
        async with self.database.read() as connection:
            # Asked after the history, an environment that is missing here was deleted, not made meanwhile.
            existing = await environments.list_environment_ids(connection)
        oldest = self.now() - retention
        for environment_id, number in recorded.items():
            if environment_id in existing:
                await self._delete_before(number, oldest)
                continue
            is_forgotten = False
            while not is_forgotten:  # as long as batches that were under way still arrive
                await self._delete_before(number, None)
                async with self.database.write_history() as connection:
                    is_forgotten = await deletions.forget_environment(connection, number)
        async with self.database.write_history() as connection:
            await deletions.delete_unused_layouts(connection, oldest)
        await self._delete(partial(deletions.delete_batches, before=self.now() - BATCHES_REMEMBERED))

    async def _list(
        self, environment_id: UUID, wanted: EvaluationFilter, *, limit: int, before: bytes | None
    ) -> EvaluationsPage:
        async with self.database.read_history() as connection:
            number = await batches.find_environment_number(connection, environment_id)
            if number is None:
                return EvaluationsPage([], None)
            page = await list_evaluations(connection, number, wanted, limit=limit, before=before)
        return EvaluationsPage(page.items, page.next_before)

    async def _delete_before(self, number: int, before: datetime | None) -> None:
        await self._delete(partial(deletions.delete_segments, number=number, before=before))
        async with self.database.write_history() as connection:
            await deletions.delete_summaries(connection, number, before)
            if before:
                await deletions.hide_evaluations(connection, number, before)

    async def _delete(self, delete_some: Callable[..., Awaitable[bool]]) -> None:
        more = True
        while more:
            async with self.database.write_history() as connection:
                more = await delete_some(connection, limit=DELETED_AT_ONCE)


def _require_moderate(
    sums: Mapping[tuple[int, int], Count], layouts: Mapping[int, Layout], flag_key: str | None
) -> None:
    cells = sum(len(layouts[layout_id].recorded) + len(layouts[layout_id].constant) for _, layout_id in sums)
    if flag_key is None and cells > MAX_CELLS:
        raise invalid_field("interval", "must be longer, or the time shorter, or flag_key given, for so many flags")


def _by_flag(
    sums: Mapping[tuple[int, int], Count], layouts: Mapping[int, Layout], flag_key: str | None
) -> dict[str, list[FlagInterval]]:
    found: defaultdict[str, dict[int, FlagInterval]] = defaultdict(dict)
    for (minute, layout_id), count in sorted(sums.items(), key=lambda item: item[0]):
        for flag, outcome, times in outcomes_of(layouts[layout_id], count):
            if flag_key in (None, flag.key):
                cell = found[flag.key].setdefault(minute, FlagInterval(_moment(minute), 0, 0, {}))
                if outcome.enabled:
                    cell.on += times
                else:
                    cell.off += times
                reason = outcome.reason(flag.rollout_percentage)
                cell.reasons[reason] = cell.reasons.get(reason, 0) + times
    return {key: list(cells.values()) for key, cells in sorted(found.items())}


def _minutes(at: datetime, *, up: bool = False) -> int:
    return -((_EPOCH - at) // _MINUTE) if up else (at - _EPOCH) // _MINUTE


def _moment(minute: int) -> datetime:
    return _EPOCH + minute * _MINUTE
