"""How often each outcome came of each flag, counted by minute while batches pass, so that nobody scans evaluations.

A summary's `counts` is, for each of the layout's recorded flags and each outcome, a 64-bit number, all in one block
(compressed: most are zero). Read as one big integer, blocks are added in one step, for 1 flag or 200. A flag that is
constant in a layout needs no counts: its outcome came as often as there were evaluations.
"""

import asyncio
import zlib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from struct import pack
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.evaluation.history.layout import RULE_BASE, Layout, LayoutFlag
from flagstaff.evaluation.outcomes import RULE_OUTCOMES, Outcome
from flagstaff.storage import dialect, tables
from flagstaff.storage.history.segments import Columns, Segment, runs

NANOSECONDS_A_MINUTE = 60 * 10**9

_MICROSECONDS_A_MINUTE = NANOSECONDS_A_MINUTE // 1000
_LANE_SIZE = 8
_FLAGS_AT_ONCE = 64  # of some hundred evaluations: half a millisecond, for which the event loop stands still
_OUTCOMES = range(len(Outcome))
_columns = tables.summaries.c
_key = (_columns.environment, _columns.minute, _columns.layout_id)
_stored_query = sa.select(*_key, _columns.evaluations, _columns.counts).where(
    sa.tuple_(*_key).in_(sa.bindparam("keys", expanding=True))
)
_add_statement = dialect.upsert(
    tables.summaries,
    lambda insert: insert.on_conflict_do_update(
        index_elements=list(_key), set_={name: insert.excluded[name] for name in ("evaluations", "counts")}
    ),
)


@dataclass(slots=True)
class Count:
    """How many evaluations there were, and the block of counts as an integer."""

    evaluations: int = 0
    lanes: int = 0


class SummaryCounts:
    """What a batch adds to the summaries, by environment, minute and layout."""

    def __init__(self) -> None:
        self.by_key: defaultdict[tuple[int, int, int], Count] = defaultdict(Count)

    async def add(self, segment: Segment, layout: Layout, columns: Columns) -> None:
        """Count a segment's evaluations; every few flags, others have their turn."""
        environment, layout_id = segment.environment, segment.layout_id
        minute = segment.first_time // _MICROSECONDS_A_MINUTE
        if minute == segment.last_time // _MICROSECONDS_A_MINUTE:
            await self._add((environment, minute, layout_id), layout, segment.size, columns.recorded)
            return
        width = len(layout.recorded)
        for minute, run in runs(columns.times, NANOSECONDS_A_MINUTE):
            recorded = columns.recorded[run.start * width : run.stop * width]
            await self._add((environment, minute, layout_id), layout, len(run), recorded)

    async def _add(self, key: tuple[int, int, int], layout: Layout, evaluations: int, recorded: bytes) -> None:
        count = self.by_key[key]
        count.evaluations += evaluations
        lanes = await _count(layout, recorded)
        count.lanes += lanes


async def _count(layout: Layout, joined: bytes) -> int:
    width = len(layout.recorded)
    counts: list[int] = []
    for position, flag in enumerate(layout.recorded):
        if position % _FLAGS_AT_ONCE == 0:
            await asyncio.sleep(0)
        outcomes = joined[position::width].translate(outcomes_by_byte(flag.rollout_percentage, flag.default))
        counts += map(outcomes.count, _OUTCOMES)
    return int.from_bytes(pack(f"<{len(counts)}Q", *counts), "little")


@cache
def outcomes_by_byte(rollout_percentage: int, default: Outcome) -> bytes:
    """A table from recorded bytes to outcomes; what no layout of today records is not counted (255)."""
    flag = LayoutFlag(UUID(int=0), "", rollout_percentage, default)
    known = bytes(flag.outcome(byte) for byte in range(RULE_BASE + 1 + len(RULE_OUTCOMES)))
    return known.ljust(256, b"\xff")


async def add_summaries(connection: AsyncConnection, counts: SummaryCounts) -> None:
    """Add a batch's counts to the stored ones, to which nobody else may be adding."""
    for *key, evaluations, block in await connection.execute(_stored_query, {"keys": list(counts.by_key)}):
        count = counts.by_key[tuple(key)]
        count.evaluations += evaluations
        count.lanes += _unpack(block)
    await connection.execute(
        _add_statement(connection),
        [
            {
                "environment": environment,
                "minute": minute,
                "layout_id": layout_id,
                "evaluations": count.evaluations,
                "counts": _pack(count.lanes),
            }
            for (environment, minute, layout_id), count in counts.by_key.items()
        ],
    )


async def sum_by_interval(
    connection: AsyncConnection, number: int, minutes: range, interval: int
) -> dict[tuple[int, int], Count]:
    """An environment's counts by interval and layout. Minutes count from 1970; its first one names an interval."""
    query = sa.select(_columns.minute, _columns.layout_id, _columns.evaluations, _columns.counts).where(
        _columns.environment == number, _columns.minute >= minutes.start, _columns.minute < minutes.stop
    )
    sums: defaultdict[tuple[int, int], Count] = defaultdict(Count)
    for minute, layout_id, evaluations, block in await connection.execute(query):
        count = sums[minute // interval * interval, layout_id]
        count.evaluations += evaluations
        count.lanes += _unpack(block)
    return sums


def outcomes_of(layout: Layout, count: Count) -> Iterator[tuple[LayoutFlag, Outcome, int]]:
    """How often each outcome came of each flag of a layout; outcomes that did not come are left out."""
    width = len(layout.recorded) * len(Outcome)
    lanes = memoryview(count.lanes.to_bytes(width * _LANE_SIZE, "little"))
    for position, flag in enumerate(layout.recorded):
        for outcome in Outcome:
            start = (position * len(Outcome) + outcome) * _LANE_SIZE
            times = int.from_bytes(lanes[start : start + _LANE_SIZE], "little")
            if times:
                yield flag, outcome, times
    for flag in layout.constant:
        yield flag, flag.default, count.evaluations


def _pack(lanes: int) -> bytes:
    return zlib.compress(lanes.to_bytes((lanes.bit_length() + 7) // 8, "little"), level=1)


def _unpack(block: bytes) -> int:
    return int.from_bytes(zlib.decompress(block), "little") if block else 0
