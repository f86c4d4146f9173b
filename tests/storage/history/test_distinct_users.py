"""Distinct users by day, compared with sets, on both databases."""

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Iterable
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
import sqlalchemy as sa
from structlog.testing import capture_logs

from flagstaff.database import tables
from flagstaff.database.database import Database
from flagstaff.database.tables import moment
from flagstaff.evaluation.history.layout import Layout, LayoutFlag
from flagstaff.evaluation.history.records import RecordBatch
from flagstaff.evaluation.history.users import DistinctUsers
from flagstaff.evaluation.outcomes import Outcome
from flagstaff.history.store.batches import find_environment_number
from flagstaff.history.store.deletions import delete_counts
from flagstaff.history.store.distinct_users.user_rollups import (
    SEGMENTS_DUE,
    CountedUsers,
    count_users,
    find_due,
    roll_up_users,
    store_users,
)
from flagstaff.history.store.distinct_users.user_sums import MOST_SEGMENTS, UserSums, sum_users
from flagstaff.history.store.segments import CONTINUED_SIZE
from tests.support.history import START, Record, make_batch, make_layout, make_record, write
from tests.support.holds import watch_holds
from tests.support.stores import Store

HOUR, DAY = 3600, 86_400
TODAY = int(START.timestamp()) // DAY
LAYOUT = make_layout()  # `rollout` of 20%, `ruled`, and `off`
OFF = LAYOUT.constant[0]
ON, NOT_IN_ROLLOUT = b"\x05\x64", b"\x50\x64"
BUCKETS = bytes(byte % 100 for byte in range(256))
USERS_TABLES = (tables.environment_users, tables.flag_users)


async def number_of(database: Database, environment_id: UUID) -> int:
    async with database.read_history() as connection:
        number = await find_environment_number(connection, environment_id)
    assert number is not None
    return number


async def roll_up(database: Database, environment_id: UUID) -> None:
    number, more = await number_of(database, environment_id), True
    while more:
        async with database.write_history() as connection:
            more = await roll_up_users(connection, number)


async def count(database: Database, environment_id: UUID, key: str, *days: int) -> DistinctUsers | None:
    """Return the numbers of users on these days, counted from today, which is 0 and the default."""
    first, last = min(days, default=0), max(days, default=0)
    sums = UserSums(range(TODAY + first, TODAY + last + 1), [TODAY + first])
    number = await number_of(database, environment_id)
    async with database.read_history() as connection:
        await sum_users(connection, number, key, sums)
    assert sums.of_all() == sums.of_interval(TODAY + first)
    return sums.of_all()


def count_naively(batches: Iterable[RecordBatch], key: str, *days: int) -> tuple[int, int, int]:
    """Count with sets, one evaluation at a time."""
    users: dict[bool, set[str]] = {True: set(), False: set()}
    for group in (group for batch in batches for group in batch.groups):
        for time, user, email, recorded in zip(group.times, group.users, group.emails, group.recorded, strict=True):
            identifier = user or (email or "").lower()
            for flag, outcome in group.layout.outcomes(recorded):
                if flag.key == key and identifier and time // (DAY * 10**9) - TODAY in (days or (0,)):
                    users[outcome.enabled].add(identifier)
    return len(users[True]), len(users[False]), 0


async def stored(database: Database) -> list[list[Any]]:
    async with database.read_history() as connection:
        rows = [await connection.execute(sa.select(table).order_by(*table.primary_key)) for table in USERS_TABLES]
        return [[*each.all()] for each in rows]


def flag_of(key: str, default: Outcome = Outcome.ON, rollout_percentage: int = 0) -> LayoutFlag:
    return LayoutFlag(uuid4(), key, rollout_percentage, default)


def users(*names: int, recorded: bytes = ON, after: float = 0) -> list[Record]:
    return [make_record(after + place, f"user-{name}", recorded) for place, name in enumerate(names)]


async def test_a_user_is_counted_once_however_often_they_come_and_on_both_sides_if_they_were_on_both(
    database: Database,
) -> None:
    environment_id = uuid4()
    await write(database, make_batch(environment_id, LAYOUT, *users(1, 2, 2, 1), *users(2, 3, recorded=NOT_IN_ROLLOUT)))
    for _ in range(2):
        assert await count(database, environment_id, "rollout") == (2, 2, 0)
        assert await count(database, environment_id, "ruled") == (3, 0, 0)
        assert await count(database, environment_id, "off") == (0, 3, 0)
        assert await count(database, environment_id, "unknown") == (0, 0, 0)
        await roll_up(database, environment_id)


