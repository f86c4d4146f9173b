"""The bounds on events and their ids, of a project and of all: nobody pushes out what is another's."""

from collections.abc import Sequence
from datetime import timedelta
from itertools import count
from uuid import UUID

import pytest

from flagstaff.database import tables
from flagstaff.database.database import Database
from flagstaff.history.event_retention import EventBounds, EventRetention
from flagstaff.history.retention import HistoryRetention
from flagstaff.history.store import event_ids, event_segments
from flagstaff.history.store.batches import list_recorded_environments
from flagstaff.history.store.events import write_events
from flagstaff.metrics.events import EventBatch, EventGroup, EventRow, digest_id
from flagstaff.projects.hidden_environments_store import hide_environments
from flagstaff.projects.sdk_keys import KeyKind
from flagstaff.telemetry.metrics import Metrics
from tests.support.builders import make_account, make_environment, make_project, store_all, store_environment
from tests.support.clock import Clock

BOUNDS = EventBounds(events_of_project=1_000, events=10_000, ids_of_project=1_000, ids=20_000)
LOT = 100
numbers = count(1)


def retention_of(database: Database, clock: Clock, bounds: EventBounds = BOUNDS) -> HistoryRetention:
    events = EventRetention(database, bounds)
    return HistoryRetention(database, clock, timedelta(days=90), event_retention=events)


async def send(
    database: Database, clock: Clock, environment_id: UUID, ids: Sequence[object], kind: KeyKind = KeyKind.SERVER
) -> int:
    """Send an event with each of some ids; return how many were stored."""
    before = await count_events(database, environment_id)
    at = tables.microseconds(clock())
    for start in range(0, len(ids), LOT):
        rows = [EventRow("errors", "ada", at, 1.0, digest_id("errors", str(each), kind)) for each in ids[start:][:LOT]]
        batch = EventBatch(next(numbers), at, [EventGroup(environment_id, rows, {}, kind)])
        async with database.write_history() as connection:
            await write_events(connection, batch, generation_ids=LOT)
    return await count_events(database, environment_id) - before


async def count_events(database: Database, environment_id: UUID) -> int:
    async with database.read_history() as connection:
        recorded = await list_recorded_environments(connection)
        counts = await event_segments.count_by_environment(connection)
    return counts.get(recorded.get(environment_id, -1), 0)


async def count_ids(database: Database, environment_id: UUID) -> int:
    async with database.read_history() as connection:
        number = (await list_recorded_environments(connection))[environment_id]
        return sum(each.ids for each in await event_ids.list_generations_of(connection, number))


async def test_a_projects_events_beyond_its_bound_are_deleted_and_nobody_elses(
    database: Database, clock: Clock
) -> None:
    flooded, other = await store_environment(database), await store_environment(database)
    quiet = make_environment(flooded.project_id, key="quiet")
    await store_all(database, quiet)
    await send(database, clock, other.id, range(300))
    await send(database, clock, quiet.id, range(300))
    await send(database, clock, flooded.id, range(2_500))
    retention = retention_of(database, clock)
    await retention.purge()
    kept = [await count_events(database, each.id) for each in (flooded, quiet, other)]
    assert kept == [700, 300, 300], "an environment with few events has lost some of them"
    assert retention.event_retention is not None
    assert (retention.event_retention.stored, retention.event_retention.deleted) == (1_300, 1_800)


async def test_beyond_the_bound_of_all_the_accounts_with_the_most_events_lose_them(
    database: Database, clock: Clock
) -> None:
    modest = await store_environment(database)
    eve = make_account()
    projects = [make_project(eve.id) for _ in range(5)]
    environments = [make_environment(each.id) for each in projects]
    await store_all(database, eve, *projects, *environments)
    await send(database, clock, modest.id, range(900))
    for each in environments:
        await send(database, clock, each.id, range(800))
    await retention_of(database, clock, BOUNDS._replace(events=2_000)).purge()
    assert await count_events(database, modest.id) == 900
    assert [await count_events(database, each.id) for each in environments] == [200] * 5


async def test_the_oldest_ids_beyond_a_projects_bound_are_forgotten_and_nobody_elses(
    database: Database, clock: Clock
) -> None:
    flooded, other = await store_environment(database), await store_environment(database)
    await send(database, clock, other.id, range(300))
    await send(database, clock, flooded.id, range(2_500))
    retention = retention_of(database, clock)
    await retention.purge()
    assert 600 <= await count_ids(database, flooded.id) <= 1_000
    assert await send(database, clock, flooded.id, range(2_000, 2_500)) == 0
    assert await send(database, clock, flooded.id, range(100)) == 100
    assert await send(database, clock, other.id, range(300)) == 0
    assert retention.event_retention is not None
    assert retention.event_retention.ids + retention.event_retention.forgotten == 2_800


async def test_ids_of_pages_never_make_those_of_servers_be_forgotten(database: Database, clock: Clock) -> None:
    environment = await store_environment(database)
    await send(database, clock, environment.id, range(200))
    await send(database, clock, environment.id, range(3_000), KeyKind.BROWSER)
    await retention_of(database, clock).purge()
    assert await send(database, clock, environment.id, range(200)) == 0
    assert await count_ids(database, environment.id) <= 1_200


async def test_an_id_is_forgotten_after_a_week_and_with_its_environment(database: Database, clock: Clock) -> None:
    environment, deleted = await store_environment(database), await store_environment(database)
    for each in (environment, deleted):
        await send(database, clock, each.id, range(150))
    retention = retention_of(database, clock)
    clock.advance(days=6)
    async with database.transaction() as transaction:
        await hide_environments(transaction.connection, [deleted.id])
    await retention.purge()
    assert await send(database, clock, environment.id, range(150)) == 0
    async with database.read_history() as connection:
        assert [each.ids for each in await event_ids.list_generations(connection)] == [100, 50]
    clock.advance(days=3)
    await retention.purge()
    async with database.read_history() as connection:
        assert await event_ids.list_generations(connection) == []
    assert await send(database, clock, environment.id, range(150)) == 150


@pytest.mark.parametrize("kind", list(KeyKind))
async def test_the_metrics_say_how_many_ids_there_are(database: Database, clock: Clock, kind: KeyKind) -> None:
    environment = await store_environment(database)
    await send(database, clock, environment.id, range(50), kind)
    retention, metrics = retention_of(database, clock), Metrics()
    assert retention.event_retention is not None
    retention.event_retention.export_metrics(metrics)
    await retention.purge()
    text = metrics.render()[0].decode()
    assert "flagstaff_event_ids 50" in text
    assert "flagstaff_events_stored 50" in text
