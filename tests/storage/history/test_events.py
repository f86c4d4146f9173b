"""Events of metrics in the history: stored once, in order, and deleted in small pieces."""

import asyncio
import zlib
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import msgspec
import pytest
import sqlalchemy as sa
from structlog.testing import capture_logs

from flagstaff.database import tables
from flagstaff.database.database import Database
from flagstaff.history.store import deletions, event_ids, event_segments, events
from flagstaff.history.store.batches import find_environment_number
from flagstaff.history.store.columns import UnknownVersionError
from flagstaff.history.store.event_segments import CHARACTERS_MAX, SIZE_MAX, StoredEvent, unpack
from flagstaff.metrics.events import EventBatch, EventGroup, EventRow, digest_id
from flagstaff.projects.sdk_keys import KeyKind
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
    """Return a batch with an event of each of some users."""
    digests = [digest_id("errors", user, KeyKind.SERVER) if ids else None for user in users]
    rows = [EventRow("errors", user, at, 1.5, digest) for user, digest in zip(users, digests, strict=True)]
    return EventBatch(number, AT, [EventGroup(environment_id, rows, {})])


async def write(database: Database, *batches: EventBatch) -> list[bool]:
    written = []
    for each in batches:
        async with database.write_history() as connection:
            written.append(each.id in await events.write_events(connection, each))
    return written


async def read(database: Database, environment_id: UUID) -> list[StoredEvent]:
    async with database.read_history() as connection:
        number = await find_environment_number(connection, environment_id)
        if number is None:
            return []
        found, position, more = list[StoredEvent](), 0, True
        last = await event_segments.find_last(connection, number)
        while more:
            some, position, more = await event_segments.list_after(
                connection, number, {"errors"}, after=position, last=last
            )
            found += some
        assert position == last
        return found


async def count(database: Database, table: sa.Table) -> int:
    async with database.read_history() as connection:
        return int((await connection.execute(sa.select(sa.func.count()).select_from(table))).scalar_one())


async def count_ids(database: Database) -> int:
    async with database.read_history() as connection:
        listed = await event_ids.list_generations(connection)
        contents = (await connection.execute(sa.select(tables.event_id_pages.c.content))).scalars().all()
    assert sum(map(len, contents)) == 8 * sum(each.ids for each in listed)
    return sum(each.ids for each in listed)


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
    segments = tables.event_segments.c
    async with database.read_history() as connection:
        number = await find_environment_number(connection, environment_id)
        query = sa.select(segments.number, segments.content).where(segments.environment == number).order_by(segments.id)
        rows = (await connection.execute(query)).all()
    assert [each.number for each in rows] == [*range(1, 11)]
    assert [each.unit for each in await read(database, environment_id)] == [
        unit for each in rows for _, unit, *_ in unpack(each.content)
    ]


async def test_many_events_are_read_in_stretches_none_left_out_and_none_twice(database: Database) -> None:
    environment_id = uuid4()
    units = [f"u-{number}" for number in range(2 * SIZE_MAX + 10)]
    few = [batch(environment_id, f"few-{number}", number=number) for number in range(2, 120)]
    await write(database, batch(environment_id, *units, number=1), *few, batch(environment_id, *units, number=200))
    async with database.read_history() as connection:
        number = await find_environment_number(connection, environment_id)
        assert number is not None
        last = await event_segments.find_last(connection, number)
        first = await event_segments.list_after(connection, number, {"errors"}, after=0, last=last)
        assert await event_segments.list_after(connection, number, {"errors"}, after=last, last=last) == (
            [],
            last,
            False,
        )
    assert (len(first.events), first.more) == (SIZE_MAX, True)
    found = await read(database, environment_id)
    assert [each.unit for each in found] == [*units, *(f"few-{number}" for number in range(2, 120)), *units]


async def test_a_segment_of_long_identifiers_holds_few_of_them(database: Database) -> None:
    """The event loop compresses and unpacks a whole segment at once."""
    environment_id = uuid4()
    users = [f"{number:04}" + "\U0001f600" * 1_020 for number in range(200)]
    assert await write(database, batch(environment_id, *users, "ada"))
    assert [each.unit for each in await read(database, environment_id)] == [*users, "ada"]
    segments = tables.event_segments.c
    async with database.read_history() as connection:
        stored = (await connection.execute(sa.select(segments.content, segments.size, segments.number))).all()
    lengths = [[len(unit) for _, unit, _, _ in unpack(each.content)] for each in stored]
    assert max(map(sum, lengths)) <= CHARACTERS_MAX
    assert [each.size for each in stored] == [len(each) for each in lengths]
    assert (len(stored), stored[-1].number) == (3, 201)


