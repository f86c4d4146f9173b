"""The retention of histories: keeping them below a number of bytes, and the roll-up."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from secrets import token_urlsafe
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa
from structlog.testing import capture_logs

from flagstaff.database import tables
from flagstaff.database.database import Database
from flagstaff.history.history_service import History
from flagstaff.history.retention import MOST_USERS_SECONDS, USERS_SECONDS, HistoryRetention
from flagstaff.history.store import batches, deletions
from flagstaff.history.store.distinct_users import user_rollups
from flagstaff.history.store.segments import CONTINUED_SIZE
from flagstaff.projects.projects import Environment
from flagstaff.settings import Settings
from tests.support.clock import Clock
from tests.support.history import START, make_batch, make_layout, make_record, read

LAYOUT = make_layout()
HOURS = 10


@pytest.fixture
def retention(database: Database, clock: Clock) -> HistoryRetention:
    return HistoryRetention(database, clock, timedelta(days=90))


async def record_hours(database: Database, clock: Clock, *environment_ids: UUID) -> None:
    """Record an evaluation in each minute of ten hours, and move the clock along."""
    history = History(database, clock)
    for hour in range(HOURS):
        records = [make_record(3600 * hour + 60 * minute, f"user-{hour}") for minute in range(60)]
        for environment_id in environment_ids:
            await history.record(make_batch(environment_id, LAYOUT, *records))
    clock.advance(hours=HOURS)


async def count_uncounted(database: Database, clock: Clock) -> int:
    """How many environments have users to count."""
    async with database.read_history() as connection:
        return len(await user_rollups.find_due(connection, int(clock().timestamp()) // 3600))


async def test_without_a_bound_nothing_is_deleted_and_the_bytes_are_shown(
    database: Database, clock: Clock, retention: HistoryRetention, environments: list[Environment]
) -> None:
    await retention.purge()
    assert retention.bytes == 0
    await record_hours(database, clock, environments[0].id)
    await retention.purge()
    sizes = [
        sa.select(sa.func.sum(sa.func.length(column)))
        for column in (
            tables.segments.c.content,
            tables.segments.c.user_hashes,
            tables.segments.c.email_hashes,
            tables.layouts.c.content,
        )
    ]
    async with database.read_history() as connection:
        stored = sum([(await connection.execute(size)).scalar_one() for size in sizes])
    assert retention.bytes == stored
    assert retention.deleted == 0
    assert len(await read(database, environments[0].id)) == 60 * HOURS


@pytest.mark.each_case_on_both_databases
@pytest.mark.parametrize("is_rolled_up", [False, True])
async def test_a_history_over_its_bytes_loses_the_oldest_in_every_environment(
    database: Database, clock: Clock, retention: HistoryRetention, environments: list[Environment], is_rolled_up: bool
) -> None:
    await record_hours(database, clock, *(each.id for each in environments))
    if is_rolled_up:
        await retention.roll_up()
    await retention.purge()
    before = retention.bytes
    retention.max_bytes = before // 2
    with capture_logs() as logged:
        await retention.purge()
    assert retention.bytes == before // 2
    for environment in environments:
        kept = await read(database, environment.id)
        assert 4.5 * 60 <= len(kept) <= 5.5 * 60
        assert kept[0].user_id == f"user-{HOURS - 1}"
    assert retention.deleted >= 8 * 60
    (entry,) = [each for each in logged if each["event"] == "history_bound_reached"]
    assert (entry["log_level"], entry["deleted"]) == ("warning", retention.deleted)


@pytest.fixture
def disk(retention: HistoryRetention) -> Callable[[int], None]:
    """Set how much of a disk of 1 TB is free."""

    def set_free(free: int) -> None:
        retention.free_disk = lambda: (free, 10**12)

    return set_free


async def test_by_default_the_oldest_goes_before_the_disk_is_full_and_only_as_much_as_is_needed(
    database: Database,
    clock: Clock,
    retention: HistoryRetention,
    environments: list[Environment],
    disk: Callable[[int], None],
) -> None:
    retention.max_bytes, retention.least_bytes = Settings.load({}).history_max_bytes, 0
    history = History(database, clock)
    for hour in range(HOURS):  # large enough that pages of the file become free
        records = [make_record(3600 * hour + 10 * each, token_urlsafe(700)) for each in range(100)]
        await history.record(make_batch(environments[0].id, LAYOUT, *records))
    clock.advance(hours=HOURS)
    disk(retention.reserve_bytes)
    await retention.purge()
    before, everything = retention.bytes, await read(database, environments[0].id)
    assert retention.deleted == 0

    disk(retention.reserve_bytes - before // 2)
    await retention.purge()

    kept = await read(database, environments[0].id)
    if database.is_postgresql:  # a disk that cannot be measured
        assert kept == everything
        return
    assert 400 <= len(kept) <= 600
    assert kept == everything[: len(kept)]
    for _ in range(5):  # the disk has no more room than before, but the file has
        await retention.purge()
    assert len(await read(database, environments[0].id)) >= 350


async def test_a_disk_that_something_else_fills_leaves_the_newest_of_the_history(
    database: Database,
    clock: Clock,
    retention: HistoryRetention,
    environments: list[Environment],
    disk: Callable[[int], None],
) -> None:
    await record_hours(database, clock, environments[0].id)
    retention.max_bytes = "auto"
    disk(0)
    await retention.purge()
    assert len(await read(database, environments[0].id)) == 60 * HOURS


async def test_a_history_within_its_bytes_again_is_left_alone(
    database: Database, clock: Clock, retention: HistoryRetention, environments: list[Environment]
) -> None:
    await record_hours(database, clock, environments[0].id)
    await retention.purge()
    retention.max_bytes = retention.bytes // 2
    await retention.purge()
    left, deleted = await read(database, environments[0].id), retention.deleted
    with capture_logs() as logged:
        await retention.purge()
    assert await read(database, environments[0].id) == left
    assert retention.deleted == deleted
    assert logged == []


async def test_a_first_hour_that_is_too_large_by_itself_keeps_its_newest_part(
    database: Database, clock: Clock, retention: HistoryRetention, environments: list[Environment]
) -> None:
    history = History(database, clock)
    for minute in range(0, 40, 2):
        records = [make_record(60 * minute + second, str(minute)) for second in range(100)]
        await history.record(make_batch(environments[0].id, LAYOUT, *records))
    clock.advance(minutes=40)
    await retention.purge()
    retention.max_bytes = retention.bytes // 4
    await retention.purge()
    kept = await read(database, environments[0].id)
    assert 0 < len(kept) <= 2000 // 4 + 100
    assert kept[0].user_id == "38"


async def test_the_retention_touches_no_environment_without_anything_old(
    database: Database, clock: Clock, retention: HistoryRetention, environments: list[Environment]
) -> None:
    await record_hours(database, clock, environments[0].id)
    clock.advance(days=90, hours=-HOURS / 2)
    now = (clock() - START).total_seconds()
    await History(database, clock).record(make_batch(environments[1].id, LAYOUT, make_record(now)))
    await retention.purge()
    columns = tables.recorded_environments.c
    async with database.read_history() as connection:
        rows = await connection.execute(sa.select(columns.environment_id, columns.kept_from))
        kept_from = {row.environment_id: row.kept_from for row in rows}
    oldest = int((clock() - timedelta(days=90)).timestamp()) // 60
    assert kept_from == {environments[0].id: oldest, environments[1].id: 0}
    assert len(await read(database, environments[0].id)) == 60 * HOURS // 2


async def test_counts_of_hours_that_have_passed_are_rolled_up_and_no_others(
    database: Database, clock: Clock, retention: HistoryRetention, environments: list[Environment]
) -> None:
    await record_hours(database, clock, environments[0].id)
    history = History(database, clock)
    await retention.roll_up()
    await history.record(make_batch(environments[0].id, LAYOUT, make_record(3600 * HOURS)))
    await retention.roll_up()
    async with database.read_history() as connection:
        pending = (await connection.execute(sa.select(tables.summaries.c.minute))).scalars().all()
    assert pending == [int(START.timestamp()) // 60 + 60 * HOURS]
    assert clock() == datetime(2026, 11, 20, 10 + HOURS, tzinfo=UTC)


async def test_users_are_counted_for_longer_while_that_was_not_enough_for_all(
    database: Database, clock: Clock, retention: HistoryRetention, environments: list[Environment]
) -> None:
    await record_hours(database, clock, *(each.id for each in environments))
    retention.users_seconds = 0
    await retention.roll_up()
    assert await count_uncounted(database, clock) == 2
    retention.users_seconds = 1e-6
    seconds = []
    while await count_uncounted(database, clock):
        seconds.append(retention.users_seconds)
        await retention.roll_up()
    assert seconds == [1e-6 * 2**number for number in range(len(seconds))]
    assert len(seconds) > 1
    assert retention.users_seconds == USERS_SECONDS
    retention.users_seconds = MOST_USERS_SECONDS
    await record_hours(database, clock, environments[0].id)
    await retention.roll_up()
    assert retention.users_seconds == MOST_USERS_SECONDS / 2


async def test_users_of_late_evaluations_are_counted_within_an_hour(
    database: Database, clock: Clock, retention: HistoryRetention, environments: list[Environment]
) -> None:
    clock.advance(days=10)
    await retention.roll_up()
    await History(database, clock).record(make_batch(environments[0].id, LAYOUT, make_record()))
    await retention.roll_up()
    assert await count_uncounted(database, clock) == 1
    clock.advance(hours=1)
    await retention.roll_up()
    assert await count_uncounted(database, clock) == 0


async def test_late_evaluations_that_there_was_no_time_for_are_counted_next(
    database: Database, clock: Clock, retention: HistoryRetention, environments: list[Environment]
) -> None:
    clock.advance(days=10)
    await History(database, clock).record(make_batch(environments[0].id, LAYOUT, make_record()))
    retention.users_seconds = 0
    await retention.roll_up()
    assert await count_uncounted(database, clock) == 1
    retention.users_seconds = USERS_SECONDS
    await retention.roll_up()
    assert await count_uncounted(database, clock) == 0


async def test_a_layout_that_late_records_need_is_kept(
    database: Database, clock: Clock, environments: list[Environment]
) -> None:
    late, unused = (
        make_batch(environments[0].id, LAYOUT, make_record()),
        make_batch(environments[1].id, make_layout(), make_record()),
    )
    history = History(database, clock)
    await history.record(late)
    await history.record(unused)
    clock.advance(days=100)
    oldest = clock() - timedelta(days=90)
    async with database.write_history() as connection:  # as if the first batch had arrived later
        number = (await batches.list_recorded_environments(connection))[environments[1].id]
        await deletions.delete_segments(connection, number, oldest, 10)
        await deletions.delete_counts(connection, number, oldest)
    async with database.write_history() as connection:
        await deletions.delete_unused_layouts(connection, oldest)
        (kept,) = (await connection.execute(sa.select(tables.layouts.c.environment))).scalars()
    assert kept != number
    assert len(await read(database, environments[0].id)) == 1


async def test_a_failure_in_one_environment_does_not_affect_the_retention_of_the_others(
    database: Database, clock: Clock, retention: HistoryRetention, environments: list[Environment]
) -> None:
    await record_hours(database, clock, *(each.id for each in environments))
    summaries = tables.summaries
    async with database.write_history() as connection:
        damaged = min((await batches.list_recorded_environments(connection)).values())
        damage = summaries.update().where(summaries.c.environment == damaged).values(version=99)
        await connection.execute(damage)
    with pytest.raises(ValueError, match="99"):
        await retention.roll_up()
    async with database.read_history() as connection:
        left = set((await connection.execute(sa.select(summaries.c.environment))).scalars())
    assert left == {damaged}


async def test_instances_that_count_the_same_users_at_once_read_none_of_them_under_a_lock(
    database: Database, clock: Clock, environments: list[Environment]
) -> None:
    history, seconds = History(database, clock), iter(range(10**6))
    for size in (CONTINUED_SIZE, CONTINUED_SIZE, 5):  # batches may continue the last one, which is counted alone
        records = [make_record(next(seconds), f"user-{number}") for number in range(size)]
        await history.record(make_batch(environments[0].id, LAYOUT, *records))
    clock.advance(hours=HOURS)
    locking: set[Any] = set()
    read_while_locked: list[str] = []

    def note(connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        if not database.is_postgresql or "FOR UPDATE" in statement:  # whoever writes to SQLite has its only writer
            locking.add(connection)
        if "segments.layout_id" in statement and connection in locking:
            read_while_locked.append(statement)

    engine = database._engines.history_writer.sync_engine
    sa.event.listen(engine, "before_cursor_execute", note)
    sa.event.listen(engine, "commit", locking.discard)
    async with database.read_history() as connection:
        (number,) = await user_rollups.find_due(connection, int(clock().timestamp()) // 3600)
    instances = [HistoryRetention(database, clock, timedelta(days=90)) for _ in range(2)]
    await asyncio.gather(*(each._count_users(number) for each in instances))
    assert not read_while_locked
    await instances[0].roll_up()
    assert await count_uncounted(database, clock) == 0