async def test_a_user_is_known_by_the_id_or_else_by_the_email_in_any_case(database: Database) -> None:
    environment_id = uuid4()
    who = [("ada", "ada@x.org"), ("ada", None), ("", "Eve@x.org"), (None, "eve@X.org"), (None, None), ("", "")]
    records = [make_record(place, user, user_email=email) for place, (user, email) in enumerate(who)]
    await write(database, make_batch(environment_id, LAYOUT, *records))
    for _ in range(2):
        assert await count(database, environment_id, "rollout") == (2, 0, 0)
        await roll_up(database, environment_id)


async def test_evaluations_without_a_user_are_counted_as_nobodys(database: Database) -> None:
    environment_id = uuid4()
    await write(database, make_batch(environment_id, LAYOUT, make_record(0, None)))
    await roll_up(database, environment_id)
    assert await count(database, environment_id, "rollout") == (0, 0, 0)
    assert await stored(database) == [[], []]


async def test_days_are_merged_and_not_added_up(database: Database) -> None:
    environment_id = uuid4()
    batches = [make_batch(environment_id, LAYOUT, *users(day, day + 1, 9, after=day * DAY)) for day in range(3)]
    await write(database, *batches)
    for _ in range(2):
        for days in ((0,), (1,), (0, 1), (0, 1, 2), (-5, 9)):
            expected = count_naively(batches, "rollout", *range(min(days), max(days) + 1))
            assert await count(database, environment_id, "rollout", *days) == expected
        assert await count(database, environment_id, "off", 0, 2) == (0, 5, 0)
        await roll_up(database, environment_id)


async def test_environments_are_counted_separately(database: Database) -> None:
    one, other = uuid4(), uuid4()
    await write(database, make_batch(one, LAYOUT, *users(1, 2)), make_batch(other, LAYOUT, *users(2, 3, 4)))
    await roll_up(database, one)
    assert await count(database, one, "rollout") == (2, 0, 0)
    assert await count(database, other, "rollout") == (3, 0, 0)


async def test_flags_that_are_the_same_for_everyone_share_the_users_of_the_environment(database: Database) -> None:
    environment_id = uuid4()
    constant = tuple(flag_of(f"flag-{number}") for number in range(1000))
    layout = make_layout(constant=constant)
    await write(database, make_batch(environment_id, layout, *users(*range(600))))
    await roll_up(database, environment_id)
    environments, flags = await stored(database)
    assert len(environments) == 1
    assert {row.flag_key for row in flags} == {"rollout", "ruled"}
    found = await count(database, environment_id, "flag-7")
    assert found is not None
    assert (found.on, found.off, found.error) == (pytest.approx(600, rel=0.05), 0, 0.0163)


async def test_a_flag_that_changes_keeps_the_users_it_had_and_the_others_go_on_sharing(database: Database) -> None:
    environment_id = uuid4()
    same = flag_of("a")
    before = Layout((), (same, flag_of("b"), flag_of("c"), flag_of("d")))
    after = Layout((flag_of("c", Outcome.NOT_IN_ROLLOUT, 20),), (same, flag_of("b", Outcome.OFF), flag_of("e")))
    batches = [
        make_batch(environment_id, before, *users(1, 2, recorded=b"")),
        make_batch(environment_id, after, *users(2, 3, recorded=b"\x50")),
        make_batch(environment_id, before, *users(5, recorded=b"")),
    ]
    for batch in batches:
        await write(database, batch)
        await roll_up(database, environment_id)
    for key in "abcdef":
        assert await count(database, environment_id, key) == count_naively(batches, key)
    (environment,), flags = await stored(database)
    assert {row.flag_key for row in flags} == {"b", "c", "d", "e"}
    assert environment.day == TODAY


async def test_a_flag_that_is_evaluated_alone_does_not_part_the_others(database: Database) -> None:
    environment_id = uuid4()
    whole, alone = Layout((), (flag_of("a"), flag_of("b"), flag_of("c"))), Layout((), (flag_of("a"),))
    batches = [
        make_batch(environment_id, layout, *users(*names, recorded=b""))
        for layout, names in ((alone, (1, 2)), (whole, (2, 3)), (alone, (4,)), (whole, (5,)))
    ]
    for batch in batches:
        await write(database, batch)
        await roll_up(database, environment_id)
    for key in "abc":
        assert await count(database, environment_id, key) == count_naively(batches, key)
    assert [row.flag_key for row in (await stored(database))[1]] == ["a"]


