"""Evaluations of single flags share segments, with each other and with evaluations of all flags, on both databases."""

import random
from collections import Counter
from collections.abc import Sequence
from itertools import islice
from typing import Any
from uuid import UUID, uuid4

import pytest
import sqlalchemy as sa
from structlog.testing import capture_logs

from flagstaff.database import tables
from flagstaff.database.database import Database
from flagstaff.evaluation.history.filters import EvaluationFilter, FlagFilter
from flagstaff.evaluation.history.layout import Decider, Decision, Layout, LayoutFlag
from flagstaff.evaluation.history.records import RecordBatch
from flagstaff.evaluation.history.users import DistinctUsers
from flagstaff.evaluation.outcomes import Outcome
from flagstaff.history.store.batches import find_environment_number
from flagstaff.history.store.distinct_users.user_rollups import EVALUATIONS_DUE, find_due, roll_up_users
from flagstaff.history.store.distinct_users.user_sums import UserSums, sum_users
from flagstaff.history.store.export_batches import Room, find_end, read_between
from flagstaff.history.store.following import Position
from flagstaff.history.store.rollups import roll_up
from flagstaff.history.store.segments import CONTINUED_SIZE, SEGMENT_SIZE
from flagstaff.history.store.summaries import VARIANT
from flagstaff.history.store.sums import sum_by_interval
from flagstaff.history.store.totals import sum_pending
from tests.support.history import START, make_batch, make_group, make_record, read, write
from tests.support.holds import watch_holds

GOLD, BETA = Decider(Outcome.ATTRIBUTES_RULE, uuid4()), Decider(Outcome.SEGMENT_RULE, uuid4())
ROLLOUT = LayoutFlag(uuid4(), "rollout", 20, Outcome.NOT_IN_ROLLOUT)
VARIED = LayoutFlag(
    uuid4(),
    "varied",
    30,
    Outcome.NOT_IN_ROLLOUT,
    (Decider(Outcome.PREREQUISITE, prerequisite="a"), GOLD, Decider(Outcome.PREREQUISITE, prerequisite="b"), BETA),
    has_bucket=True,
    variants=("red", "blue"),
)
RULED = LayoutFlag(uuid4(), "ruled", 0, Outcome.ON)
ON, OFF = LayoutFlag(uuid4(), "on", 0, Outcome.ON), LayoutFlag(uuid4(), "off", 0, Outcome.OFF)
LAYOUT = Layout((ROLLOUT, VARIED, RULED), (ON, OFF))
PLAIN = Layout((ROLLOUT, RULED), (ON, OFF))  # of the first version
KEYS = [flag.key for flag in LAYOUT.flags]
HOUR = 3600
MINUTE, TODAY = int(START.timestamp()) // 60, int(START.timestamp()) // 86_400


def row_of(dice: random.Random, place: int | None) -> bytes:
    """Return the recorded bytes of an evaluation of a flag, or of all."""
    rollout, ruled = dice.choice((5, 50, 100)), dice.choice((100, 102))
    varied, bucket, variant = dice.choice((10, 60, 101, 102, 103, 104)), dice.choice((10, 60)), dice.choice((0, 1))
    if place is None:
        return bytes((rollout, varied, ruled, bucket, variant))
    return [bytes((rollout,)), bytes((varied, bucket, variant)), bytes((ruled,)), b"", b""][place]


def batch_of(dice: random.Random, environment_id: UUID, *flags: int | None, after: float = 0) -> RecordBatch:
    """Return a batch with an evaluation of each of these flags, by their places, or of all flags."""
    records = [
        make_record(
            after + place / 1000,
            dice.choice([None, f"u{dice.randrange(40)}"]),
            row_of(dice, flag),
            user_email=dice.choice([None, f"U{dice.randrange(40)}@example.com"]),
        )
        for place, flag in enumerate(flags)
    ]
    return make_batch(environment_id, LAYOUT, *records, flags=flags)


def some_batches(dice: random.Random, environment_id: UUID, batches: int = 12) -> list[RecordBatch]:
    """Batches some minutes apart, of all flags, of single ones, or both."""
    made = []
    for number in range(batches):
        asked = dice.choice([(None,), (0, 1, 2, 3, 4), (0, 1, 2, 3, 4, None)])
        flags = [dice.choice(asked) for _ in range(dice.choice([1, 3, 20, 150]))]
        made.append(batch_of(dice, environment_id, *flags, after=number * 400))
    return made


