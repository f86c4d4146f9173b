"""Blocks of the history that are sent on: each evaluation exactly once, even after a failure between two steps."""

import json
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from flagstaff.database import tables
from flagstaff.database.database import Database
from flagstaff.database.tables import microseconds
from flagstaff.history.clickhouse.rows import Rows, encode_events
from flagstaff.history.export_batches import EVENTS, TURN_SECONDS, ExportBatch, ExportBatches
from flagstaff.history.history_service import History
from flagstaff.history.retention import HistoryRetention
from flagstaff.history.sink import Sink
from flagstaff.metrics.events import EventBatch, EventGroup, EventRow
from flagstaff.projects.hidden_environments_store import hide_environments
from flagstaff.projects.projects import Environment
from flagstaff.values.errors import Error
from tests.support.clock import Clock
from tests.support.history import START, make_batch, make_layout, make_record

LAYOUT = make_layout()


class Receiver:
    """Stores each block once, as ClickHouse does with its token, and can fail before or after it has stored."""

    def __init__(self) -> None:
        self.users: list[str | None] = []
        self.tokens: dict[str, bytes] = {}
        self.fails: str = ""
        self._rows = Rows()

    async def send(self, delivery: ExportBatch) -> None:
        if self.fails == "before":
            raise OSError("no answer")
        rows = b"".join(line for each in delivery.parts for line in self._rows.encode(each.place, each.segments))
        token = delivery.block.token
        if token not in self.tokens:
            self.tokens[token] = rows
            segments = [segment for part in delivery.parts for segment in part.segments]
            self.users += [each.user_id for segment in segments for each in segment.evaluations()]
        assert self.tokens[token] == rows, "a repeated block has the same bytes"
        if self.fails == "after":
            raise OSError("the answer was lost")


@pytest.fixture
def receiver() -> Receiver:
    return Receiver()


Start = Callable[..., Sink[ExportBatch]]


@pytest.fixture
def start(database: Database, clock: Clock, receiver: Receiver) -> Start:
    """Start an instance that sends small blocks."""

    def start_instance(holder: str = "first", **values: Any) -> Sink[ExportBatch]:
        deliveries = ExportBatches(database, clock, holder, **{"evaluations": 7, **values})
        return Sink(next_block=deliveries.next, send=receiver.send, record_sent=deliveries.record_sent)

    return start_instance


class Recording:
    """Records users with increasing numbers."""

    def __init__(self, history: History) -> None:
        self.history = history
        self.users: list[str] = []

    async def add(self, environment_id: UUID, count: int) -> None:
        users = [f"user-{len(self.users) + place}" for place in range(count)]
        seconds = float(len(self.users))
        self.users += users
        records = [make_record(seconds + place / 1000, user) for place, user in enumerate(users)]
        await self.history.record(make_batch(environment_id, LAYOUT, *records))


@pytest.fixture
def recording(database: Database, clock: Clock) -> Recording:
    return Recording(History(database, clock))


async def send_all(sink: Sink[ExportBatch]) -> None:
    while await sink.send_next():
        pass


async def test_without_evaluations_there_is_nothing_to_send(start: Start) -> None:
    assert not await start().send_next()


async def test_everything_is_sent_once_while_small_segments_are_continued(
    start: Start, receiver: Receiver, recording: Recording, environments: list[Environment]
) -> None:
    sink = start()
    for count in (1, 3, 40, 2, 120, 1, 600, 5):
        for environment in environments:
            await recording.add(environment.id, count)
        await sink.send_next()
    await send_all(sink)
    assert sorted(receiver.users, key=str) == sorted(recording.users)
    assert sink.sent == len(recording.users)
    assert sink.lag_seconds() == 0
    assert max(rows.count(b"\n") for rows in receiver.tokens.values()) <= 7


async def test_what_follows_many_small_segments_that_may_be_continued_is_sent(
    start: Start, receiver: Receiver, recording: Recording, environments: list[Environment]
) -> None:
    count = 130
    for number in range(count):  # each begins before the previous one has ended, so each is a segment of its own
        record = make_record(float(count - number), f"user-{number}")
        await recording.history.record(make_batch(environments[0].id, LAYOUT, record))
    await send_all(start(evaluations=1000))
    assert receiver.users == [f"user-{number}" for number in range(count)]


async def test_a_block_is_bounded_by_results_of_flags(
    start: Start, receiver: Receiver, recording: Recording, environments: list[Environment]
) -> None:
    await recording.add(environments[0].id, 20)
    await send_all(start(evaluations=1000, results=6))  # with three flags
    assert [rows.count(b"\n") for rows in receiver.tokens.values()] == [2] * 10
    assert receiver.users == recording.users


async def test_what_only_a_newer_version_can_read_is_not_passed(
    start: Start, database: Database, receiver: Receiver, recording: Recording, environments: list[Environment]
) -> None:
    segments = tables.segments
    await recording.add(environments[0].id, 5)
    await send_all(start())
    await recording.add(environments[0].id, 200)
    newest = segments.update().where(segments.c.size == 200)
    async with database.write_history() as connection:
        await connection.execute(newest.values(version=99))
    for _ in range(2):
        with pytest.raises(Error, match="segments of version 99 are unknown to this version"):
            await start().send_next()
    async with database.write_history() as connection:
        await connection.execute(newest.values(version=1))
    await send_all(start())
    assert receiver.users == recording.users