def some_layout(dice: random.Random) -> Layout:
    """Up to five flags, each in a rollout, on or off; sometimes one alone."""
    flags = [
        dice.choice([flag_of(key, Outcome.NOT_IN_ROLLOUT, 20), flag_of(key), flag_of(key), flag_of(key, Outcome.OFF)])
        for key in dice.sample("abcde", dice.choice([1, 4, 5, 5]))
    ]
    return Layout(
        tuple(flag for flag in flags if flag.rollout_percentage),
        tuple(flag for flag in flags if not flag.rollout_percentage),
    )


@pytest.mark.parametrize("seed", range(3))
async def test_whatever_changes_and_whenever_it_is_rolled_up_the_users_are_those_that_were_recorded(
    database: Database, seed: int
) -> None:
    environment_id, dice, batches = uuid4(), random.Random(seed), []
    for _ in range(30):
        layout = some_layout(dice)
        times = sorted(dice.choice([0, DAY]) + dice.random() * 10 * HOUR for _ in range(dice.randrange(1, 12)))
        records = [
            make_record(
                seconds,
                dice.choice([None, f"u{dice.randrange(30)}"]),
                bytes(dice.choice([5, 80]) for _ in layout.recorded),
                user_email=dice.choice([None, f"U{dice.randrange(30)}"]),
            )
            for seconds in times
        ]
        batches.append(make_batch(environment_id, layout, *records))
        await write(database, batches[-1])
        if dice.random() < 0.4:
            await roll_up(database, environment_id)
    for key in "abcde":
        for days in ((0,), (1,), (0, 1)):
            assert await count(database, environment_id, key, *days) == count_naively(batches, key, *days)


async def test_a_roll_up_that_is_repeated_changes_nothing(database: Database) -> None:
    environment_id = uuid4()
    await write(database, make_batch(environment_id, LAYOUT, *users(*range(700)), *users(1, recorded=NOT_IN_ROLLOUT)))
    await roll_up(database, environment_id)
    once, counted = await stored(database), await count(database, environment_id, "rollout")
    async with database.write_history() as connection:
        await connection.execute(tables.recorded_environments.update().values(counted_segment=0))
    assert await count(database, environment_id, "rollout") == counted
    await roll_up(database, environment_id)
    assert await stored(database) == once


async def test_a_roll_up_that_fails_leaves_everything_to_the_next(database: Database) -> None:
    environment_id = uuid4()
    await write(database, make_batch(environment_id, LAYOUT, *users(1, 2)))
    number = await number_of(database, environment_id)
    with pytest.raises(KilledError):
        await fail_after(database, number)
    assert await stored(database) == [[], []]
    await roll_up(database, environment_id)
    assert await count(database, environment_id, "rollout") == (2, 0, 0)


async def count_without_a_lock(database: Database, environment_id: UUID) -> CountedUsers:
    number = await number_of(database, environment_id)
    async with database.read_history() as connection:
        counted = await count_users(connection, number)
    assert counted is not None
    return counted


@pytest.mark.parametrize("changes", ["a batch", "another count", "a deletion"])
async def test_users_that_were_counted_are_not_stored_if_anything_has_changed_since(
    database: Database, changes: str
) -> None:
    environment_id = uuid4()
    await write(database, make_batch(environment_id, LAYOUT, *users(1, 2)))
    counted = await count_without_a_lock(database, environment_id)
    if changes == "a batch":
        await write(database, make_batch(environment_id, LAYOUT, *users(3, after=5)))
    elif changes == "another count":
        await roll_up(database, environment_id)
    else:
        async with database.write_history() as connection:
            await connection.execute(tables.segments.delete())
    before = await stored(database)
    async with database.write_history() as connection:
        assert not await store_users(connection, counted)
    assert await stored(database) == before


