"""Attributes that are kept with evaluations, on both databases."""

import json
import random
from typing import Any
from uuid import UUID, uuid4

import msgspec
import pytest
import sqlalchemy as sa
from structlog.testing import capture_logs

from flagstaff.database import tables
from flagstaff.database.database import Database
from flagstaff.evaluation.history.filters import EvaluationFilter
from flagstaff.evaluation.history.records import RecordBatch, RecordedEvaluation
from flagstaff.history.store.columns import ATTRIBUTES_SIZE
from flagstaff.history.store.segments import SEGMENT_SIZE, pack_segments
from flagstaff.projects.record_origins import Origin, Origins
from flagstaff.projects.sdk_keys import KeyKind
from tests.support.history import make_batch, make_group, make_layout, make_record, nanoseconds, read, write

PLAIN = make_layout()
LAYOUT = make_layout(attributes=("plan", "seats"))


def batch_of(environment_id: UUID, *kept: object, start: float = 0, **values: Any) -> RecordBatch:
    """Return evaluations with these attributes, a second apart; their users are numbers."""
    records = [make_record(start + place, str(place)) for place in range(len(kept))]
    encoded = [json.dumps(each).encode() for each in kept]
    return make_batch(environment_id, LAYOUT, *records, attributes=encoded, **values)


async def segments_of(database: Database) -> list[tuple[int, int]]:
    """Return the version and the size of each segment, oldest first."""
    columns = tables.segments.c
    async with database.read_history() as connection:
        rows = await connection.execute(sa.select(columns.version, columns.size).order_by(columns.id))
        return [(version, size) for version, size in rows]


def kept_in(found: list[RecordedEvaluation]) -> list[Any]:
    return [each.attributes for each in found]


async def test_attributes_come_back_with_their_evaluations(database: Database) -> None:
    environment_id = uuid4()
    kept = [{"plan": "gold", "seats": 5.0}, {}, {"plan": ["a", 1, True], "seats": 10**300}, {"plan": "Zoë 🦊\x00"}]
    await write(database, batch_of(environment_id, *kept))
    found = await read(database, environment_id)
    assert kept_in(found) == kept[::-1]
    assert repr(found[-1].attributes) == repr(kept[0])
    (one,) = await read(database, environment_id, EvaluationFilter(user_id="2"))
    assert one.attributes == kept[2]


class EarlierColumns(msgspec.Struct, array_like=True):
    """What the previous release reads of a segment."""

    packed_times: msgspec.Raw
    packed_users: msgspec.Raw
    packed_emails: msgspec.Raw
    recorded: bytes
    packed_attributes: bytes | None = None
    has_all: bool = False


@pytest.mark.parametrize(
    "origins",
    [
        None,
        Origins([Origin(7, uuid4(), "ofrep", "first")]),
        Origins([Origin(7, uuid4(), "ofrep", "first")], (), [KeyKind.BROWSER]),
    ],
)
async def test_an_evaluation_without_attributes_can_be_read_by_earlier_releases(
    database: Database, origins: Origins | None
) -> None:
    environment_id = uuid4()
    record = make_record(1, "ada", user_email="a@b.c")
    await write(database, make_batch(environment_id, PLAIN, record, origins=origins))
    columns = tables.segments.c
    async with database.read_history() as connection:
        ((version, content),) = (await connection.execute(sa.select(columns.version, columns.content))).all()
        ((layout,),) = (await connection.execute(sa.select(tables.layouts.c.version))).all()
    assert (version, layout) == (1, 1)
    read_earlier = msgspec.msgpack.decode(content, type=EarlierColumns)
    times = b"\x91\xcf" + nanoseconds(seconds=1).to_bytes(8, "big")
    found = [bytes(each) if isinstance(each, msgspec.Raw) else each for each in msgspec.structs.astuple(read_earlier)]
    assert found == [times, b"\x91\xa3ada", b"\x91\xa5a@b.c", b"\x05d", None, False]
    assert kept_in(await read(database, environment_id)) == [None]


async def test_what_is_known_of_an_attribute_depends_on_what_was_kept(database: Database) -> None:
    with_some, with_all, with_none = uuid4(), uuid4(), uuid4()
    await write(database, batch_of(with_some, {"plan": "gold"}))
    await write(database, batch_of(with_all, {"plan": "gold", "team": "red"}, has_all=True))
    await write(database, make_batch(with_none, LAYOUT, make_record()))
    names = ("plan", "seats", "team", "user_id", "current_time")
    known = [
        [each for each in names if record.knows(each)]
        for id_ in (with_some, with_all, with_none)
        for record in await read(database, id_)
    ]
    assert known == [["plan", "seats", "user_id", "current_time"], list(names), ["user_id", "current_time"]]


