"""The deletion of history: by age, and with its environment."""

from datetime import timedelta
from uuid import UUID, uuid4

import pytest
import sqlalchemy as sa

from flagstaff.database import tables
from flagstaff.database.database import Database
from flagstaff.history.history_service import History
from flagstaff.history.retention import HistoryRetention
from flagstaff.projects.hidden_environments_store import hide_environments
from flagstaff.projects.projects import Environment
from tests.support.builders import store_environment
from tests.support.clock import Clock
from tests.support.history import make_batch, make_layout, make_record, read

RETENTION = timedelta(days=90)
LAYOUT = make_layout()


@pytest.fixture
async def environment(database: Database) -> Environment:
    return await store_environment(database)


@pytest.fixture
def service(database: Database, clock: Clock) -> History:
    return History(database, clock)


@pytest.fixture
def retention(database: Database, clock: Clock) -> HistoryRetention:
    return HistoryRetention(database, clock, RETENTION)


async def count_rows(database: Database) -> dict[str, int]:
    """Return the number of rows about evaluations in each table, except the ids of batches."""
    found = {}
    others = {
        tables.batches,
        tables.callers,
        tables.caller_hours,
        tables.connections,
        tables.dropped_reports,
        tables.reported_counts,
        tables.reported_windows,
        tables.event_id_generations,
        tables.event_id_pages,
        tables.event_ids,
        tables.event_segments,
        tables.exposures,
        tables.observed_releases,
        tables.counted_releases,
        tables.step_exposures,
        tables.step_events,
        tables.request_samples,
        tables.request_series,
        tables.unknown_metrics,
        tables.user_events,
    }
    others |= {tables.deliveries, tables.delivered, tables.delivered_events}
    others |= {tables.erasures, tables.erased_users, tables.freed_pages}
    async with database.read_history() as connection:
        for table in tables.metadata.sorted_tables:
            if table.schema == tables.HISTORY and table not in others:
                count = await connection.execute(sa.select(sa.func.count()).select_from(table))
                found[table.name] = count.scalar_one()
    return found


async def record(service: History, environment_id: UUID, *seconds: float) -> None:
    await service.record(make_batch(environment_id, LAYOUT, *map(make_record, seconds)))


async def test_purging_nothing_does_nothing(retention: HistoryRetention, database: Database) -> None:
    await retention.purge()
    assert set((await count_rows(database)).values()) == {0}


async def test_what_is_young_enough_stays(
    service: History, retention: HistoryRetention, database: Database, clock: Clock, environment: Environment
) -> None:
    await record(service, environment.id, 0)
    before = await count_rows(database)
    clock.advance(days=90)
    await retention.purge()
    assert await count_rows(database) == before


async def test_older_evaluations_are_deleted_in_small_steps_with_all_that_only_they_needed(
    service: History, retention: HistoryRetention, database: Database, clock: Clock, environment: Environment
) -> None:
    retention.deleted_at_once = 3
    await record(service, environment.id, *range(10))
    clock.advance(days=90, hours=2)
    await retention.purge()
    assert await count_rows(database) == {
        "environment_users": 0,
        "flag_counts": 0,
        "flag_users": 0,
        "layouts": 0,
        "recorded_bytes": 0,
        "segments": 0,
        "summaries": 0,
        "recorded_environments": 1,
    }


async def test_only_the_older_part_goes(
    service: History, retention: HistoryRetention, database: Database, clock: Clock, environment: Environment
) -> None:
    day = 86_400
    await record(service, environment.id, 0, 1, 2)
    await record(service, environment.id, 2 * day)
    clock.advance(days=91)
    await retention.purge()
    assert await count_rows(database) == {
        "environment_users": 0,
        "flag_counts": 0,
        "flag_users": 0,
        "layouts": 1,
        "recorded_bytes": 0,
        "segments": 1,
        "summaries": 1,
        "recorded_environments": 1,
    }


async def test_the_users_of_a_day_are_deleted_with_its_evaluations(
    service: History, retention: HistoryRetention, database: Database, clock: Clock, environment: Environment
) -> None:
    day = 86_400
    await record(service, environment.id, 0, day)
    clock.advance(days=2)
    await retention.roll_up()
    clock.advance(days=89)
    await retention.purge()
    rows = await count_rows(database)
    assert (rows["environment_users"], rows["flag_users"]) == (1, 2)
    async with database.transaction() as transaction:
        await hide_environments(transaction.connection, [environment.id])
    await retention.purge()
    assert set((await count_rows(database)).values()) == {0}


async def test_what_is_older_is_not_served_even_where_its_segment_stays_for_the_sake_of_others(
    service: History, retention: HistoryRetention, database: Database, clock: Clock, environment: Environment
) -> None:
    await record(service, environment.id, 0, 600, 1200)
    before = await read(database, environment.id)
    clock.advance(days=90, minutes=5)
    await retention.purge()
    assert (await count_rows(database))["segments"] == 1
    assert await read(database, environment.id) == before[:2]
    await record(service, environment.id, 1800)
    assert (await read(database, environment.id))[1:] == before[:2]


async def test_a_batch_that_comes_again_is_recognised_for_a_week(
    service: History, retention: HistoryRetention, database: Database, clock: Clock, environment: Environment
) -> None:
    batch = make_batch(environment.id, LAYOUT, make_record(0))
    for _ in range(2):
        await service.record(batch)
        clock.advance(days=3)
        await retention.purge()
    assert len(await read(database, environment.id)) == 1
    clock.advance(days=2)
    await retention.purge()
    async with database.read_history() as connection:
        assert (await connection.execute(sa.select(tables.batches))).all() == []


async def test_a_layout_in_use_stays_however_long_ago_it_was_made(
    service: History, retention: HistoryRetention, database: Database, clock: Clock, environment: Environment
) -> None:
    for day in range(0, 100, 10):
        await record(service, environment.id, day * 86_400)
    clock.advance(days=100)
    await retention.purge()
    assert (await count_rows(database))["layouts"] == 1


async def test_the_history_of_a_deleted_environment_goes_and_that_of_others_stays(
    service: History, retention: HistoryRetention, database: Database, environment: Environment
) -> None:
    await record(service, environment.id, 0)
    alone = await count_rows(database)
    await record(service, uuid4(), 0)
    await retention.purge()
    assert await count_rows(database) == alone
    async with database.transaction() as transaction:
        await hide_environments(transaction.connection, [environment.id])
    await retention.purge()
    assert set((await count_rows(database)).values()) == {0}


async def test_a_late_batch_of_a_purged_environment_is_purged_in_its_turn(
    service: History, retention: HistoryRetention, database: Database
) -> None:
    gone = uuid4()
    for _ in range(2):
        await record(service, gone, 0)
        await retention.purge()
        assert set((await count_rows(database)).values()) == {0}
