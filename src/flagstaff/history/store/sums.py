"""Reads summaries: counts by flag and interval, from the rows of hours and days and from those not yet rolled up.

The cost of a summary depends on its flags and time range, not on the number of changes. Flags that had the same key one
after the other are told apart by their ids.
"""

from bisect import bisect_right
from collections.abc import AsyncIterator, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, repeat
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.concurrency.pacing import Turns
from flagstaff.concurrency.worker import in_worker
from flagstaff.database import tables
from flagstaff.evaluation.history.layout import Layout, LayoutFlag
from flagstaff.history.store.flag_counts import DAY, HOUR, FlagCounts
from flagstaff.history.store.layouts import get_layouts
from flagstaff.history.store.recorded_flags import PresentFlag, RecordedFlag, recorded_flag
from flagstaff.history.store.summaries import Kind, kinds_of
from flagstaff.values.lists import empty, parts_of

ROWS_AT_ONCE = 100
MAX_HOURS = 50_000
"""Flags times hours whose minutes are looked at for one result: those that begin an interval or end one within."""

_pending = tables.summaries.c
_counts = tables.flag_counts.c


class TooManyCellsError(Exception):
    """A result would have more flags times intervals than allowed, or need the minutes of more hours."""


@dataclass(slots=True)
class FlagSums:
    """The counts of each kind of answer, by flag and by the minute (from 1970) that begins an interval.

    `starts` are the minutes that begin all intervals.

    Kinds are numbered. The garbage collector looks into dictionaries of tuples, and 100,000 of them would block the
    event loop for some ten milliseconds; it does not look into dictionaries of numbers.
    """

    starts: Sequence[int]
    max_cells: int
    _by_flag: dict[RecordedFlag, dict[int, dict[int, int]]] = field(default_factory=dict)
    _numbers: dict[Kind, int] = field(default_factory=dict)
    _cells: int = 0

    def add(self, flag: RecordedFlag, minute: int, kind: Kind, times: int) -> None:
        """Count some answers given in a minute. Raises TooManyCellsError."""
        start = self.start_of(minute)
        intervals = self._by_flag.setdefault(flag, {})
        kinds = intervals.get(start)
        if kinds is None:
            self._cells += 1
            if self._cells > self.max_cells:
                raise TooManyCellsError
            kinds = intervals[start] = {}
        number = self._numbers.setdefault(kind, len(self._numbers))
        kinds[number] = kinds.get(number, 0) + times

    def start_of(self, minute: int) -> int:
        """Return the start of the interval that a minute is in."""
        return self.starts[bisect_right(self.starts, minute) - 1]

    @property
    def flags(self) -> Collection[RecordedFlag]:
        """The flags that have counts."""
        return self._by_flag.keys()

    def take(self) -> Iterator[tuple[RecordedFlag, Iterator[tuple[int, list[tuple[Kind, int]]]]]]:
        """Remove and return each flag's counts by interval, in the order of their keys, times and kinds.

        They are freed flag by flag: all at once would block the event loop, too.
        """
        kinds = list(self._numbers)
        for flag in sorted(self._by_flag, key=RecordedFlag.order):
            intervals = self._by_flag.pop(flag)
            yield flag, ((start, _named(intervals[start], kinds)) for start in sorted(intervals))

    def free(self) -> None:
        """Remove all counts flag by flag."""
        return empty(self._by_flag)


def _named(counts: dict[int, int], kinds: list[Kind]) -> list[tuple[Kind, int]]:
    return sorted((kinds[number], times) for number, times in counts.items())


@dataclass(frozen=True, slots=True)
class _Asked:
    """Minutes of an environment, of all flags or of one."""

    environment: int
    minutes: range
    flag_key: str | None
    present: Mapping[str, PresentFlag]

    def is_of(self, flag: LayoutFlag) -> bool:
        return self.flag_key in (None, flag.key)


def _minutes_a_part(span: int) -> int:
    return 1 if span == HOUR else HOUR