async def test_attributes_that_were_too_large_to_keep_are_not_known(database: Database) -> None:
    environment_id = uuid4()
    await write(database, batch_of(environment_id, {"plan": "gold"}, None))
    too_large, kept = await read(database, environment_id)
    assert (too_large.attributes, kept.attributes) == (None, {"plan": "gold"})
    assert (too_large.knows("plan"), kept.knows("plan")) == (False, True)
    assert too_large.values() == {"current_time": too_large.evaluated_at}


async def test_small_segments_with_attributes_are_continued(database: Database) -> None:
    environment_id = uuid4()
    for start in range(5):
        await write(database, batch_of(environment_id, {"seats": start}, {"seats": -start}, start=2 * start))
    assert await segments_of(database) == [(2, 10)]
    assert [each["seats"] for each in kept_in(await read(database, environment_id))] == [
        *(-4, 4, -3, 3, -2, 2, -1, 1, 0, 0)
    ]


async def test_a_segment_is_all_that_requests_had_only_if_all_of_its_evaluations_are(database: Database) -> None:
    environment_id = uuid4()
    for start, has_all in enumerate((True, True, False)):
        assert all(each.has_all for each in await read_or_nothing(database, environment_id))
        await write(database, batch_of(environment_id, {"plan": "gold"}, start=start, has_all=has_all))
    assert [each.has_all for each in await read(database, environment_id)] == [False] * 3


async def read_or_nothing(database: Database, environment_id: UUID) -> list[RecordedEvaluation]:
    return await read(database, environment_id) if await segments_of(database) else []


async def test_evaluations_with_and_without_attributes_do_not_share_a_segment(database: Database) -> None:
    environment_id = uuid4()
    await write(database, batch_of(environment_id, {"plan": "gold"}))
    await write(database, make_batch(environment_id, LAYOUT, make_record(1)))
    await write(database, make_batch(environment_id, LAYOUT, make_record(2)))
    await write(database, batch_of(environment_id, {"plan": "free"}, start=3))
    assert await segments_of(database) == [(2, 1), (1, 2), (2, 1)]
    assert kept_in(await read(database, environment_id)) == [{"plan": "free"}, None, None, {"plan": "gold"}]


async def test_large_attributes_make_segments_smaller(database: Database) -> None:
    environment_id, chance = uuid4(), random.Random(1)
    kept = [{"plan": chance.randbytes(1000).hex()} for _ in range(SEGMENT_SIZE)]
    await write(database, batch_of(environment_id, *kept))
    segments = await segments_of(database)
    assert sum(size for _, size in segments) == SEGMENT_SIZE
    assert max(size for _, size in segments) <= ATTRIBUTES_SIZE // 2000
    assert kept_in(await read(database, environment_id)) == kept[::-1]


async def test_a_segment_with_large_attributes_is_not_continued_beyond_the_bound(database: Database) -> None:
    environment_id = uuid4()
    for start in range(6):
        await write(database, batch_of(environment_id, {"plan": "x" * 16_000}, start=start))
    assert await segments_of(database) == [(2, 4), (2, 2)]
    assert len(await read(database, environment_id)) == 6


async def test_a_batch_across_the_full_hour_keeps_its_attributes(database: Database) -> None:
    environment_id = uuid4()
    await write(database, batch_of(environment_id, *({"seats": place} for place in range(4)), start=3598))
    assert await segments_of(database) == [(2, 2), (2, 2)]
    assert [each["seats"] for each in kept_in(await read(database, environment_id))] == [3, 2, 1, 0]


async def test_damaged_attributes_do_not_stop_the_recording(database: Database) -> None:
    environment_id = uuid4()
    await write(database, batch_of(environment_id, {"plan": "gold"}))
    async with database.write_history() as connection:
        content = (await connection.execute(sa.select(tables.segments.c.content))).scalar_one()
        columns = msgspec.msgpack.decode(content)
        columns[4] = b"damaged"
        await connection.execute(tables.segments.update().values(content=msgspec.msgpack.encode(columns)))
    with capture_logs() as entries:
        await write(database, batch_of(environment_id, {"plan": "free"}, start=1))
    assert [(entry["event"], entry["table"]) for entry in entries] == [("history_row_damaged", "segments")]
    assert await segments_of(database) == [(2, 1), (2, 1)]


def test_attributes_that_are_alike_take_few_bytes() -> None:
    chance = random.Random(1)
    records = [make_record(place, f"user-{place}") for place in range(SEGMENT_SIZE)]
    kept = [
        json.dumps({"plan": chance.choice(("free", "pro")), "seats": chance.randrange(50)}).encode() for _ in records
    ]
    ((plain, _),) = pack_segments(make_group(uuid4(), PLAIN, *records), environment=1, layout_id=1)
    ((packed, _),) = pack_segments(make_group(uuid4(), LAYOUT, *records, attributes=kept), environment=1, layout_id=1)
    assert 0 < packed.stored_bytes - plain.stored_bytes < 6 * SEGMENT_SIZE