def decisions_in(batches: Sequence[RecordBatch]) -> list[tuple[int, str | None, str | None, list[Decision]]]:
    """Return the time in microseconds, the user and the decisions of each evaluation, one at a time."""
    found = []
    for group in (group for batch in batches for group in batch.groups):
        for place, recorded in enumerate(group.recorded):
            flag = None if group.flags is None else group.flags[place]
            layout = group.layout if flag is None else group.layout.alone(flag)
            found.append(
                (group.times[place] // 1000, group.users[place], group.emails[place], layout.decisions(recorded))
            )
    return found


async def number_of(database: Database, environment_id: UUID) -> int:
    async with database.read_history() as connection:
        number = await find_environment_number(connection, environment_id)
    assert number is not None
    return number


async def sizes(database: Database) -> list[int]:
    columns = tables.segments.c
    async with database.read_history() as connection:
        return list((await connection.execute(sa.select(columns.size).order_by(columns.id))).scalars())


async def count_users(database: Database, environment_id: UUID, key: str) -> DistinctUsers | None:
    sums, number = UserSums(range(TODAY, TODAY + 1), [TODAY]), await number_of(database, environment_id)
    async with database.read_history() as connection:
        await sum_users(connection, number, key, sums)
    return sums.of_all()


async def roll_up_all_users(database: Database, environment_id: UUID) -> None:
    number, more = await number_of(database, environment_id), True
    while more:
        async with database.write_history() as connection:
            more = await roll_up_users(connection, number)


@pytest.mark.parametrize(("flag", "recorded"), [(0, b""), (0, b"\5\5"), (1, b"\5"), (3, b"\5"), (5, b"\5"), (-1, b"")])
async def test_an_evaluation_that_does_not_fit_its_flag_is_refused(
    database: Database, flag: int, recorded: bytes
) -> None:
    with pytest.raises(ValueError, match="does not fit"):
        await write(database, make_batch(uuid4(), LAYOUT, make_record(recorded=recorded), flags=[flag]))
    assert await sizes(database) == []


async def test_few_evaluations_of_many_flags_share_segments_and_a_layout(database: Database) -> None:
    environment_id, dice = uuid4(), random.Random(1)
    for number in range(120):
        asked = [dice.choice([0, 1, 2, 3, 4, None]) for _ in range(5)]
        await write(database, batch_of(dice, environment_id, *asked, after=number))
    found = await sizes(database)
    assert sum(found) == 600
    assert all(CONTINUED_SIZE <= size < CONTINUED_SIZE + 5 for size in found[:-1])
    async with database.read_history() as connection:
        assert (await connection.execute(sa.select(sa.func.count()).select_from(tables.layouts))).scalar_one() == 1


async def test_many_evaluations_of_many_flags_become_full_segments(database: Database) -> None:
    dice = random.Random(1)
    await write(database, batch_of(dice, uuid4(), *(dice.randrange(5) for _ in range(1201))))
    assert await sizes(database) == [SEGMENT_SIZE, SEGMENT_SIZE, 201]


async def test_a_segment_that_is_continued_keeps_its_evaluations_and_their_ids(database: Database) -> None:
    environment_id, dice = uuid4(), random.Random(1)
    written: list[RecordBatch] = []
    before: list[Any] = []
    for after, flag in enumerate([None, 0, None, 3, 1]):
        written.append(batch_of(dice, environment_id, flag, after=after))
        await write(database, written[-1])
        found = await read(database, environment_id)
        assert found[1:] == before
        before = found
    assert await sizes(database) == [5]
    assert [each.decisions() for each in reversed(before)] == [each[3] for each in decisions_in(written)]


async def test_segments_end_with_the_hour_and_evaluations_keep_their_times(database: Database) -> None:
    environment_id = uuid4()
    seconds = (HOUR - 1, HOUR - 0.5, HOUR, HOUR - 0.25, 2 * HOUR)  # a clock that was set back
    await write(
        database,
        make_batch(environment_id, LAYOUT, *(make_record(each, "ada", b"\5") for each in seconds), flags=[0] * 5),
    )
    found = await read(database, environment_id)
    assert sorted(each.evaluated_at.timestamp() - START.timestamp() for each in found) == sorted(seconds)
    assert len(await sizes(database)) == 4


@pytest.mark.parametrize("seed", range(3))
async def test_all_readings_agree_with_the_evaluations_one_by_one(database: Database, seed: int) -> None:
    environment_id, dice = uuid4(), random.Random(seed)
    batches = some_batches(dice, environment_id)
    for batch in batches:
        await write(database, batch)
        if dice.random() < 0.2:
            await roll_up_all_users(database, environment_id)
    await agree(database, environment_id, batches)
    number, more = await number_of(database, environment_id), True
    while more:
        async with database.write_history() as connection:
            more = await roll_up(connection, number)
    await roll_up_all_users(database, environment_id)
    await agree(database, environment_id, batches)


async def agree(database: Database, environment_id: UUID, batches: Sequence[RecordBatch]) -> None:
    """Compare pages, searches, counts, users and what is followed with the evaluations that were written."""
    expected = decisions_in(batches)
    found = await read(database, environment_id)
    assert [(each.user_id, each.user_email, each.decisions()) for each in reversed(found)] == [
        each[1:] for each in sorted(expected, key=lambda each: each[0])
    ]
    for flag in (
        *(FlagFilter(key=key, enabled=enabled) for key in (*KEYS, "unknown") for enabled in (None, True, False)),
        *(FlagFilter(flag_id=VARIED.id, variant=variant) for variant in ("red", "blue", "green")),
        *(FlagFilter(rule_id=each.rule_id) for each in (GOLD, BETA)),
    ):
        wanted = EvaluationFilter(flag=flag)
        assert len(await read(database, environment_id, wanted)) == sum(
            any(_matches(decision, flag) for decision in decisions) for *_, decisions in expected
        )
    await agree_on_counts(database, environment_id, expected)
    for key in KEYS:
        users: dict[bool, set[str]] = {True: set(), False: set()}
        for _, user, email, decisions in expected:
            for decision in decisions:
                if decision.flag.key == key and (user or email):
                    users[decision.outcome.enabled].add(user or (email or "").lower())
        assert await count_users(database, environment_id, key) == (len(users[True]), len(users[False]), 0)


def _matches(decision: Decision, wanted: FlagFilter) -> bool:
    return (
        wanted.key in (None, decision.flag.key)
        and wanted.flag_id in (None, decision.flag.id)
        and wanted.enabled in (None, decision.outcome.enabled)
        and wanted.variant in (None, decision.variant)
        and wanted.rule_id in (None, decision.rule_id)
    )


async def agree_on_counts(
    database: Database,
    environment_id: UUID,
    expected: Sequence[tuple[int, str | None, str | None, list[Decision]]],
) -> None:
    reasons: Counter[tuple[str, int, str]] = Counter()
    for time, _, _, decisions in expected:
        for decision in decisions:
            place = decision.flag.key, time // (60 * 10**6)
            reasons[*place, decision.reason] += 1
            if decision.variant is not None:
                reasons[*place, f"variant {decision.variant}"] += 1
    number, day = await number_of(database, environment_id), range(MINUTE, MINUTE + 1440)
    counted: Counter[tuple[str, int, str]] = Counter()
    async with database.read_history() as connection:
        sums = await sum_by_interval(connection, number, day, day, max_cells=100_000)
        pending = await sum_pending(connection, number, day)
    for (key, _), intervals in sums.take():
        for minute, kinds in intervals:
            for (outcome, percentage, detail), times in kinds:
                name = f"variant {detail}" if outcome == VARIANT else Outcome(outcome).reason(percentage, detail)
                counted[key, minute, name] += times
    assert counted == reasons
    for key, tally in pending.items():
        ons = [each.outcome.enabled for *_, decisions in expected for each in decisions if each.flag.key == key]
        assert (tally.on, tally.off) == (sum(ons), len(ons) - sum(ons))


async def test_counts_of_constant_flags_are_not_those_of_others_in_a_layout_of_any_version(database: Database) -> None:
    environment_id = uuid4()
    rows, flags = (b"\5", b"\x64", b"", b"", b"", b"\5\x64"), (0, 1, 2, 3, 3, None)
    records = [make_record(place, recorded=row) for place, row in enumerate(rows)]
    batch = make_batch(environment_id, PLAIN, *records, flags=flags)
    await write(database, batch)
    assert (PLAIN.version, LAYOUT.version) == (1, 4)
    await agree_on_counts(database, environment_id, decisions_in([batch]))


async def test_attributes_of_evaluations_of_single_flags_are_kept(database: Database) -> None:
    environment_id, layout = uuid4(), Layout(LAYOUT.recorded, LAYOUT.constant, ("plan",))
    for second, flag in enumerate([None, 0, 4]):
        row = row_of(random.Random(second), flag)
        attributes = [b'{"plan":%d}' % second]
        batch = make_batch(environment_id, layout, make_record(second, "ada", row), flags=[flag], attributes=attributes)
        await write(database, batch)
    assert await sizes(database) == [3]
    found = await read(database, environment_id)
    assert [each.attributes for each in found] == [{"plan": 2}, {"plan": 1}, {"plan": 0}]
    assert all(each.knows("plan") and not each.knows("country") for each in found)


async def test_a_damaged_segment_is_left_out_and_hides_no_other(database: Database) -> None:
    environment_id, other, dice = uuid4(), uuid4(), random.Random(1)
    await write(database, batch_of(dice, environment_id, 0, 1), batch_of(dice, other, 0))
    async with database.write_history() as connection:
        content = (await connection.execute(sa.select(tables.segments.c.content).limit(1))).scalar_one()
        short = content[:-1] + b"\x7f"  # the place of a flag that the layout does not have
        await connection.execute(tables.segments.update().where(tables.segments.c.size == 2).values(content=short))
    with capture_logs() as logged:
        async with database.read_history() as connection:
            number = await find_environment_number(connection, environment_id) or 0
            end = await find_end(connection, number, Position(), Room(10, 10))
            assert [each async for each in read_between(connection, number, Position(), end)] == []
        await roll_up_all_users(database, environment_id)
    assert {each["event"] for each in logged} == {"history_row_damaged"}
    assert len(await read(database, other)) == 1


@pytest.mark.parametrize("results", [1, 5, 7, 100])
async def test_an_export_counts_the_result_of_a_single_flag_as_one(database: Database, results: int) -> None:
    environment_id, dice = uuid4(), random.Random(results)
    await write(database, batch_of(dice, environment_id, *[0, 1, None, 2, 3] * 6))
    number, position, blocks = await number_of(database, environment_id), Position(), []
    async with database.read_history() as connection:
        while True:
            end = await find_end(connection, number, position, Room(1000, results))
            if end == position:
                break
            segments = [each async for each in read_between(connection, number, position, end)]
            blocks.append([len(found.decisions()) for each in segments for found in each.evaluations()])
            position = end
    assert [*islice((size for block in blocks for size in block), 5)] == [1, 1, 5, 1, 1]
    assert sum(map(len, blocks)) == 30
    assert all(sum(block[:-1]) < results for block in blocks)


async def test_users_are_due_by_evaluations_and_not_by_segments(database: Database) -> None:
    environment_id, dice, hour = uuid4(), random.Random(1), int(START.timestamp()) // HOUR

    async def due() -> int:
        async with database.read_history() as connection:
            return len(await find_due(connection, hour))

    for number in range(30):
        await write(database, batch_of(dice, environment_id, *[0] * CONTINUED_SIZE, after=number))
    assert (len(await sizes(database)), await due()) == (30, 0)
    await write(database, batch_of(dice, environment_id, *[1] * (EVALUATIONS_DUE - 30 * CONTINUED_SIZE - 1), after=40))
    assert await due() == 0
    await write(database, batch_of(dice, environment_id, 2, after=60))
    assert await due() == 1


async def test_the_users_of_a_thousand_single_flags_are_counted_without_long_holds(database: Database) -> None:
    environment_id, dice = uuid4(), random.Random(1)
    flags = tuple(LayoutFlag(uuid4(), f"flag-{number}", 50, Outcome.NOT_IN_ROLLOUT) for number in range(1000))
    for start in (0, 10_000):
        group = make_group(
            environment_id,
            Layout(flags, ()),
            *(make_record(each / 10_000, f"user-{start + each}", bytes((each % 100,))) for each in range(10_000)),
            flags=[dice.randrange(1000) for _ in range(10_000)],
        )
        async with watch_holds() as holds:  # statements are compiled the first time
            await write(database, RecordBatch(start, [group]))
            await count_users(database, environment_id, "flag-1")
            await roll_up_all_users(database, environment_id)
            found = await count_users(database, environment_id, "flag-1")
    assert found is not None
    assert found.on + found.off > 0
    assert holds.longest_in_units < 15
