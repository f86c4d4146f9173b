"""Summaries on both databases: they equal a naive count of the records, whatever has been rolled up or deleted."""

import asyncio
import gc
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import chain
from uuid import UUID, uuid4

import pytest
import sqlalchemy as sa

from flagstaff.database import tables
from flagstaff.database.database import Database
from flagstaff.evaluation.history.layout import Decider, Layout, LayoutFlag
from flagstaff.evaluation.history.records import RecordBatch
from flagstaff.evaluation.outcomes import Outcome
from flagstaff.history.store.batches import find_environment_number
from flagstaff.history.store.deletions import delete_counts
from flagstaff.history.store.recorded_flags import RecordedFlag
from flagstaff.history.store.rollups import PENDING_LAYOUTS, find_due, roll_up
from flagstaff.history.store.summaries import VARIANT
from flagstaff.history.store.sums import FlagSums, TooManyCellsError, sum_by_interval
from tests.support.history import START, make_batch, make_layout, make_record, read, write

MINUTE = int(START.timestamp()) // 60
DAY_BEFORE, DAY_AFTER = range(MINUTE - 1440, MINUTE), range(MINUTE, MINUTE + 1440)
WEEK = range(MINUTE - 3 * 1440, MINUTE + 4 * 1440)
LAYOUT = make_layout()
DETAILED = LayoutFlag(
    uuid4(),
    "detailed",
    20,
    Outcome.NOT_IN_ROLLOUT,
    deciders=(
        Decider(Outcome.PREREQUISITE, prerequisite="a"),
        Decider(Outcome.PREREQUISITE, prerequisite="b"),
        Decider(Outcome.ATTRIBUTES_RULE, uuid4()),
    ),
    variants=("red", "green", "blue"),
)

Counts = Counter[tuple[RecordedFlag, int, bool, str]]  # by flag, start of the interval, on or off, and reason


async def environment_number(database: Database, environment_id: UUID) -> int:
    async with database.read_history() as connection:
        number = await find_environment_number(connection, environment_id)
    assert number is not None
    return number