@pytest.mark.parametrize("fails", ["before", "after"])
async def test_a_block_that_failed_is_sent_again_the_same_even_if_more_was_recorded(
    start: Start, receiver: Receiver, recording: Recording, environments: list[Environment], fails: str
) -> None:
    await recording.add(environments[0].id, 5)
    sink = start()
    receiver.fails = fails
    for _ in range(3):
        with pytest.raises(OSError, match="answer"):
            await sink.send_next()
        await recording.add(environments[0].id, 3)
        await recording.add(environments[1].id, 3)
    assert sink.lag_seconds() > 0
    receiver.fails = ""
    await send_all(sink)
    assert sorted(receiver.users, key=str) == sorted(recording.users)


async def test_an_instance_that_was_killed_after_sending_is_continued_by_another_with_the_same_block(
    start: Start, receiver: Receiver, recording: Recording, environments: list[Environment], clock: Clock
) -> None:
    await recording.add(environments[0].id, 30)
    killed, other = start("killed"), start("other")
    for _ in range(3):
        receiver.fails = "after"
        with pytest.raises(OSError, match="answer"):
            await killed.send_next()
        receiver.fails = ""
        assert not await other.send_next(), "it is not the other's turn yet"
        clock.advance(seconds=TURN_SECONDS + 1)
        assert await other.send_next()
        killed, other = other, killed
        clock.advance(seconds=TURN_SECONDS + 1)
    await send_all(killed)
    assert receiver.users == recording.users


async def test_two_instances_whose_turns_overlap_send_everything_once(
    database: Database, clock: Clock, receiver: Receiver, recording: Recording, environments: list[Environment]
) -> None:
    await recording.add(environments[0].id, 30)
    slow, quick = (ExportBatches(database, clock, holder, evaluations=7) for holder in ("slow", "quick"))
    delivery = await slow.next()
    assert delivery is not None
    clock.advance(seconds=TURN_SECONDS + 1)
    quickly = Sink(next_block=quick.next, send=receiver.send, record_sent=quick.record_sent)
    assert await quickly.send_next()
    assert await quickly.send_next()
    await receiver.send(delivery)  # it was paused until now
    await slow.record_sent(delivery)
    assert await slow.next() is None
    await send_all(quickly)
    assert receiver.users == recording.users


async def test_what_the_retention_deletes_before_it_is_sent_is_not_sent_and_blocks_nothing(
    start: Start,
    receiver: Receiver,
    recording: Recording,
    environments: list[Environment],
    database: Database,
    clock: Clock,
) -> None:
    await recording.add(environments[0].id, 5)
    sink = start()
    receiver.fails = "before"
    with pytest.raises(OSError, match="answer"):
        await sink.send_next()
    clock.advance(days=2, hours=3)
    await HistoryRetention(database, clock, timedelta(days=1)).purge()
    receiver.fails = ""
    await send_all(sink)
    assert receiver.users == []
    assert sink.lag_seconds() == 0


async def test_evaluations_of_a_deleted_environment_are_left_out(
    start: Start, receiver: Receiver, recording: Recording, environments: list[Environment], database: Database
) -> None:
    await recording.add(environments[0].id, 5)
    async with database.transaction() as transaction:
        await hide_environments(transaction.connection, [environments[0].id])
    await recording.add(environments[1].id, 2)
    await send_all(start())
    assert receiver.users == recording.users[5:]


async def test_events_are_sent_once_after_lost_answers_and_by_two_instances(
    database: Database, clock: Clock, environments: list[Environment]
) -> None:
    """An answer is lost after each block has arrived, so that each is sent twice."""
    sent: dict[str, list[bytes]] = {}
    lost: set[str] = set()

    async def send(batch: ExportBatch) -> None:
        rows = [row for each in batch.parts for row in encode_events(each.place, each.segments)]
        assert sent.setdefault(batch.block.token, rows) == rows, "a repeated block has the same rows"
        if batch.block.token not in lost:
            lost.add(batch.block.token)
            raise OSError("the answer was lost")

    def start_instance(holder: str) -> Sink[ExportBatch]:
        batches = ExportBatches(database, clock, holder, evaluations=3, records=EVENTS)
        return Sink(next_block=batches.next, send=send, record_sent=batches.record_sent)

    at = microseconds(START)
    for number in range(5):
        rows = [EventRow("checkout", f"user-{number}-{place}", at, float(place), None) for place in range(2)]
        batch = EventBatch(number, at, [EventGroup(environments[number % len(environments)].id, rows, {})])
        await History(database, clock).record_events(batch)
    first, second = start_instance("first"), start_instance("second")
    for instance in (first, second) * 20:
        with suppress(OSError):
            await instance.send_next()
        clock.advance(seconds=TURN_SECONDS + 1)
    users = [json.loads(row)["identifier"] for rows in sent.values() for row in rows]
    assert sorted(users) == sorted(f"user-{number}-{place}" for number in range(5) for place in range(2))
    assert first.sent + second.sent == 10
    assert len(sent) > 1