async def test_users_are_counted_and_then_stored_without_the_segment_that_batches_continue(database: Database) -> None:
    environment_id = uuid4()
    await write(database, make_batch(environment_id, LAYOUT, *users(*range(CONTINUED_SIZE))))
    await write(database, make_batch(environment_id, LAYOUT, *users(500, after=200)))
    counted = await count_without_a_lock(database, environment_id)
    await write(database, make_batch(environment_id, LAYOUT, *users(501, after=300)))
    async with database.write_history() as connection:
        assert await store_users(connection, counted)
    assert await count(database, environment_id, "rollout") == (CONTINUED_SIZE + 2, 0, 0)
    assert (await count_without_a_lock(database, environment_id)).segments[0].size == 2


class KilledError(Exception):
    """Represents a process that is killed before the commit."""


async def fail_after(database: Database, number: int) -> None:
    async with database.write_history() as connection:
        await roll_up_users(connection, number)
        raise KilledError


async def test_a_batch_after_a_roll_up_does_not_continue_a_segment_that_was_counted(database: Database) -> None:
    environment_id = uuid4()
    for name in range(6):
        await write(database, make_batch(environment_id, LAYOUT, *users(name, after=name)))
        if name == 2:
            await roll_up(database, environment_id)
    async with database.read_history() as connection:
        sizes = (await connection.execute(sa.select(tables.segments.c.size).order_by(tables.segments.c.id))).scalars()
        assert [*sizes] == [3, 3]
    await roll_up(database, environment_id)
    assert await count(database, environment_id, "rollout") == (6, 0, 0)


@pytest.fixture
async def instances(store: Store, database: Database, tmp_path: Path) -> AsyncIterator[list[Database]]:
    """Two instances on PostgreSQL; with SQLite there can be only one."""
    if store.database_url is None:
        yield [database, database]
        return
    other = Database(store.database_url, tmp_path)
    yield [database, other]
    await other.close()


async def test_instances_that_write_and_roll_up_at_once_count_everyone_once(instances: list[Database]) -> None:
    environment_id, constant = uuid4(), (flag_of("on"),)
    await write(instances[0], make_batch(environment_id, LAYOUT, *users(0)))
    batches = [
        make_batch(environment_id, make_layout(constant=constant), *users(*range(name, name + 5))) for name in range(20)
    ]
    work = [write(instances[place % 2], batch) for place, batch in enumerate(batches)]
    work += [roll_up(instances[place % 2], environment_id) for place in range(8)]
    random.shuffle(work)
    await asyncio.gather(*work)
    for database in instances:
        assert await count(database, environment_id, "rollout") == (24, 0, 0)
        assert await count(database, environment_id, "on") == (24, 0, 0)
        assert await count(database, environment_id, "off") == (0, 1, 0)
        await roll_up(database, environment_id)


async def test_users_are_counted_at_the_end_of_the_hour_or_when_there_are_many_segments(database: Database) -> None:
    environment_id, hour = uuid4(), int(START.timestamp()) // HOUR

    async def due(at: int) -> int:
        async with database.read_history() as connection:
            return len(await find_due(connection, at))

    for each in range(SEGMENTS_DUE):
        assert await due(hour) == 0
        await write(database, make_batch(environment_id, make_layout(), *users(1, after=each)))
    assert (await due(hour), await due(hour + 1)) == (1, 1)
    await roll_up(database, environment_id)
    assert (await due(hour), await due(hour + 1)) == (0, 0)
    await write(database, make_batch(environment_id, LAYOUT, *users(1)))
    assert (await due(hour), await due(hour + 1)) == (0, 1)


async def test_counting_never_holds_the_event_loop_for_long(database: Database) -> None:
    environment_id, dice = uuid4(), random.Random(1)
    layout = Layout(tuple(flag_of(f"flag-{number}", Outcome.NOT_IN_ROLLOUT, 50) for number in range(100)), ())
    for start in (0, 10_000):
        records = [
            make_record(each / 100, f"user-{start + each}", dice.randbytes(100).translate(BUCKETS))
            for each in range(10_000)
        ]
        await write(database, make_batch(environment_id, layout, *records))
        async with watch_holds() as holds:  # statements are compiled the first time
            await count(database, environment_id, "flag-1")
            await roll_up(database, environment_id)
            await count(database, environment_id, "flag-1")
    assert holds.longest_in_units < 15


