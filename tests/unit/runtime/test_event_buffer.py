"""Events in memory, and in the files where they wait."""

from pathlib import Path
from uuid import UUID

import msgspec
import pytest

from flagstaff.history.event_files import EventForm
from flagstaff.history.spool import Spool
from flagstaff.metrics.event_buffer import BATCH_EVENTS, WAITING_MAX, EventBuffer
from flagstaff.metrics.events import EventBatch, EventGroup, EventRow
from flagstaff.projects.record_origins import Origin, Origins
from flagstaff.projects.sdk_keys import KeyKind
from flagstaff.values.errors import Error

ENVIRONMENT = UUID(int=1)


def record(
    buffer: EventBuffer, events: int, unknown: dict[str, int] | None = None, kind: KeyKind = KeyKind.SERVER
) -> None:
    buffer.record(
        ENVIRONMENT, [EventRow("errors", f"u-{number}", 7, None, "d") for number in range(events)], unknown or {}, kind
    )


def test_beyond_the_bound_events_are_refused() -> None:
    buffer = EventBuffer()
    record(buffer, WAITING_MAX - 1)
    buffer.require_room(1)
    with pytest.raises(Error, match="Too many events wait"):
        buffer.require_room(2)
    buffer.take()
    buffer.require_room(WAITING_MAX)


def test_events_are_taken_once_in_batches_of_a_bounded_size_with_what_is_unknown_once() -> None:
    buffer = EventBuffer()
    record(buffer, BATCH_EVENTS + 1, {"signups": 2})
    record(buffer, 1, {"signups": 1})
    assert (buffer.records, buffer.accepted, buffer.ignored) == (BATCH_EVENTS + 2, BATCH_EVENTS + 2, 3)
    first, second = buffer.take()
    assert (first.size, second.size) == (BATCH_EVENTS, 2)
    assert (first.groups[0].unknown, second.groups[0].unknown) == ({"signups": 3}, {})
    assert first.id != second.id
    assert (buffer.take(), buffer.records) == ([], 0)


def test_events_without_any_that_is_accepted_still_count_what_is_unknown() -> None:
    buffer = EventBuffer()
    record(buffer, 0, {"signups": 2})
    (batch,) = buffer.take()
    assert (batch.size, batch.groups[0].unknown) == (0, {"signups": 2})


def test_events_of_pages_are_kept_apart_from_those_of_servers() -> None:
    buffer = EventBuffer()
    for kind in (KeyKind.SERVER, KeyKind.BROWSER, KeyKind.SERVER):
        record(buffer, 2, kind=kind)
    found = [(group.kind, len(group.rows)) for batch in buffer.take() for group in batch.groups]
    assert found == [(KeyKind.SERVER, 4), (KeyKind.BROWSER, 2)]


def key_of(origins: Origins, offset: int) -> UUID | None:
    origin = origins.at(offset)
    assert origin is not None
    key_id: UUID | None = origin.key_id
    return key_id


def test_events_keep_the_keys_they_were_sent_with_which_a_batch_has_once() -> None:
    buffer, keys = EventBuffer(instance="first"), [UUID(int=2), None, UUID(int=3)]
    for place in (0, 1, 0, 2):
        rows = [EventRow("errors", "ada", 7, None, None)] * (BATCH_EVENTS // 2)
        buffer.record(ENVIRONMENT, rows, {}, KeyKind.SERVER, keys[place])
    found = [group.origins for batch in buffer.take() for group in batch.groups if group.origins is not None]
    assert [[key_of(origins, offset) for offset in (0, 4_999, 5_000, 9_999)] for origins in found] == [
        [keys[0], keys[0], None, None],
        [keys[0], keys[0], keys[2], keys[2]],
    ]
    assert {each for origins in found for each in origins.known} == {
        Origin(None, key_id, "events", "first") for key_id in keys
    }
    record(buffer, 2)
    (batch,) = buffer.take()
    assert batch.groups[0].origins == Origins([Origin(None, None, "events", "first")])


def test_a_batch_of_a_release_that_knew_no_origins_is_read_and_one_with_those_of_other_events_is_not() -> None:
    buffer = EventBuffer()
    for key_id in (None, UUID(int=2)):
        buffer.record(ENVIRONMENT, [EventRow("errors", "ada", 7, None, None)], {}, KeyKind.SERVER, key_id)
    content = msgspec.msgpack.decode(EventForm().encode(buffer.take()[0])[1:])
    content["groups"][0]["origins"]["places"].append(0)
    with pytest.raises(ValueError, match="the origins do not fit"):
        EventForm().decode(b"\x01" + msgspec.msgpack.encode(content))
    del content["groups"][0]["origins"]
    assert EventForm().decode(b"\x01" + msgspec.msgpack.encode(content)).groups[0].origins is None


def test_a_batch_of_a_release_that_knew_no_kinds_of_keys_is_read_and_the_other_way_round() -> None:
    buffer = EventBuffer()
    record(buffer, 1, kind=KeyKind.BROWSER)
    content = msgspec.msgpack.decode(EventForm().encode(buffer.take()[0])[1:])
    assert content["groups"][0].pop("kind") == "browser"
    (group,) = EventForm().decode(b"\x01" + msgspec.msgpack.encode(content)).groups
    assert (group.kind, group.rows[0].unit) == (None, "u-0")


async def test_a_batch_is_read_from_its_file_as_it_was_written(tmp_path: Path) -> None:
    buffer = EventBuffer()
    record(buffer, 3, {"signups": 2})
    (batch,) = buffer.take()
    spool = Spool(tmp_path / "spool", EventForm())
    spooled = await spool.append(batch)
    assert spooled
    (again,) = await spool.read(spooled)
    assert msgspec.msgpack.encode(again) == msgspec.msgpack.encode(batch)


@pytest.mark.parametrize("content", [b"", b"\x02rest", b"torn"])
def test_a_file_of_an_unknown_version_is_refused(content: bytes) -> None:
    with pytest.raises(ValueError, match="is unknown"):
        EventForm().decode(content)


def test_a_file_with_half_an_event_is_refused() -> None:
    group = EventGroup(ENVIRONMENT, [EventRow("errors", "ada", 7, None, None)], {})
    content = msgspec.msgpack.decode(msgspec.msgpack.encode(EventBatch(1, 2, [group])))
    content["groups"][0]["rows"] = [["errors", "ada"]]
    with pytest.raises(ValueError, match="length 5"):
        EventForm().decode(b"\x01" + msgspec.msgpack.encode(content))