@dataclass(frozen=True, slots=True)
class _Parts:
    """The minutes of an hour, or the hours of a day, by the interval that they are in.

    `intervals` has those that are asked for, with their parts, so that the numbers of each are added up in one step.
    """

    start: int
    span: int
    intervals: Sequence[tuple[int, Sequence[int]]]

    @classmethod
    def of_span(cls, start: int, span: int, minutes: range, but: Collection[int], sums: FlagSums) -> "_Parts":
        """The parts of a span, some of whose minutes are wanted, without the hours that begin at minutes of `but`."""
        each, found = _minutes_a_part(span), dict[int, list[int]]()
        for part, minute in enumerate(range(start, start + span, each)):
            if minute in minutes and minute not in but:
                found.setdefault(sums.start_of(minute), []).append(part)
        return cls(start, span, [*found.items()])

    def divides(self, minute: int) -> bool:
        """Whether a minute is within the span, and not its first."""
        return self.start < minute < self.start + self.span

    def last_minute(self, part: int) -> int:
        """The last minute of a part."""
        return self.start + (part + 1) * _minutes_a_part(self.span) - 1

    def add_up(self, times: Mapping[int, int]) -> Iterator[tuple[int, int]]:
        """The sum of numbers by part in each interval in which there are any."""
        for interval, parts in self.intervals:
            if count := sum(map(times.get, parts, repeat(0))):
                yield interval, count


async def sum_by_interval(
    connection: AsyncConnection,
    number: int,
    minutes: range,
    starts: Sequence[int],
    *,
    flag_key: str | None = None,
    present: Mapping[str, PresentFlag] | None = None,
    max_cells: int,
) -> FlagSums:
    """An environment's counts in some minutes, counted from 1970, by flag and by the intervals with these starts.

    With a key, the sums of all flags that have had it. `present` are the environment's flags, or at least the one with
    the key, by key.

    Raises:
        TooManyCellsError: when there are more than `max_cells` of flags times intervals, or MAX_HOURS.
    """
    environments = tables.recorded_environments.c
    kept = await connection.execute(sa.select(environments.kept_from).where(environments.number == number))
    minutes = range(max(minutes.start, kept.scalar_one_or_none() or 0), minutes.stop)
    asked = _Asked(number, minutes, flag_key, present or {})
    sums, turns = FlagSums(starts, max_cells), Turns()
    try:
        await _add(connection, asked, sums, turns)
    except TooManyCellsError:
        await in_worker(sums.free)
        raise
    return sums


async def _add(connection: AsyncConnection, asked: _Asked, sums: FlagSums, turns: Turns) -> None:
    """Add what was rolled up, each hour once, and what was not.

    The rows of days have a count for each hour. Rows of hours have one for each minute, and are read only where an
    interval or the time that is asked for begins or ends within an hour, as in India: they are 24 times as many.
    """
    minutes = asked.minutes
    bounds = sorted({minutes.start, *sums.starts, minutes.stop})
    within = [each for each in bounds if minutes.start <= each <= minutes.stop and each % HOUR]
    hours = _spans_of([range(each, each + 1) for each in within], HOUR)
    edges = [minutes.start, *chain.from_iterable((each.start, each.stop) for each in hours), minutes.stop]
    days = _spans_of(map(range, edges[::2], edges[1::2]), DAY)
    await _add_rows(connection, asked, hours, sums, turns)
    await _add_rows(connection, asked, days, sums, turns, but=frozenset(chain.from_iterable(hours)))
    await _add_pending(connection, asked, sums, turns)


def _spans_of(parts: Iterable[range], span: int) -> list[range]:
    """The starts of the spans that hold any minute of some parts, which are in order, as few ranges."""
    found: list[range] = []
    for part in parts:
        first, stop = part.start // span * span, -(-part.stop // span) * span
        if part and found and first <= found[-1].stop:
            found[-1] = range(found[-1].start, stop, span)
        elif part:
            found.append(range(first, stop, span))
    return found


async def _add_rows(
    connection: AsyncConnection,
    asked: _Asked,
    spans: Sequence[range],
    sums: FlagSums,
    turns: Turns,
    *,
    but: Collection[int] = (),
) -> None:
    """Add the rows of some spans: the minutes that are asked for, without the hours that begin at minutes of `but`."""
    if not asked.minutes or not spans:
        return
    span, parts, rows = spans[0].step, None, 0
    async for row in _rows(connection, asked, spans):
        rows += span == HOUR
        if rows > MAX_HOURS:
            raise TooManyCellsError
        if parts is None or parts.start != row.start:  # the rows of all flags in a span follow each other
            parts = _Parts.of_span(row.start, span, asked.minutes, but, sums)
        _add_row(row, parts, asked.present.get(row.flag_key), sums)
        await turns.give()


