"""Reads an environment's history in the order in which it was committed, from a position on.

Whoever keeps the position after what was read, and begins there the next time, reads each evaluation exactly once, but
for damaged segments, which are left out and counted. A segment that only a newer version of Flagstaff can read is never
passed: an Error ends the reading before it.
Writers hold the lock of their environment until they commit, so that a segment with a higher id was committed later.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, tzinfo
from operator import attrgetter
from typing import Any
from uuid import UUID

import sqlalchemy as sa
import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.concurrency.worker import Run, in_worker
from flagstaff.database import tables
from flagstaff.database.tables import microseconds
from flagstaff.evaluation.history.filters import EvaluationFilter
from flagstaff.evaluation.history.layout import Layout
from flagstaff.evaluation.history.records import RecordedEvaluation
from flagstaff.history.store.columns import StoredColumns, UnknownVersionError, unpack
from flagstaff.history.store.layouts import get_layouts
from flagstaff.history.store.matches import find_checks, matching_offsets
from flagstaff.history.store.pages import evaluation_at
from flagstaff.history.store.segments import CONTINUED_SIZE, MICROSECONDS_A_SPAN
from flagstaff.history.store.summaries import NANOSECONDS_A_MINUTE
from flagstaff.values.errors import Code, Error
from flagstaff.values.intervals import moment_of
from flagstaff.values.lists import parts_of

SEGMENTS_AT_ONCE = 20
EVALUATIONS_AT_ONCE = 4_000
"""The evaluations after which no further segment is read for several readers at once."""

_UNFINISHED_AT_ONCE = 400

log = structlog.get_logger(__name__)

_segments = tables.segments.c
_environments = tables.recorded_environments.c
_query = (
    sa.select(
        _segments.id,
        _segments.layout_id,
        _segments.first_time,
        _segments.size,
        _segments.version,
        _segments.content,
        _environments.counted_segment,
    )
    .join_from(tables.segments, tables.recorded_environments, _segments.environment == _environments.number)
    .where(_segments.environment == sa.bindparam("environment"))
    .order_by(_segments.id)
)
_last_query = sa.select(sa.func.max(_segments.id)).where(_segments.environment == sa.bindparam("environment"))


@dataclass(frozen=True, slots=True)
class Position:
    """The position up to which a history was read: all segments up to an id, as large as they were then.

    `unfinished` has the segments that batches might continue, with the number of evaluations that were read.
    """

    segment: int = 0
    unfinished: Mapping[int, int] = field(default_factory=dict)

    def after(self, segment: Any) -> "Position":
        """The position after another segment, given as a row."""
        unfinished = {key: size for key, size in self.unfinished.items() if key != segment.id}
        # As in batches.py: others are never continued.
        if segment.size < CONTINUED_SIZE and segment.id > segment.counted_segment:
            unfinished[segment.id] = segment.size
        return Position(max(self.segment, segment.id), unfinished)

    def after_all(self, segments: "Sequence[SharedSegment]") -> "Position":
        """The position after segments that were read for several readers, of which some may have been read before.

        Unfinished ones that are not among them were deleted.
        """
        unfinished, last = dict[int, int](), self.segment
        for each in segments:
            if each.id > self.segment or each.id in self.unfinished:
                last = max(last, each.id)
                if each.is_unfinished:
                    unfinished[each.id] = each.size
        return Position(last, unfinished)

    def read_of(self, segment_id: int) -> int | None:
        """The number of evaluations of a segment that were read before; None if it is finished."""
        return self.unfinished.get(segment_id, 0 if segment_id > self.segment else None)


@dataclass(frozen=True, slots=True)
class SharedSegment:
    """A segment that is new, or has new evaluations, for at least one of several readers.

    Evaluations before `first_time`, in microseconds, are hidden by the retention. Without `columns`, it is damaged or
    has nothing of the flags that are wanted.
    """

    id: int
    size: int
    is_unfinished: bool
    first_time: int
    layout: Layout
    columns: StoredColumns | None


@dataclass(frozen=True, slots=True)
class FollowedSegment:
    """Evaluations of one segment that were not read before, in the order in which they were recorded.

    All are of one layout, or of single flags in it, and of the same hour. `offsets` are their places in the columns.
    `position` is the one after the segment.
    """

    id: int
    position: Position
    layout: Layout
    columns: StoredColumns
    offsets: Sequence[int]

    @property
    def size(self) -> int:
        """The number of evaluations."""
        return len(self.offsets)

    @property
    def oldest(self) -> int:
        """The time of the first, in nanoseconds since 1970."""
        return self.columns.times[self.offsets[0]]

    def by_day(self, zone: tzinfo) -> Mapping[str, "FollowedSegment"]:
        """The same by the day in a time zone: one, unless it is midnight there within the hour."""
        times = {offset: self.columns.times[offset] // NANOSECONDS_A_MINUTE for offset in self.offsets}
        days = {minute: moment_of(minute).astimezone(zone).date().isoformat() for minute in set(times.values())}
        offsets: defaultdict[str, list[int]] = defaultdict(list)
        for offset, minute in times.items():
            offsets[days[minute]].append(offset)
        return {day: replace(self, offsets=some) for day, some in offsets.items()}

    def evaluations(self) -> Iterator[RecordedEvaluation]:
        """The evaluations."""
        times = self.columns.times
        return (
            evaluation_at((times[offset] // 1000, self.id, offset), self.columns, self.layout)
            for offset in self.offsets
        )


@dataclass(frozen=True, slots=True)
class Stretch:
    """Some evaluations, the position at which reading continues after them, and the number of damaged segments."""

    position: Position
    segments: Sequence[FollowedSegment] = ()
    damaged: int = 0


async def find_last_segment(connection: AsyncConnection, number: int) -> int:
    """The id of the segment of an environment that was committed last; 0 if it has none."""
    return (await connection.execute(_last_query, {"environment": number})).scalar() or 0


async def read_unfinished(
    connection: AsyncConnection, number: int, position: Position, wanted: EvaluationFilter, run: Run = in_worker
) -> Stretch:
    """Read what batches have added to the segments up to the position; `run` and errors are as in `read_segments`."""
    if not position.unfinished:
        return Stretch(position)
    listed = _query.where(_segments.id.in_(position.unfinished))
    rows = (await connection.execute(listed, {"environment": number})).all()
    existing = Position(position.segment, {each.id: position.unfinished[each.id] for each in rows})
    return await _select(connection, rows, existing, wanted, run)


async def read_segments(
    connection: AsyncConnection,
    number: int,
    position: Position,
    wanted: EvaluationFilter,
    *,
    last: int,
    run: Run = in_worker,
) -> Stretch:
    """Some segments after the position, up to the id `last`; at the end, the position stays the same.

    A segment in which nothing matches the filter is left out. Large layouts are read in the thread that `run` chooses.

    Raises:
        Error: CONFLICT when a newer version of Flagstaff has written one of them in a form that is unknown.
    """
    query = _query.where(_segments.id > position.segment, _segments.id <= last, *_within(wanted))
    rows = (await connection.execute(query.limit(SEGMENTS_AT_ONCE), {"environment": number})).all()
    return await _select(connection, rows, position, wanted, run)


async def read_shared(
    connection: AsyncConnection,
    number: int,
    positions: Collection[Position],
    flags: Collection[UUID],
    *,
    last: int,
    run: Run = in_worker,
) -> list[SharedSegment]:
    """Some segments up to the id `last` for several readers, each of which goes on from its own position.

    First come those that a reader has not finished, and then those after the first position. Errors are as in
    `read_segments`.
    """
    unfinished = {each for position in positions for each in position.unfinished}
    rows: list[Any] = []
    for some in parts_of(sorted(unfinished), _UNFINISHED_AT_ONCE):
        rows += (await connection.execute(_query.where(_segments.id.in_(some)), {"environment": number})).all()
    start = min(position.segment for position in positions)
    if last > start:
        after = _query.where(_segments.id > start, _segments.id <= last).limit(SEGMENTS_AT_ONCE)
        size = 0
        for row in (await connection.execute(after, {"environment": number})).all():
            if size >= EVALUATIONS_AT_ONCE:
                break
            size += row.size
            if row.id not in unfinished:
                rows.append(row)
    rows.sort(key=attrgetter("id"))
    with _translated():
        layouts = await get_layouts(connection, {each.layout_id for each in rows}, run)
        has_flags = {key: any(flag.id in flags for flag in each.recorded) for key, each in layouts.items()}
        return [
            SharedSegment(
                row.id,
                row.size,
                row.size < CONTINUED_SIZE and row.id > row.counted_segment,  # as in `Position.after`
                row.first_time,
                layouts[row.layout_id],
                _read_columns(row, layouts[row.layout_id]) if has_flags[row.layout_id] else None,
            )
            for row in rows
        ]


def _read_columns(row: Any, layout: Layout) -> StoredColumns | None:
    """The columns of a segment; None if they are damaged. Raises UnknownVersionError."""
    try:
        columns = unpack(row.version, row.content)
        columns.check(layout)
    except UnknownVersionError:
        raise
    except ValueError as error:  # it must not end the reading of all others
        log.error("history_row_damaged", table=tables.segments.name, id=row.id, error=str(error))  # noqa: TRY400
        return None
    return columns


def _within(wanted: EvaluationFilter) -> Iterator[sa.ColumnElement[bool]]:
    # Whole hours, so that every segment that may still get matching evaluations is among those that are read.
    if wanted.since is not None:
        since = microseconds(wanted.since)
        yield _segments.last_time >= since - since % MICROSECONDS_A_SPAN
    if wanted.until is not None:
        yield _segments.last_time < microseconds(wanted.until) + MICROSECONDS_A_SPAN


async def _select(
    connection: AsyncConnection, rows: Sequence[Any], position: Position, wanted: EvaluationFilter, run: Run
) -> Stretch:
    found, damaged = [], 0
    with _translated():
        layouts = await get_layouts(connection, {each.layout_id for each in rows}, run)
        checks = await run(find_checks, layouts, wanted.flag)
        for each in rows:
            read, position = position.unfinished.get(each.id, 0), position.after(each)
            layout, of_layout = layouts[each.layout_id], checks[each.layout_id]
            if of_layout is None or each.size <= read:
                continue
            try:
                columns = unpack(each.version, each.content)
                offsets = matching_offsets(columns, layout, wanted, of_layout)
                offsets = [*_new(columns, offsets, each.first_time, read, wanted)]
                if offsets:
                    columns.check(layout)
            except UnknownVersionError:
                raise
            except ValueError as error:  # it must not end the reading of all others
                log.error("history_row_damaged", table=tables.segments.name, id=each.id, error=str(error))  # noqa: TRY400
                damaged += 1
                continue
            if offsets:
                found.append(FollowedSegment(each.id, position, layout, columns, offsets))
    return Stretch(position, found, damaged)


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except UnknownVersionError as error:
        raise Error(
            Code.CONFLICT,
            f"The history cannot be read further: {error} to this version of Flagstaff, because a newer one has "
            "written them. Use the newer version, which continues there.",
        ) from error


def _new(
    columns: StoredColumns, offsets: Iterable[int], first_time: int, read: int, wanted: EvaluationFilter
) -> Iterator[int]:
    since, until = _microseconds(wanted.since), _microseconds(wanted.until)
    start = max(first_time, since or 0)  # before the first time, the retention hides them: see hide_evaluations
    for offset in offsets:
        time = columns.times[offset] // 1000
        if offset >= read and time >= start and (until is None or time < until):
            yield offset


def _microseconds(at: datetime | None) -> int | None:
    return None if at is None else microseconds(at)
