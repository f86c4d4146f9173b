"""Counts of each outcome of each flag by minute, kept as batches are written, so that summaries scan no evaluations.

A row of `summaries` holds the counts of a minute and a layout until they are rolled up (see rollups.py). Its block is a
64-bit number for each outcome and each of the layout's recorded flags, outcome by outcome, so that an outcome which is
added later only makes blocks longer. Numbers about prerequisites and variants follow. Trailing zeros are left out, and
the rest is compressed. Read as one big integer, blocks are added in one step, for 1 flag or 200. A flag that is
constant in a layout needs no counts: its outcome occurred in every evaluation of all flags, which `evaluations` counts.
Evaluations of single flags are counted in the same numbers, and evaluations of constant flags in one more for each.
"""

import asyncio
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, compress, islice, repeat
from struct import pack, pack_into, unpack

import sqlalchemy as sa
import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.database import dialect, tables
from flagstaff.evaluation.history.layout import ON_BY_OUTCOME, RULE_BASE, Layout, LayoutFlag
from flagstaff.evaluation.outcomes import Outcome
from flagstaff.history.store.columns import AnyColumns, MixedColumns
from flagstaff.history.store.segments import Segment, runs

log = structlog.get_logger(__name__)

SUMMARY_VERSION = 2
VARIANT = 255
"""In the place of an outcome: how often a variant was given, besides the outcome."""
Kind = tuple[int, int, str]
"""An outcome; the rollout's percentage, or 0 where the outcome is not a rollout's; and a prerequisite or variant."""
NANOSECONDS_A_MINUTE = 60 * 10**9

_MICROSECONDS_A_MINUTE = NANOSECONDS_A_MINUTE // 1000
_NUMBER_SIZE = 8
_FIRST_WITH_DETAILS = 4  # version of a layout
_OUTCOMES_BEFORE_DETAILS = Outcome.PREREQUISITE + 1  # as many as there were when details were added
_FLAGS_AT_ONCE = 64  # with some hundred evaluations: blocks the event loop for half a millisecond
_columns = tables.summaries.c
_key = (_columns.environment, _columns.minute, _columns.layout_id)
_added = ("evaluations", "counts", "version", "bytes")
_stored_query = sa.select(*_key, *(_columns[name] for name in _added)).where(
    sa.tuple_(*_key).in_(sa.bindparam("keys", expanding=True))
)
_add_statement = dialect.upsert(
    tables.summaries,
    lambda insert: insert.on_conflict_do_update(
        index_elements=list(_key), set_={name: insert.excluded[name] for name in _added}
    ),
)


@dataclass(slots=True)
class Count:
    """The number of evaluations of all flags, the block of all evaluations as an integer, and their size."""

    evaluations: int = 0
    block: int = 0
    bytes: int = 0


class SummaryCounts:
    """The counts that a batch adds to the summaries, by environment, minute and layout."""

    def __init__(self) -> None:
        self.by_key: dict[tuple[int, int, int], Count] = {}

    async def add(self, segment: Segment, layout: Layout, columns: AnyColumns, layout_bytes: int) -> None:
        """Count a segment's evaluations and, if its layout is new, the layout's bytes.

        Pauses for other work every few flags.
        """
        first = segment.first_time // _MICROSECONDS_A_MINUTE
        is_one = first == segment.last_time // _MICROSECONDS_A_MINUTE
        minutes = [(first, range(segment.size))] if is_one else runs(columns.times, NANOSECONDS_A_MINUTE)
        width = layout.width
        for minute, run in minutes:
            key = (segment.environment, minute, segment.layout_id)
            count = self.by_key.setdefault(key, Count())
            if isinstance(columns, MixedColumns):
                await _add_mixed(count, layout, columns, run)
            else:
                count.evaluations += len(run)
                count.block += await _count(layout, columns.recorded[run.start * width : run.stop * width])
        self.by_key[segment.environment, first, segment.layout_id].bytes += segment.stored_bytes + layout_bytes


async def _add_mixed(count: Count, layout: Layout, columns: MixedColumns, run: range) -> None:
    results = Counter(zip(columns.flags[run.start : run.stop], columns.recorded[run.start : run.stop], strict=True))
    of_all = [row for (place, row), times in results.items() if place is None for _ in range(times)]
    if of_all:
        count.evaluations += len(of_all)
        count.block += await _count(layout, b"".join(of_all))
    await asyncio.sleep(0)
    of_one = {(place, row): times for (place, row), times in results.items() if place is not None}
    if of_one:
        count.block += _count_alone(layout, of_one)


def _count_alone(layout: Layout, results: Mapping[tuple[int, bytes], int]) -> int:
    """Count evaluations of single flags, given how often each flag had each recorded bytes."""
    width, details, constant = len(layout.recorded), *_starts(layout)
    numbers: Counter[int] = Counter()
    for (place, row), times in results.items():
        if place >= width:
            numbers[constant[place - width]] += times
            continue
        decision = layout.alone(place).decision_of(0, row)
        numbers[decision.outcome * width + place] += times
        if details:
            flag = layout.recorded[place]
            named = [each.prerequisite for each in flag.deciders if each.prerequisite]
            if decision.prerequisite:
                numbers[details[place] + named.index(decision.prerequisite)] += times
            if decision.variant is not None:
                numbers[details[place] + len(named) + flag.variants.index(decision.variant)] += times
    block = bytearray((max(numbers) + 1) * _NUMBER_SIZE)  # of thousands of numbers, most are zero
    for number, times in numbers.items():
        pack_into("<Q", block, number * _NUMBER_SIZE, times)
    return int.from_bytes(block, "little")