def _add_row(row: Any, parts: _Parts, present: PresentFlag | None, sums: FlagSums) -> None:
    for flag_id, counts in FlagCounts.of_row(row).by_flag():
        # Without an id, what was counted before the present flag was created is of another.
        is_divided = flag_id is None and present is not None and parts.divides(present.first_minute)
        for series in counts:
            pieces = [(row.start, series.times)]
            if is_divided:
                pieces = [(parts.last_minute(part), {part: times}) for part, times in series.times.items()]
            for minute, times in pieces:
                flag = recorded_flag(row.flag_key, flag_id, present, minute)
                for interval, counted in parts.add_up(times):
                    sums.add(flag, interval, series.kind, counted)


async def _rows(connection: AsyncConnection, asked: _Asked, spans: Sequence[range]) -> AsyncIterator[Any]:
    """The rows of some spans of one length, a few at a time."""
    columns = (
        _counts.start,
        _counts.flag_key,
        _counts.version,
        _counts.counts,
        _counts.flag_id,
        _counts.others,
    )
    of_span = sa.and_(_counts.environment == asked.environment, _counts.span == spans[0].step)
    ends = [sa.select(end(_counts.start)).where(of_span).scalar_subquery() for end in (sa.func.min, sa.func.max)]
    oldest, newest = (await connection.execute(sa.select(*ends))).one()
    if oldest is None:
        return
    known = [range(max(each.start, oldest), min(each.stop, newest + 1), each.step) for each in spans]
    query = sa.select(*columns).where(of_span)
    if asked.flag_key is None:
        place = sa.tuple_(_counts.start, _counts.flag_key)
        for starts in filter(None, known):
            last, more = (starts.start, ""), True
            while more:
                after = query.where(place > last, _counts.start < starts.stop)
                rows = (await connection.execute(after.order_by(*columns[:2]).limit(ROWS_AT_ONCE))).all()
                for row in rows:
                    yield row
                more = len(rows) == ROWS_AT_ONCE
                last = (rows[-1].start, rows[-1].flag_key) if rows else last
        return
    # The rows of one flag are far apart: looking them up one by one reads no rows of other flags.
    for some in parts_of([*chain.from_iterable(known)], ROWS_AT_ONCE):
        of_flag = query.where(_counts.start.in_(some), _counts.flag_key == asked.flag_key)
        for row in (await connection.execute(of_flag)).all():
            yield row


async def _add_pending(connection: AsyncConnection, asked: _Asked, sums: FlagSums, turns: Turns) -> None:
    layouts: dict[int, Layout] = {}
    async for row in pending_rows(connection, asked.environment, asked.minutes):
        if row.layout_id not in layouts:
            layouts |= await get_layouts(connection, {row.layout_id})
        for flag, kind, times in kinds_of(layouts[row.layout_id], row.evaluations, row.counts, row.version):
            if asked.is_of(flag):
                sums.add(RecordedFlag(flag.key, flag.id), row.minute, kind, times)
            await turns.give()


async def pending_rows(connection: AsyncConnection, number: int, minutes: range) -> AsyncIterator[Any]:
    """The rows of an environment's counts that are not yet rolled up, a few at a time."""
    key = (_pending.minute, _pending.layout_id)
    query = sa.select(*key, _pending.evaluations, _pending.counts, _pending.version)
    in_range = sa.and_(_pending.environment == number, _pending.minute < minutes.stop)
    last, more = (minutes.start, -1), bool(minutes)
    while more:
        after = query.where(in_range, sa.tuple_(*key) > last).order_by(*key).limit(ROWS_AT_ONCE)
        rows = (await connection.execute(after)).all()
        for row in rows:
            yield row
        more = len(rows) == ROWS_AT_ONCE
        last = (rows[-1].minute, rows[-1].layout_id) if rows else last