async def test_a_damaged_segment_is_left_out_and_logged(database: Database) -> None:
    environment_id = uuid4()
    await write(database, batch(environment_id, "ada", number=1), batch(environment_id, "eve", number=2))
    segments = tables.event_segments
    newest = sa.select(sa.func.max(segments.c.id)).scalar_subquery()
    short = zlib.compress(msgspec.msgpack.encode((["errors"], [], [AT], [None])))
    for damaged in (b"x", zlib.compress(b"x"), short):
        async with database.write_history() as connection:
            await connection.execute(segments.update().where(segments.c.id == newest).values(content=damaged))
        with capture_logs() as entries:
            assert [each.unit for each in await read(database, environment_id)] == ["ada"]
        assert [(each["event"], each["table"]) for each in entries] == [("history_row_damaged", "event_segments")]


async def test_a_segment_of_a_newer_version_is_never_passed(database: Database) -> None:
    environment_id = uuid4()
    await write(database, batch(environment_id, "ada", number=1))
    async with database.write_history() as connection:
        await connection.execute(tables.event_segments.update().values(version=2))
    with pytest.raises(UnknownVersionError, match="version 2"):
        await read(database, environment_id)


async def test_an_id_that_was_stored_before_is_left_out_of_another_batch(database: Database) -> None:
    environment_id = uuid4()
    await write(
        database,
        batch(environment_id, "ada", number=1, ids=True),
        batch(environment_id, "ada", "grace", "grace", number=2, ids=True),
        batch(uuid4(), "ada", number=3, ids=True),
    )
    assert [each.unit for each in await read(database, environment_id)] == ["ada", "grace"]


async def test_the_events_of_some_users_are_found_between_two_positions_and_from_a_time_on(database: Database) -> None:
    environment_id = uuid4()
    await write(
        database,
        batch(environment_id, "ada", "grace", "ada", number=1),
        batch(environment_id, "grace", "ada", number=2, at=AT - 10),
        batch(environment_id, "ada", number=3, at=AT + 10),
    )
    segments = tables.event_segments.c
    async with database.read_history() as connection:
        first, second, third = (await connection.execute(sa.select(segments.id).order_by(segments.id))).scalars()
        number = await find_environment_number(connection, environment_id)
        assert number is not None

        async def find(after: int, last: int, metric: str = "errors", since: int = AT) -> list[int]:
            found = await event_segments.list_of_units(
                connection, number or 0, {"ada"}, {metric}, since=since, after=after, last=last
            )
            assert {each.unit for each in found} <= {"ada"}
            return [each.at - AT for each in found]

        assert await find(0, third) == [0, 0, 10]
        assert await find(0, third, since=AT - 10) == [0, 0, -10, 10]
        assert await find(first, third) == [10]
        assert await find(first, third, since=AT - 10) == [-10, 10]
        assert await find(0, second) == [0, 0]
        assert await find(0, third, since=AT + 11) == []
        assert await find(0, third, "other") == []
        assert await find(third, third) == []


async def test_old_events_are_deleted_and_newer_ones_stay(database: Database) -> None:
    environment_id, day = uuid4(), 86_400_000_000
    await write(
        database,
        batch(environment_id, "old", number=1, at=AT - 91 * day, ids=True),
        batch(environment_id, "new", number=2, ids=True),
    )
    before = NOW - timedelta(days=90)
    async with database.write_history() as connection:
        assert not await events.delete_events(connection, before, 50)
        assert not await events.delete_event_ids(connection, before, 50)
    assert [each.unit for each in await read(database, environment_id)] == ["new"]
    assert await count_ids(database) == 2  # the id is as old as its batch
    async with database.write_history() as connection:
        while await events.delete_event_ids(connection, NOW + timedelta(days=1), 50):
            pass
    assert await count_ids(database) == 0