def _starts(layout: Layout) -> tuple[Sequence[int], range]:
    """Where the details of each recorded flag begin in a block, if there are any, and the numbers of constant flags."""
    end = _OUTCOMES_BEFORE_DETAILS * len(layout.recorded)
    starts: list[int] = []
    if layout.version >= _FIRST_WITH_DETAILS:
        for flag in layout.recorded:
            starts.append(end)
            end += sum(bool(decider.prerequisite) for decider in flag.deciders) + len(flag.variants)
    return starts, range(end, end + len(layout.constant))


async def _count(layout: Layout, joined: bytes) -> int:
    width = layout.width
    counts: list[list[int]] = []
    details: list[int] = []
    numbers = range(layout.outcome_count)
    for position, flag in enumerate(layout.recorded):
        if position % _FLAGS_AT_ONCE == 0:
            await asyncio.sleep(0)
        outcomes = joined[position::width].translate(flag.outcomes_by_byte)
        counts.append([*map(outcomes.count, numbers)])
        if layout.version >= _FIRST_WITH_DETAILS:
            details += _count_details(layout, joined, position, outcomes)
    return _block([*chain.from_iterable(zip(*counts, strict=True)), *details])


def _count_details(layout: Layout, joined: bytes, position: int, outcomes: bytes) -> Iterator[int]:
    """Count how often each prerequisite of a flag did not hold, and how often each variant was given."""
    flag = layout.recorded[position]
    if any(decider.prerequisite for decider in flag.deciders):
        decided = joined[position :: layout.width]
        for place, decider in enumerate(flag.deciders):
            if decider.prerequisite:
                yield decided.count(RULE_BASE + place)
    if flag.variants:
        variants = joined[layout.variant_columns[position] :: layout.width]
        on = outcomes.translate(ON_BY_OUTCOME)
        if 0 in on:
            variants = bytes(compress(variants, on))
        yield from map(variants.count, range(len(flag.variants)))


async def add_summaries(connection: AsyncConnection, counts: SummaryCounts) -> None:
    """Add a batch's counts to the stored ones, which the caller must have locked."""
    for *key, evaluations, block, version, size in await connection.execute(
        _stored_query, {"keys": list(counts.by_key)}
    ):
        count = counts.by_key[tuple(key)]
        try:
            count.block += read_block(block, version)
        except zlib.error as error:
            # The counts are lost. To keep the row would stop the recording of all environments for this minute.
            log.error("history_row_damaged", table=tables.summaries.name, id=key, error=str(error))  # noqa: TRY400
            continue
        count.evaluations += evaluations
        count.bytes += size
    await connection.execute(
        _add_statement(connection),
        [
            {
                "environment": environment,
                "minute": minute,
                "layout_id": layout_id,
                "evaluations": count.evaluations,
                "counts": _write_block(count.block),
                "version": SUMMARY_VERSION,
                "bytes": count.bytes,
            }
            for (environment, minute, layout_id), count in counts.by_key.items()
        ],
    )


def kinds_of(layout: Layout, evaluations: int, block: bytes, version: int) -> Iterator[tuple[LayoutFlag, Kind, int]]:
    """Count the results of each kind for each flag of a layout, without kinds that did not occur."""
    return kinds_in(layout, evaluations, read_block(block, version))


def kinds_in(layout: Layout, evaluations: int, block: int) -> Iterator[tuple[LayoutFlag, Kind, int]]:
    """The same for a block that was read, which can be the sum of several."""
    width = len(layout.recorded)
    numbers = _numbers(block)
    for outcome in islice(Outcome, layout.outcome_count) if width else ():
        if outcome is Outcome.PREREQUISITE:
            continue  # the details say which
        for flag, times in zip(layout.recorded, numbers[outcome * width : (outcome + 1) * width], strict=False):
            if times:
                yield flag, kind_of(outcome, flag.rollout_percentage), times
    _, constant = _starts(layout)
    details = numbers[layout.outcome_count * width : constant.start]
    for (flag, kind), times in zip(_details(layout), details, strict=False):
        if times:
            yield flag, kind, times
    own = chain(numbers[constant.start : constant.stop], repeat(0))
    for flag, alone in zip(layout.constant, own, strict=False):
        if evaluations + alone:
            yield flag, kind_of(flag.default, flag.rollout_percentage), evaluations + alone


def kind_of(outcome: Outcome, percentage: int) -> Kind:
    """Return the kind as which a result is counted."""
    return outcome, percentage if outcome.is_rollout else 0, ""


def _details(layout: Layout) -> Iterator[tuple[LayoutFlag, Kind]]:
    """Return the meanings of the numbers that follow the outcomes' numbers."""
    if layout.version < _FIRST_WITH_DETAILS:
        return
    for flag in layout.recorded:
        for decider in flag.deciders:
            if decider.prerequisite:
                yield flag, (Outcome.PREREQUISITE, 0, decider.prerequisite)
        for variant in flag.variants:
            yield flag, (VARIANT, 0, variant)


def _write_block(block: int) -> bytes:
    return zlib.compress(block.to_bytes((block.bit_length() + 7) // 8, "little"), level=1)


def read_block(stored: bytes, version: int) -> int:
    """A stored block as a number."""
    if version != SUMMARY_VERSION:
        raise ValueError(f"summaries of version {version} are unknown")
    return int.from_bytes(zlib.decompress(stored), "little")


def _numbers(block: int) -> list[int]:
    size = -(-block.bit_length() // (8 * _NUMBER_SIZE))
    return [*unpack(f"<{size}Q", block.to_bytes(size * _NUMBER_SIZE, "little"))]


def _block(numbers: Sequence[int]) -> int:
    return int.from_bytes(pack(f"<{len(numbers)}Q", *numbers), "little")
