"""The counts of flags that were on and off in a long time: one sum for each flag.

The flags are read in the order of their keys, some at a time, so that the cost of a part does not depend on how many
there are. What is not yet rolled up is read once for all of them.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.concurrency.pacing import Turns
from flagstaff.database import tables
from flagstaff.evaluation.history.layout import Layout
from flagstaff.evaluation.outcomes import Outcome
from flagstaff.history.store.flag_counts import DAY, HOUR, decode_counts
from flagstaff.history.store.layouts import get_layouts
from flagstaff.history.store.reported_counts import NO, YES, hour_of
from flagstaff.history.store.reported_counts import VARIANT as REPORTED_VARIANT
from flagstaff.history.store.summaries import VARIANT, Kind, kinds_in, read_block
from flagstaff.history.store.sums import pending_rows
from flagstaff.history.tallies import Tally
from flagstaff.values.lists import parts_of

KEYS_AT_ONCE = 100
_HOURS_AT_ONCE = 500  # in a query

_ON = frozenset(int(outcome) for outcome in Outcome if outcome.enabled)
_counts, _reported = tables.flag_counts.c, tables.reported_counts.c
_key_range = sa.bindparam("first", type_=sa.Text), sa.bindparam("last", type_=sa.Text)
_of_day = sa.select(_counts.flag_key, _counts.version, _counts.counts).where(
    _counts.environment == sa.bindparam("number"),
    _counts.span == DAY,
    _counts.start == sa.bindparam("of_start", type_=sa.Integer),
    _counts.flag_key.between(*_key_range),
)
_first_day = sa.select(sa.func.min(_counts.start)).where(
    _counts.environment == sa.bindparam("number"), _counts.span == DAY
)
_first_hour = sa.select(sa.func.min(_reported.hour)).where(_reported.environment_id == sa.bindparam("environment"))
_reports = (
    sa.select(_reported.flag_key, _reported.result, sa.func.sum(_reported.count))
    .where(
        _reported.environment_id == sa.bindparam("environment"),
        # Each hour is looked up with the keys; a range of hours would read the reports of all flags.
        _reported.hour.in_(sa.bindparam("hours", expanding=True)),
        _reported.flag_key.between(*_key_range),
    )
    .group_by(_reported.flag_key, _reported.result)
)


async def find_kept_from(connection: AsyncConnection, number: int) -> int:
    """The minute, counted from 1970, from which an environment's counts are kept; 0 if none was deleted."""
    environments = tables.recorded_environments.c
    kept = await connection.execute(sa.select(environments.kept_from).where(environments.number == number))
    return kept.scalar_one_or_none() or 0


async def sum_pending(connection: AsyncConnection, number: int, minutes: range) -> dict[str, Tally]:
    """Sum up the minutes that are not yet rolled up, for all flags of an environment by key."""
    evaluations: dict[int, int] = {}
    blocks: dict[int, int] = {}
    layouts: dict[int, Layout] = {}
    turns = Turns()
    async for row in pending_rows(connection, number, minutes):
        layout_id = row.layout_id
        if layout_id not in layouts:
            layouts |= await get_layouts(connection, {layout_id})
        # Blocks are numbers, so that the minutes of a layout are added up without looking at the flags.
        blocks[layout_id] = blocks.get(layout_id, 0) + read_block(row.counts, row.version)
        evaluations[layout_id] = evaluations.get(layout_id, 0) + row.evaluations
        await turns.give()
    found: dict[str, Tally] = {}
    for layout_id, layout in layouts.items():
        for flag, kind, times in kinds_in(layout, evaluations[layout_id], blocks[layout_id]):
            _add(found.setdefault(flag.key, Tally()), kind, times)
            await turns.give()
    return found


async def add_rolled_up(
    connection: AsyncConnection, number: int, minutes: range, tallies: Mapping[str, Tally], keys: Sequence[str]
) -> None:
    """Add what is rolled up in whole hours, counted in minutes, for flags with successive keys."""
    first_day = (await connection.execute(_first_day, {"number": number})).scalar_one_or_none()
    if first_day is None:
        return
    turns, wanted = Turns(), {"number": number, "first": keys[0], "last": keys[-1]}
    start = max(first_day, minutes.start // DAY * DAY)
    for day in range(start, minutes.stop, DAY):
        first_hour = max(0, minutes.start - day) // HOUR
        for key, version, content in (await connection.execute(_of_day, {**wanted, "of_start": day})).all():
            tally = tallies.get(key)
            if tally is None:
                continue
            for series in decode_counts(version, content):
                times = sum(series.times.values()) if not first_hour else _sum_from(first_hour, series.times)
                if times:
                    _add(tally, (series.outcome, series.percentage, series.detail), times)
                await turns.give()


async def add_reported(
    connection: AsyncConnection,
    environment_id: UUID,
    since: datetime,
    until: datetime,
    tallies: Mapping[str, Tally],
    keys: Sequence[str],
) -> None:
    """Add what applications that evaluate flags themselves reported, for flags with successive keys."""
    first = (await connection.execute(_first_hour, {"environment": environment_id})).scalar_one_or_none()
    if first is None:
        return
    hours = range(max(first, hour_of(since)), hour_of(until) + 1)
    wanted = {"environment": environment_id, "first": keys[0], "last": keys[-1]}
    for some in parts_of(hours, _HOURS_AT_ONCE):
        rows = (await connection.execute(_reports, {**wanted, "hours": list(some)})).all()
        _add_results(rows, tallies)


def _add_results(rows: Iterable[Sequence[object]], tallies: Mapping[str, Tally]) -> None:
    for key, result, total in rows:
        tally, times = tallies.get(str(key)), int(str(total))  # a sum is a decimal in PostgreSQL
        name = str(result)
        if tally is None:
            continue
        if name == YES:
            tally.on += times
            tally.reported += times
        elif name == NO:
            tally.off += times
            tally.reported += times
        elif name.startswith(REPORTED_VARIANT):
            tally.add_variant(name.removeprefix(REPORTED_VARIANT), times)


def _sum_from(first_hour: int, times: Mapping[int, int]) -> int:
    return sum(count for hour, count in times.items() if hour >= first_hour)


def _add(tally: Tally, kind: Kind, times: int) -> None:
    outcome, _, detail = kind
    if outcome == VARIANT:
        tally.add_variant(detail, times)
    elif outcome in _ON:
        tally.on += times
    else:
        tally.off += times
