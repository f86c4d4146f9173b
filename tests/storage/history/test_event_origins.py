"""The SDK keys, the protocol and the instances by which events came stay with these."""

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID, uuid4

import pytest
import sqlalchemy as sa
from structlog.testing import capture_logs

from flagstaff.database import tables
from flagstaff.database.database import Database
from flagstaff.history.erased_users import Subject
from flagstaff.history.store import erasing
from flagstaff.history.store.event_segments import SIZE_MAX
from flagstaff.history.store.events import write_events
from flagstaff.history.store.followed_events import read_events
from flagstaff.history.store.following import Position
from flagstaff.metrics.event_buffer import EventBuffer
from flagstaff.metrics.events import EventBatch, EventFilter, EventGroup, EventRow, RecordedEvent, digest_id
from flagstaff.projects.record_origins import Origin
from flagstaff.projects.sdk_keys import KeyKind

AT = 1_795_168_800_000_000
ENVIRONMENT, SHOP, SEARCH = uuid4(), uuid4(), uuid4()


def rows(users: Sequence[str], ids: Sequence[str] = ()) -> list[EventRow]:
    digests = [digest_id("errors", each, KeyKind.SERVER) for each in ids]
    return [
        EventRow("errors", user, AT, None, digests[place] if place < len(ids) else None)
        for place, user in enumerate(users)
    ]


def taken(instance: str, *requests: tuple[UUID | None, list[EventRow]]) -> list[EventBatch]:
    """What an instance has to store after some requests, each with a key."""
    buffer = EventBuffer(instance=instance)
    for key_id, some in requests:
        buffer.record(ENVIRONMENT, some, {}, KeyKind.SERVER, key_id)
    return [replace(batch, at=AT) for batch in buffer.take()]


async def store(database: Database, *batches: EventBatch) -> None:
    async with database.write_history() as connection:
        await write_events(connection, *batches)


async def stored(database: Database) -> list[RecordedEvent]:
    found, position = list[RecordedEvent](), Position()
    async with database.read_history() as connection:
        while True:
            stretch = await read_events(connection, 1, position, EventFilter(), last=10**6)
            found += [each for segment in stretch.segments for each in segment.events]
            if stretch.position == position:
                return found
            position = stretch.position


async def origins(database: Database) -> dict[str, tuple[UUID | None, str] | None]:
    return {
        each.unit: None if each.origin is None else (each.origin.key_id, each.origin.instance)
        for each in await stored(database)
    }


async def segment_sizes(database: Database) -> list[int]:
    async with database.read_history() as connection:
        query = sa.select(tables.event_segments.c.size).order_by(tables.event_segments.c.id)
        return list((await connection.execute(query)).scalars())


async def test_events_of_several_keys_and_instances_share_a_segment_and_keep_their_origins(database: Database) -> None:
    first = taken("a", (SHOP, rows(["1", "2"])), (SEARCH, rows(["3"])), (SHOP, rows(["4"])), (None, rows(["5"])))
    await store(database, *first, *taken("b", (SHOP, rows(["6"]))))
    assert await segment_sizes(database) == [6]
    shop, search = (SHOP, "a"), (SEARCH, "a")
    assert await origins(database) == {
        "1": shop, "2": shop, "3": search, "4": shop, "5": (None, "a"), "6": (SHOP, "b")
    }  # fmt: skip
    assert {each.origin.protocol for each in await stored(database) if each.origin} == {"events"}


async def test_repeated_events_take_no_origin_with_them(database: Database) -> None:
    await store(database, *taken("a", (SHOP, rows(["1", "2"], "xy"))))
    await store(database, *taken("b", (SEARCH, rows(["1", "3", "2"], "xzy")), (SHOP, rows(["4"]))))
    assert await origins(database) == {"1": (SHOP, "a"), "2": (SHOP, "a"), "3": (SEARCH, "b"), "4": (SHOP, "b")}