async def test_the_environments_with_a_long_history_to_count_come_last(database: Database) -> None:
    behind, ahead = uuid4(), uuid4()
    await write(database, make_batch(behind, LAYOUT, *users(1)), make_batch(ahead, LAYOUT, *users(1)))
    await roll_up(database, ahead)
    await write(database, make_batch(ahead, LAYOUT, *users(1)))
    async with database.read_history() as connection:
        due = await find_due(connection, int(START.timestamp()) // HOUR + 1)
    assert due == [await number_of(database, ahead), await number_of(database, behind)]


async def test_what_is_not_counted_yet_is_unknown_and_not_none(database: Database) -> None:
    environment_id, hours = uuid4(), range(MOST_SEGMENTS + 1)  # each in its own segment
    await write(database, make_batch(environment_id, LAYOUT, *users(1, 2, after=-DAY)))
    await roll_up(database, environment_id)
    records = [make_record(HOUR * hour, f"user-{hour}") for hour in hours]
    await write(database, make_batch(environment_id, LAYOUT, *records))
    assert await count(database, environment_id, "rollout", -1) == (2, 0, 0)
    for days in ((0,), (-1, 0), (3,), (-1, 30)):
        assert await count(database, environment_id, "rollout", *days) is None
    await roll_up(database, environment_id)
    assert await count(database, environment_id, "rollout", -1) == (2, 0, 0)
    assert await count(database, environment_id, "rollout", 0) == (14, 0, 0)
    found = await count(database, environment_id, "rollout", -1, 110)
    assert found is not None
    assert found.on == pytest.approx(MOST_SEGMENTS + 1, rel=0.05)


async def test_users_are_deleted_when_their_whole_day_is_too_old(database: Database) -> None:
    environment_id = uuid4()
    for day in range(3):
        await write(database, make_batch(environment_id, LAYOUT, *users(day, after=day * DAY)))
    await roll_up(database, environment_id)
    number = await number_of(database, environment_id)
    for before, left in (((TODAY + 2) * DAY - 60, [1, 2]), ((TODAY + 2) * DAY, [2])):
        async with database.write_history() as connection:
            await delete_counts(connection, number, moment(before * 10**6))
        for rows in await stored(database):
            assert sorted({row.day - TODAY for row in rows}) == left
    async with database.write_history() as connection:
        await delete_counts(connection, number, None)
    assert await stored(database) == [[], []]


async def test_the_size_of_the_history_includes_the_users(database: Database) -> None:
    environment_id = uuid4()
    for _ in range(2):
        await write(database, make_batch(environment_id, LAYOUT, *users(*range(random.randrange(20, 50)))))
        await roll_up(database, environment_id)
    environments, flags = await stored(database)
    columns = [[*row] for row in (*environments, *flags)]
    size = sum(len(each) for row in columns for each in row if isinstance(each, bytes))
    async with database.read_history() as connection:
        counted = await connection.execute(sa.select(sa.func.sum(tables.recorded_bytes.c.bytes)))
    assert counted.scalar_one() == size


def damage_segments(connection: Any) -> Any:
    return connection.execute(tables.segments.update().values(content=b"\xc1"))


def damage_users(connection: Any) -> Any:
    return connection.execute(tables.environment_users.update().values(users=b"", flags=b""))


def damage_flags(connection: Any) -> Any:
    return connection.execute(tables.flag_users.update().values(on_users=b"\7"))


@pytest.mark.parametrize("damage", [damage_segments, damage_users, damage_flags])
async def test_a_damaged_row_is_logged_and_does_not_stop_the_counting(
    database: Database, damage: Callable[[Any], Any]
) -> None:
    environment_id = uuid4()
    await write(database, make_batch(environment_id, LAYOUT, *users(*range(CONTINUED_SIZE))))
    if damage is not damage_segments:
        await roll_up(database, environment_id)
    async with database.write_history() as connection:
        await damage(connection)
    await write(database, make_batch(environment_id, LAYOUT, *users(501, 502)))
    with capture_logs() as logged:
        await roll_up(database, environment_id)
        found = await count(database, environment_id, "rollout")
    assert "history_row_damaged" in [each["event"] for each in logged]
    assert found == ((102, 0, 0) if damage is damage_users else (2, 0, 0))


@pytest.mark.parametrize("table", USERS_TABLES)
async def test_a_form_of_a_newer_version_is_refused_by_name(database: Database, table: sa.Table) -> None:
    environment_id = uuid4()
    await write(database, make_batch(environment_id, LAYOUT, *users(1)))
    await roll_up(database, environment_id)
    async with database.write_history() as connection:
        await connection.execute(table.update().values(version=99))
    with pytest.raises(ValueError, match="users of version 99 are unknown"):
        await count(database, environment_id, "rollout")
