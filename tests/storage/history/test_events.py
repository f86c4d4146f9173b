"""Events of metrics in the history: each once, in their order, and deleted in small pieces."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest
import sqlalchemy as sa

from flagstaff.database import tables
from flagstaff.database.database import Database
from flagstaff.history.store import deletions, events
from flagstaff.history.store.batches import find_environment_number
from flagstaff.history.store.events import StoredEvent
from flagstaff.metrics.events import EventBatch, EventGroup, EventRow
from tests.support.stores import Store

NOW = datetime(2026, 11, 20, 10, tzinfo=UTC)
AT = tables.microseconds(NOW)
FAR = 10**9


@pytest.fixture
async def database(store: Store) -> AsyncIterator[Database]:
    """The database."""
    made = Database(store.database_url, store.data_directory)
    yield made
    await made.close()


def batch(environment_id: UUID, *users: str, number: int = 1, at: int = AT, ids: bool = False) -> EventBatch:
    """A batch with an event of each of some users."""
    rows = [EventRow("errors", user, at, 1.5, f"id-{user}" if ids else None) for user in users]
    return EventBatch(number, AT, [EventGroup(environment_id, rows, {})])


async def write(database: Database, *batches: EventBatch) -> list[bool]:
    written = []
    for each in batches:
        async with database.write_history() as connection:
            written.append(await events.write_events(connection, each))
    return written


async def read(database: Database, environment_id: UUID) -> list[StoredEvent]:
    async with database.read_history() as connection:
        number = await find_environment_number(connection, environment_id)
        if number is None:
            return []
        last = await events.find_last_event(connection, number)
        return await events.list_events_after(connection, number, 0, last, 1000)


async def count(database: Database, table: sa.Table) -> int:
    async with database.read_history() as connection:
        return int((await connection.execute(sa.select(sa.func.count()).select_from(table))).scalar_one())


async def test_a_batch_is_stored_once_however_often_it_is_written(database: Database) -> None:
    environment_id = uuid4()
    same = batch(environment_id, "ada", "Zoë 😀", number=7)
    assert await write(database, same, same) == [True, False]
    await asyncio.gather(*(write(database, same) for _ in range(4)))
    found = await read(database, environment_id)
    assert [(each.metric, each.unit, each.at, each.value) for each in found] == [
        ("errors", "ada", AT, 1.5),
        ("errors", "Zoë 😀", AT, 1.5),
    ]


async def test_events_are_read_in_the_order_in_which_they_were_committed(database: Database) -> None:
    environment_id, other = uuid4(), uuid4()
    await asyncio.gather(
        *(write(database, batch(environment_id, f"u-{number}", number=number)) for number in range(10)),
        write(database, batch(other, "x", number=99)),
    )
    found = await read(database, environment_id)
    assert len({each.id for each in found}) == 10
    assert [each.id for each in found] == sorted(each.id for each in found)


async def test_an_id_that_was_stored_before_is_left_out_of_another_batch(database: Database) -> None:
    environment_id = uuid4()
    await write(
        database,
        batch(environment_id, "ada", number=1, ids=True),
        batch(environment_id, "ada", "grace", "grace", number=2, ids=True),
        batch(uuid4(), "ada", number=3, ids=True),
    )
    assert [each.unit for each in await read(database, environment_id)] == ["ada", "grace"]


async def test_the_events_of_some_users_are_found_between_two_positions(database: Database) -> None:
    environment_id = uuid4()
    await write(database, batch(environment_id, "ada", "grace", "ada"))
    first, _, third = await read(database, environment_id)
    async with database.read_history() as connection:
        number = await find_environment_number(connection, environment_id)
        assert number is not None

        async def find(after: int, last: int, metric: str = "errors") -> list[StoredEvent]:
            return await events.list_events_of_units(connection, number or 0, ["ada"], [metric], after=after, last=last)

        assert await find(0, third.id) == [first, third]
        assert await find(first.id, third.id) == [third]
        assert await find(0, third.id - 1) == [first]
        assert await find(0, third.id, "other") == []


async def test_old_events_are_deleted_and_newer_ones_stay(database: Database) -> None:
    environment_id, day = uuid4(), 86_400_000_000
    await write(
        database,
        batch(environment_id, "old", number=1, at=AT - 91 * day, ids=True),
        batch(environment_id, "new", number=2, ids=True),
    )
    before = NOW - timedelta(days=90)
    async with database.write_history() as connection:
        assert not await events.delete_events(connection, before, FAR, 50)
        assert not await events.delete_event_ids(connection, before, 50)
    assert [each.unit for each in await read(database, environment_id)] == ["new"]
    assert await count(database, tables.event_ids) == 2  # the id is as old as its batch
    async with database.write_history() as connection:
        assert not await events.delete_event_ids(connection, NOW + timedelta(days=1), 50)
    assert await count(database, tables.event_ids) == 0


async def test_the_oldest_events_beyond_the_bound_are_deleted(database: Database) -> None:
    environment_id = uuid4()
    await write(database, batch(environment_id, *(f"u-{number}" for number in range(50))))
    more = True
    while more:
        async with database.write_history() as connection:
            more = await events.delete_events(connection, NOW - timedelta(days=90), 10, 1)
    assert [each.unit for each in await read(database, environment_id)] == [f"u-{number}" for number in range(40, 50)]


async def test_the_events_of_a_deleted_environment_go_in_pieces(database: Database) -> None:
    environment_id, other = uuid4(), uuid4()
    await write(
        database,
        batch(environment_id, *(f"u-{number}" for number in range(45)), number=1, ids=True),
        batch(other, "ada", number=2, ids=True),
    )
    async with database.read_history() as connection:
        number = await find_environment_number(connection, environment_id)
    assert number is not None
    pieces, more = 0, True
    while more:
        async with database.write_history() as connection:
            more = await events.delete_events_of(connection, number=number, limit=1)
        pieces += 1
    async with database.write_history() as connection:
        assert await deletions.forget_environment(connection, number)
    assert pieces == 3
    assert await read(database, environment_id) == []
    assert [each.unit for each in await read(database, other)] == ["ada"]
    assert await count(database, tables.event_ids) == 1
