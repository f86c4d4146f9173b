"""Reads summaries: counts by flag and interval, from the rows of hours and days and from those not yet rolled up.

The cost of a summary depends on its flags and time range, not on the number of changes.
"""

from collections.abc import AsyncIterator, Generator, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.concurrency.pacing import Turns, in_pieces
from flagstaff.database import tables
from flagstaff.evaluation.history.layout import Layout
from flagstaff.history.store.layouts import get_layouts
from flagstaff.history.store.rollups import DAY, HOUR, decode_counts
from flagstaff.history.store.summaries import Kind, kinds_of
from flagstaff.values.lists import emptying, parts_of

ROWS_AT_ONCE = 100

_pending = tables.summaries.c
_counts = tables.flag_counts.c


class TooManyCellsError(Exception):
    """A result would have more flags times intervals than allowed."""


@dataclass(slots=True)
class FlagSums:
    """The counts of each kind of answer, by flag key and by the minute (from 1970) that begins an interval.

    Kinds are numbered. The garbage collector looks into dictionaries of tuples, and 100,000 of them would block the
    event loop for some ten milliseconds; it does not look into dictionaries of numbers.
    """

    interval: int
    max_cells: int
    _by_key: dict[str, dict[int, dict[int, int]]] = field(default_factory=dict)
    _numbers: dict[Kind, int] = field(default_factory=dict)
    _cells: int = 0

    def add(self, key: str, minute: int, kind: Kind, times: int) -> None:
        """Count some answers given in a minute. Raises TooManyCellsError."""
        start = minute // self.interval * self.interval
        intervals = self._by_key.setdefault(key, {})
        kinds = intervals.get(start)
        if kinds is None:
            self._cells += 1
            if self._cells > self.max_cells:
                raise TooManyCellsError
            kinds = intervals[start] = {}
        number = self._numbers.setdefault(kind, len(self._numbers))
        kinds[number] = kinds.get(number, 0) + times

    def take(self) -> Iterator[tuple[str, Iterator[tuple[int, list[tuple[Kind, int]]]]]]:
        """Remove and return each flag's counts by interval, in the order of their keys, times and kinds.

        They are freed flag by flag: all at once would block the event loop, too.
        """
        kinds = list(self._numbers)
        for key in sorted(self._by_key):
            intervals = self._by_key.pop(key)
            yield key, ((start, _named(intervals[start], kinds)) for start in sorted(intervals))

    def free(self) -> Generator[None, None, None]:
        """Remove all counts flag by flag."""
        return emptying(self._by_key)


def _named(counts: dict[int, int], kinds: list[Kind]) -> list[tuple[Kind, int]]:
    return sorted((kinds[number], times) for number, times in counts.items())


@dataclass(frozen=True, slots=True)
class _Asked:
    """Minutes of an environment, of all flags or of one."""

    environment: int
    minutes: range
    flag_key: str | None


async def sum_by_interval(
    connection: AsyncConnection,
    number: int,
    minutes: range,
    interval: int,
    *,
    flag_key: str | None = None,
    max_cells: int,
) -> FlagSums:
    """An environment's counts in some minutes, counted from 1970, by flag and interval of so many minutes.

    Raises:
        TooManyCellsError: when there are more than `max_cells` of flags times intervals.
    """
    environments = tables.recorded_environments.c
    kept = await connection.execute(sa.select(environments.kept_from).where(environments.number == number))
    asked = _Asked(number, range(max(minutes.start, kept.scalar_one_or_none() or 0), minutes.stop), flag_key)
    sums, turns = FlagSums(interval, max_cells), Turns()
    try:
        await _add(connection, asked, sums, turns)
    except TooManyCellsError:
        await in_pieces(sums.free())
        raise
    return sums


async def _add(connection: AsyncConnection, asked: _Asked, sums: FlagSums, turns: Turns) -> None:
    if sums.interval % HOUR:
        await _add_rows(connection, asked, HOUR, sums, turns)
    else:
        # The first hour may be partly too old; all others are complete.
        whole = -(-asked.minutes.start // HOUR) * HOUR
        first = replace(asked, minutes=range(asked.minutes.start, min(whole, asked.minutes.stop)))
        await _add_rows(connection, first, HOUR, sums, turns)
        await _add_rows(connection, replace(asked, minutes=range(whole, asked.minutes.stop)), DAY, sums, turns)
    await _add_pending(connection, asked, sums, turns)


async def _add_rows(connection: AsyncConnection, asked: _Asked, span: int, sums: FlagSums, turns: Turns) -> None:
    minutes = asked.minutes
    minutes_a_part = 1 if span == HOUR else HOUR
    async for start, key, version, content in _rows(connection, asked, span):
        is_one_cell = sums.interval % span == 0 and minutes.start <= start and start + span <= minutes.stop
        for series in decode_counts(version, content):
            kind = series.outcome, series.percentage, series.detail
            if is_one_cell:
                sums.add(key, start, kind, sum(series.times.values()))
                continue
            for part, times in series.times.items():
                minute = start + part * minutes_a_part
                if minute in minutes:
                    sums.add(key, minute, kind, times)
        await turns.give()


async def _rows(connection: AsyncConnection, asked: _Asked, span: int) -> AsyncIterator[Any]:
    """The rows of a span that hold any of the minutes, a few at a time."""
    minutes = asked.minutes
    if not minutes:
        return
    columns = (_counts.start, _counts.flag_key, _counts.version, _counts.counts)
    of_span = sa.and_(_counts.environment == asked.environment, _counts.span == span)
    query = sa.select(*columns).where(of_span)
    if asked.flag_key is None:
        place = sa.tuple_(_counts.start, _counts.flag_key)
        last = (minutes.start // span * span, "")
        while True:
            after = query.where(place > last, _counts.start < minutes.stop)
            rows = (await connection.execute(after.order_by(*columns[:2]).limit(ROWS_AT_ONCE))).all()
            for row in rows:
                yield row
            if len(rows) < ROWS_AT_ONCE:
                return
            last = (rows[-1].start, rows[-1].flag_key)
    # The rows of one flag are far apart: looking them up one by one reads no rows of other flags.
    ends = [sa.select(end(_counts.start)).where(of_span).scalar_subquery() for end in (sa.func.min, sa.func.max)]
    oldest, newest = (await connection.execute(sa.select(*ends))).one()
    if oldest is None:
        return
    starts = range(max(minutes.start // span * span, oldest), min(minutes.stop, newest + 1), span)
    for some in parts_of(starts, ROWS_AT_ONCE):
        of_flag = query.where(_counts.start.in_(some), _counts.flag_key == asked.flag_key)
        for row in (await connection.execute(of_flag)).all():
            yield row


async def _add_pending(connection: AsyncConnection, asked: _Asked, sums: FlagSums, turns: Turns) -> None:
    layouts: dict[int, Layout] = {}
    async for row in pending_rows(connection, asked.environment, asked.minutes):
        if row.layout_id not in layouts:
            layouts |= await get_layouts(connection, {row.layout_id})
        for key, kind, times in kinds_of(layouts[row.layout_id], row.evaluations, row.counts, row.version):
            if asked.flag_key in (None, key):
                sums.add(key, row.minute, kind, times)
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
