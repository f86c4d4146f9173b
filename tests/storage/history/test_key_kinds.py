"""The kinds of the SDK keys with which evaluations and events were sent stay with these."""

from uuid import uuid4

import msgspec
import pytest
import sqlalchemy as sa

from flagstaff.database import tables
from flagstaff.database.database import Database
from flagstaff.history.store import event_segments
from flagstaff.history.store.columns import StoredColumns, unpack, version_of
from flagstaff.history.store.events import write_events
from flagstaff.metrics.events import EventBatch, EventGroup, EventRow
from flagstaff.projects.record_origins import Origin, Origins
from flagstaff.projects.sdk_keys import KeyKind
from tests.support.history import make_batch, make_layout, make_record, write

AT = 1_795_168_800_000_000
BROWSER, SERVER = KeyKind.BROWSER, KeyKind.SERVER


def kinds_in(columns: StoredColumns) -> list[KeyKind | None]:
    assert columns.origins is not None
    return [columns.origins.kind_at(place) for place in range(len(columns.times))]


@pytest.mark.parametrize("flags", [None, [0]])
async def test_evaluations_keep_them_where_segments_are_continued_and_users_erased(
    database: Database, flags: list[int] | None
) -> None:
    environment_id, layout, key_id = uuid4(), make_layout(), uuid4()
    recorded = b"\x05\x64" if flags is None else b"\x05"
    for seconds, kinds in enumerate(([BROWSER], (), [SERVER], [None])):
        origins = Origins([Origin(1, key_id, "evaluate", "first")], (), kinds)
        record = make_record(seconds, "ada", recorded)
        await write(database, make_batch(environment_id, layout, record, origins=origins, flags=flags))
    stored = tables.segments.c
    async with database.read_history() as connection:
        ((version, content),) = (await connection.execute(sa.select(stored.version, stored.content))).all()
    columns = unpack(version, content)
    assert kinds_in(columns) == [BROWSER, None, SERVER, None]
    erased = columns.without_users([0])
    again = unpack(version_of(erased), msgspec.msgpack.encode(erased))
    assert (kinds_in(again), again.users) == ([BROWSER, None, SERVER, None], [None, "ada", "ada", "ada"])
    earlier = msgspec.msgpack.encode(msgspec.msgpack.decode(content)[:-1])  # as the release before has written it
    assert kinds_in(unpack(version, earlier)) == [None] * 4


async def test_events_of_each_kind_are_in_segments_of_their_own(database: Database) -> None:
    environment_id = uuid4()
    groups = [
        EventGroup(environment_id, [EventRow("errors", user, AT, None, None)], {}, kind)
        for user, kind in (("a", SERVER), ("b", BROWSER), ("c", SERVER), ("d", None))
    ]
    async with database.write_history() as connection:
        await write_events(connection, EventBatch(1, AT, groups))
        sizes = (await connection.execute(sa.select(tables.event_segments.c.size))).scalars().all()
        assert sorted(sizes) == [1, 1, 2]
        last = await event_segments.find_last(connection, 1)
        found = (await event_segments.list_after(connection, 1, {"errors"}, after=0, last=last)).events
    assert {each.unit: each.key_kind for each in found} == {"a": SERVER, "b": BROWSER, "c": SERVER, "d": None}