async def test_the_oldest_events_of_an_environment_beyond_a_number_are_deleted(database: Database) -> None:
    environment_id, other = uuid4(), uuid4()
    await write(
        database,
        *(batch(environment_id, f"u-{number}", f"v-{number}", number=number) for number in range(1, 11)),
        batch(other, "x", number=99),
    )
    async with database.write_history() as connection:
        number = await find_environment_number(connection, environment_id)
        assert number is not None
        assert sorted((await event_segments.count_by_environment(connection)).values()) == [1, 20]
        assert await event_segments.delete_beyond(connection, number, 100, 2) == 4, "more than two segments went"
        assert await event_segments.delete_beyond(connection, number, 7, 50) == 8
        assert sorted((await event_segments.count_by_environment(connection)).values()) == [1, 8]
    kept = [f"{name}-{number}" for number in range(7, 11) for name in "uv"]
    assert [each.unit for each in await read(database, environment_id)] == kept
    assert [each.unit for each in await read(database, other)] == ["x"]


async def test_the_events_of_a_deleted_environment_go_in_pieces(database: Database) -> None:
    environment_id, other = uuid4(), uuid4()
    await write(
        database,
        *(batch(environment_id, f"u-{number}", number=number + 10, ids=True) for number in range(5)),
        batch(other, "ada", number=2, ids=True),
    )
    async with database.read_history() as connection:
        number = await find_environment_number(connection, environment_id)
    assert number is not None
    pieces, more = 0, True
    while more:
        async with database.write_history() as connection:
            assert not await deletions.forget_environment(connection, number), "an event could still be counted"
            more = await events.delete_events_of(connection, number=number, limit=2)
        pieces += 1
    async with database.write_history() as connection:
        assert await deletions.forget_environment(connection, number)
    assert pieces == 4
    assert await read(database, environment_id) == []
    assert [each.unit for each in await read(database, other)] == ["ada"]
    assert await count_ids(database) == 1


async def test_batches_of_events_that_are_written_together_are_there_once_each(database: Database) -> None:
    environment_id, other = uuid4(), uuid4()
    several = [
        batch(environment_id, "ada", number=1, ids=True),
        batch(other, "bob", number=2),
        batch(environment_id, "ada", "cyd", number=3, ids=True),
        EventBatch(4, AT, [EventGroup(environment_id, [], {"misspelt": 3})]),
    ]
    await write(database, several[1])
    for new in ({1, 3, 4}, set()):
        async with database.write_history() as connection:
            assert await events.write_events(connection, *several) == new
    assert [each.unit for each in await read(database, environment_id)] == ["ada", "cyd"]
    assert [each.unit for each in await read(database, other)] == ["bob"]
    assert await count(database, tables.unknown_metrics) == 1


async def test_the_latest_events_are_read_up_to_a_bound(database: Database) -> None:
    environment_id = uuid4()
    old = batch(environment_id, "old", number=1, at=AT - 10)
    newer = [batch(environment_id, f"u-{number}", "other", number=number, at=AT + number) for number in range(2, 6)]
    await write(database, old, *newer)
    async with database.read_history() as connection:
        number = await find_environment_number(connection, environment_id)
        assert number is not None
        found = await event_segments.list_latest(connection, number, {"errors"}, since=AT, limit=FAR)
        assert found.since == AT
        assert sorted(each.unit for each in found.events if each.unit != "other") == ["u-2", "u-3", "u-4", "u-5"]
        bounded = await event_segments.list_latest(connection, number, {"errors"}, since=AT, limit=4)
        assert (bounded.since, len(bounded.events)) == (AT + 4, 4)
        assert await event_segments.list_latest(connection, number, {"none"}, since=AT, limit=4) == ([], AT + 4)
        nothing = await event_segments.list_latest(connection, number, {"errors"}, since=AT + 100, limit=4)
        assert nothing == ([], AT + 100)


async def test_the_latest_events_are_found_without_sorting_those_of_a_day(database: Database) -> None:
    statements: list[tuple[str, Any]] = []

    def note(*given: Any) -> None:
        statements.append((given[2], given[3]))

    environment_id = uuid4()
    await write(database, batch(environment_id, "u-1", number=1, at=AT))
    async with database.read_history() as connection:
        number = await find_environment_number(connection, environment_id)
        assert number is not None
        sa.event.listen(connection.sync_connection, "before_cursor_execute", note)
        await event_segments.list_latest(connection, number, {"errors"}, since=AT, limit=4)
        sa.event.remove(connection.sync_connection, "before_cursor_execute", note)
        explain = "EXPLAIN" if database.is_postgresql else "EXPLAIN QUERY PLAN"
        statement, parameters = statements[0]
        rows = [str(row[-1]) for row in await connection.exec_driver_sql(f"{explain} {statement}", parameters)]
    if not database.is_postgresql:  # which decides by the number of rows
        assert "TEMP B-TREE" not in "\n".join(rows)