async def summarise(
    database: Database, environment_id: UUID, minutes: range, interval: int, flag_key: str | None = None
) -> Counts:
    number = await environment_number(database, environment_id)
    async with database.read_history() as connection:
        starts = range(minutes.start // interval * interval, minutes.stop, interval)
        sums = await sum_by_interval(connection, number, minutes, starts, flag_key=flag_key, max_cells=100_000)
    counts: Counts = Counter()
    for flag, intervals in sums.take():
        for start, kinds in intervals:
            for (number, percentage, detail), times in kinds:
                if number == VARIANT:
                    counts[flag, start, True, f"variant {detail}"] += times
                    continue
                outcome = Outcome(number)
                counts[flag, start, outcome.enabled, outcome.reason(percentage, detail)] += times
    return counts


def count_naively(batches: Sequence[RecordBatch], minutes: range, interval: int, flag_key: str | None = None) -> Counts:
    counts: Counts = Counter()
    for group in chain.from_iterable(batch.groups for batch in batches):
        for time, recorded in zip(group.times, group.recorded, strict=True):
            minute = time // (60 * 10**9)
            for decision in group.layout.decisions(recorded) if minute in minutes else ():
                flag, is_on = RecordedFlag(decision.flag.key, decision.flag.id), decision.outcome.enabled
                if flag_key in (None, flag.key):
                    start = minute // interval * interval
                    counts[flag, start, is_on, decision.reason] += 1
                    if decision.variant is not None:
                        counts[flag, start, is_on, f"variant {decision.variant}"] += 1
    return counts


async def roll_all_up(database: Database, environment_id: UUID) -> None:
    number, more = await environment_number(database, environment_id), True
    while more:
        async with database.write_history() as connection:
            more = await roll_up(connection, number)


async def count_rows(database: Database, table: sa.Table) -> int:
    async with database.read_history() as connection:
        rows = await connection.execute(sa.select(sa.func.count()).select_from(table))
    return int(rows.scalar_one())


def changed(layout: Layout, chance: random.Random) -> Layout:
    """Return the layout after a change to a flag: its rollout, its default, or whether it depends on the user."""
    flags = [*layout.recorded, *layout.constant]
    place = chance.randrange(len(flags))
    percentage = chance.randrange(1, 100)
    flags[place] = chance.choice(
        [
            replace(flags[place], rollout_percentage=percentage, default=Outcome.NOT_IN_ROLLOUT),
            replace(flags[place], rollout_percentage=0, default=chance.choice([Outcome.ON, Outcome.OFF])),
            LayoutFlag(uuid4(), f"flag-{chance.randrange(6)}", 0, Outcome.ON),
            replace(DETAILED, id=uuid4(), key=f"flag-{chance.randrange(6)}", has_bucket=chance.random() < 0.5),
            replace(DETAILED, id=uuid4(), variants=(), key=f"flag-{chance.randrange(6)}"),
        ]
    )
    by_key = list({flag.key: flag for flag in flags}.values())
    constant = chance.randrange(len(by_key))
    return Layout(tuple(by_key[constant:]), tuple(by_key[:constant]))


def random_batch(environment_id: UUID, layout: Layout, chance: random.Random) -> RecordBatch:
    """Return records at random times in two days, as from servers that were disconnected for a while."""
    start = chance.randrange(2 * 86_400)
    times = sorted(start + chance.randrange(chance.choice([5, 200, 8000])) for _ in range(chance.randrange(1, 40)))
    records = [make_record(time, recorded=random_bytes(layout, chance)) for time in times]
    return make_batch(environment_id, layout, *records)


def random_bytes(layout: Layout, chance: random.Random) -> bytes:
    decided = [
        chance.choice([*range(101), *(range(101, 101 + len(flag.deciders)) if flag.says_more else (102, 103, 104))])
        for flag in layout.recorded
    ]
    columns = [
        column
        for flag in layout.recorded
        for column in ([chance.randrange(101)] * flag.has_bucket + [chance.randrange(3)] * bool(flag.variants))
    ]
    return bytes(decided + columns)


@pytest.mark.parametrize("seed", range(4))
async def test_a_summary_says_what_a_naive_count_says_whatever_was_rolled_up_or_became_too_old(
    database: Database, seed: int
) -> None:
    chance, environment_id, layout = random.Random(seed), uuid4(), LAYOUT
    batches: list[RecordBatch] = []
    kept_from = 0
    for _ in range(25):
        batches.append(random_batch(environment_id, layout, chance))
        await write(database, batches[-1])
        if chance.random() < 0.8:
            layout = changed(layout, chance)
        if chance.random() < 0.3:
            await roll_all_up(database, environment_id)
        if chance.random() < 0.1:
            before = START + timedelta(minutes=chance.randrange(2000))
            kept_from = max(kept_from, int(before.timestamp()) // 60)
            number = await environment_number(database, environment_id)
            async with database.write_history() as connection:
                await delete_counts(connection, number, before)
        since, until = sorted((MINUTE + chance.randrange(-100, 3000), MINUTE + chance.randrange(-100, 3000)))
        interval = chance.choice([1, 7, 59, 60, 90, 120, 720, 1440, 2880])
        minutes = range(since // interval * interval, -(-until // interval) * interval)
        kept = range(max(kept_from, minutes.start), max(kept_from, minutes.stop))
        for flag_key in (None, "rollout", "flag-3", "nothing"):
            found = await summarise(database, environment_id, minutes, interval, flag_key)
            assert found == count_naively(batches, kept, interval, flag_key), (minutes, interval, flag_key)


async def test_only_hours_that_a_bound_divides_are_read_from_rows_of_hours(database: Database) -> None:
    chance, environment_id = random.Random(0), uuid4()
    batches = [random_batch(environment_id, LAYOUT, chance) for _ in range(30)]
    for each in batches:
        await write(database, each)
    await roll_all_up(database, environment_id)
    number = await environment_number(database, environment_id)
    starts = [MINUTE - 330, MINUTE - 330 + 1440, MINUTE - 330 + 2880]  # days in India
    minutes = range(starts[0], starts[-1] + 1440)
    bounds = [each // 60 * 60 for each in (*starts, minutes.stop)]
    hours = tables.flag_counts.c
    async with database.write_history() as connection:
        await connection.execute(tables.flag_counts.delete().where(hours.span == 60, hours.start.not_in(bounds)))
    expected: Counter[tuple[RecordedFlag, int]] = Counter()
    for (flag, minute, _, _), times in count_naively(batches, minutes, 1).items():
        expected[flag, max(each for each in starts if each <= minute)] += times

    for flag_key in (None, "rollout"):
        async with database.read_history() as connection:
            sums = await sum_by_interval(connection, number, minutes, starts, flag_key=flag_key, max_cells=1000)
        found = {(flag, start): sum(times for _, times in kinds) for flag, days in sums.take() for start, kinds in days}
        assert found == {each: times for each, times in expected.items() if flag_key in (None, each[0].key)}


async def test_many_changes_leave_as_many_rows_as_one(database: Database) -> None:
    quiet, busy, layout = uuid4(), uuid4(), LAYOUT
    await write(database, make_batch(quiet, layout, make_record()))
    await roll_all_up(database, quiet)
    expected = await count_rows(database, tables.flag_counts)
    for percentage in range(1, 100):
        flag = replace(layout.recorded[0], rollout_percentage=percentage)
        await write(database, make_batch(busy, replace(layout, recorded=(flag, layout.recorded[1])), make_record()))
    await roll_all_up(database, busy)
    assert await count_rows(database, tables.summaries) == 0
    assert await count_rows(database, tables.flag_counts) == 2 * expected


async def test_counts_are_due_at_the_end_of_their_hour_or_when_there_are_many_layouts(database: Database) -> None:
    old, busy, quiet = uuid4(), uuid4(), uuid4()
    await write(database, make_batch(old, LAYOUT, make_record(-1)))
    await write(database, *(make_batch(busy, make_layout(), make_record()) for _ in range(PENDING_LAYOUTS + 1)))
    await write(database, *(make_batch(quiet, LAYOUT, make_record(60 * minute)) for minute in range(50)))
    numbers = {await environment_number(database, each) for each in (old, busy)}
    async with database.read_history() as connection:
        assert set(await find_due(connection, MINUTE + 59)) == numbers
        assert len(await find_due(connection, MINUTE + 60)) == 3


async def test_an_environment_is_rolled_up_alone(database: Database) -> None:
    mine, other = uuid4(), uuid4()
    await write(database, make_batch(mine, LAYOUT, make_record()), make_batch(other, LAYOUT, make_record()))
    await roll_all_up(database, mine)
    assert await count_rows(database, tables.summaries) == 1
    assert await summarise(database, mine, DAY_AFTER, 60) == await summarise(database, other, DAY_AFTER, 60)
    assert await summarise(database, mine, DAY_BEFORE, 60) == Counter()


async def test_a_summary_of_too_many_cells_is_refused(database: Database) -> None:
    environment_id = uuid4()
    await write(database, make_batch(environment_id, LAYOUT, *(make_record(60 * each) for each in range(10))))
    number = await environment_number(database, environment_id)
    for _ in range(2):
        async with database.read_history() as connection:
            await sum_by_interval(connection, number, WEEK, WEEK, max_cells=30)
            with pytest.raises(TooManyCellsError):
                await sum_by_interval(connection, number, WEEK, WEEK, max_cells=29)
        await roll_all_up(database, environment_id)


def test_the_garbage_collector_does_not_look_into_sums() -> None:
    """The garbage collector would block the event loop for the time of the scan."""
    sums = FlagSums(range(1_000), max_cells=10_000)
    flags = [RecordedFlag(f"flag-{number}", UUID(int=number)) for number in range(10)]
    gc.collect()
    before = len(gc.get_objects())
    for flag in range(10):
        for minute in range(1_000):
            sums.add(flags[flag], minute, (Outcome.IN_ROLLOUT, 20, ""), 1)
    assert len(gc.get_objects()) - before < 100
    assert sum(times for _, intervals in sums.take() for _, kinds in intervals for _, times in kinds) == 10_000


@pytest.mark.parametrize("table", [tables.layouts, tables.segments, tables.summaries])
async def test_a_form_of_a_newer_version_is_refused_by_name(database: Database, table: sa.Table) -> None:
    environment_id = uuid4()
    await write(database, make_batch(environment_id, LAYOUT, make_record()))
    async with database.write_history() as connection:
        await connection.execute(table.update().values(version=99))
    is_counts = table is tables.summaries
    reading = summarise(database, environment_id, DAY_AFTER, 60) if is_counts else read(database, environment_id)
    with pytest.raises(ValueError, match=f"{table.name} of version 99 are unknown"):
        await reading


async def test_batches_and_roll_ups_at_once_count_everything_once(database: Database) -> None:
    environment_id = uuid4()
    await write(database, make_batch(environment_id, LAYOUT, make_record()))
    batches = [make_batch(environment_id, make_layout(), make_record(60 * each)) for each in range(12)]
    work = [write(database, batch) for batch in batches] + [roll_all_up(database, environment_id) for _ in range(4)]
    random.shuffle(work)
    await asyncio.gather(*work)
    found = await summarise(database, environment_id, DAY_AFTER, 60)
    assert sum(times for (flag, *_), times in found.items() if flag.key == "rollout") == 13