async def test_each_segment_has_the_origins_of_its_own_events(database: Database) -> None:
    users = [str(number) for number in range(2 * SIZE_MAX + 1)]
    cut = SIZE_MAX + 7
    await store(database, *taken("a", (SHOP, rows(users[:cut])), (SEARCH, rows(users[cut:]))))
    assert await segment_sizes(database) == [SIZE_MAX, SIZE_MAX, 1]
    expected = {user: (SHOP if place < cut else SEARCH, "a") for place, user in enumerate(users)}
    assert await origins(database) == expected
    async with database.read_history() as connection:
        sizes = await connection.execute(sa.select(sa.func.length(tables.event_segments.c.origins)))
    assert max(sizes.scalars()) < 200


async def test_events_of_an_earlier_release_have_none_also_beside_others(database: Database) -> None:
    earlier = EventBatch(1, AT, [EventGroup(ENVIRONMENT, rows(["old"]), {}, KeyKind.SERVER)])
    await store(database, earlier, *taken("a", (SHOP, rows(["new"]))))
    await store(database, EventBatch(2, AT, [EventGroup(ENVIRONMENT, rows(["alone"]), {}, KeyKind.SERVER)]))
    assert await origins(database) == {"old": None, "new": (SHOP, "a"), "alone": None}
    segments = tables.event_segments.c
    async with database.read_history() as connection:
        contents = (await connection.execute(sa.select(segments.origins).order_by(segments.id))).scalars().all()
    assert [each is None for each in contents] == [False, True]


async def test_an_erased_user_leaves_the_origins_as_they_were(database: Database) -> None:
    await store(database, *taken("a", (SHOP, rows(["ada", "eve"])), (SEARCH, rows(["ada"]))))
    async with database.write_history() as connection:
        rewritten = await erasing.rewrite_event_segments(connection, [1], Subject("ada"), AT)
        await erasing.replace_event_segments(connection, 1, rewritten)
    key_ids = [each.origin and each.origin.key_id for each in await stored(database)]
    assert ([each.unit for each in await stored(database)], key_ids) == (["", "eve", ""], [SHOP, SHOP, SEARCH])


@pytest.mark.parametrize("content", [b"", b"rest", b"x\x9cK\xcc\x02\x00\x01"])
async def test_a_segment_whose_origins_are_damaged_is_left_out(database: Database, content: bytes) -> None:
    await store(database, *taken("a", (SHOP, rows(["ada"]))))
    async with database.write_history() as connection:
        await connection.execute(tables.event_segments.update().values(origins=content))
        with capture_logs() as logged:
            stretch = await read_events(connection, 1, Position(), EventFilter(), last=1)
    assert (stretch.damaged, stretch.segments) == (1, [])
    assert [each["event"] for each in logged] == ["history_row_damaged"]


async def test_origins_of_fewer_events_than_a_segment_has_are_damaged(database: Database) -> None:
    await store(database, *taken("a", (SHOP, rows(["1"])), (SEARCH, rows(["2"]))))
    await store(database, *taken("a", (SHOP, rows(["3", "4"])), (SEARCH, rows(["5"]))))
    column, number = tables.event_segments.c.origins, tables.event_segments.c.id
    async with database.write_history() as connection:
        short = (await connection.execute(sa.select(column).where(number == 1))).scalar_one()
        await connection.execute(tables.event_segments.update().where(number == 2).values(origins=short))
        stretch = await read_events(connection, 1, Position(), EventFilter(), last=2)
    assert (stretch.damaged, [each.position for each in stretch.segments]) == (1, [Position(1)])


def test_an_origin_names_its_key_while_that_exists() -> None:
    origin = Origin(None, SHOP, "events", "a")
    assert (origin.key_name({SHOP: "Shop"}), origin.key_name({}), Origin(1, None, "", "").key_name({})) == (
        "Shop", None, None
    )  # fmt: skip
