"""Open streams: which stream gets which events, and when a stream ends. The connections are real sockets."""

import asyncio
import socket
from asyncio import Transport
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from datetime import timedelta
from typing import cast
from uuid import UUID, uuid4

import pytest
import uvloop

from flagstaff.concurrency.supervisor import Supervisor
from flagstaff.evaluation.snapshot import KnownEnvironment, ProjectSnapshot
from flagstaff.history.applications import Client as ClientName
from flagstaff.projects.sdk_keys import KeyInForce, KeyKind
from flagstaff.serving.event_stream import UNREAD_MAX_BYTES, Stream
from flagstaff.serving.streams import TURNS, Reconnect, Streams, Topic
from flagstaff.values.errors import Error, unavailable
from tests.support.builders import make_environment, make_project
from tests.support.clock import Clock
from tests.support.event_streams import keep_alive

PROJECT = make_project()
HOUR = timedelta(hours=1)


class Feed:
    """Returns the revision, or fails as often as a test says."""

    def __init__(self) -> None:
        self.failures = 0
        self.is_too_long = False
        self.bug: Exception | None = None
        self.may_go = asyncio.Event()
        self.may_go.set()

    async def news(self, environment: KnownEnvironment) -> bytes | Reconnect | None:
        await self.may_go.wait()
        if self.is_too_long:
            return Reconnect()
        if self.bug:
            raise self.bug
        if self.failures:
            self.failures -= 1
            raise unavailable("not now")
        return b"data: %d\n\n" % environment.revision


class Client:
    """The other end of a stream."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader

    async def next(self) -> str:
        """Return the next event, without its chunk; an empty text at the end of the response."""
        async with asyncio.timeout(30):
            size = int(await self._reader.readline(), 16)
            data = await self._reader.readexactly(size + 2)
        return data.decode().strip()

    async def is_cut_off(self) -> bool:
        """Return whether the connection ends before the response does."""
        async with asyncio.timeout(30):
            return not (await self._reader.read()).endswith(b"0\r\n\r\n")


class World:
    """An environment whose states a test sets, and its streams."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.supervisor = Supervisor()
        self.streams = Streams(
            self.supervisor,
            self.clock,
            record_told=lambda *told: self.told.append(told),
            most=4,
            keep_alive_seconds=3600,
            retry_seconds=0.01,
        )
        self.told: list[tuple[UUID, ClientName, int]] = []
        self.key_id = uuid4()
        environment = make_environment(PROJECT.id)
        self.environment = KnownEnvironment(PROJECT.id, environment.id, environment.key, 0, self.keys(self.key_id))
        self.topic = Topic("test", PROJECT.id, self.environment.environment_id)
        self.feed = Feed()
        self.writers: list[asyncio.StreamWriter] = []

    @staticmethod
    def keys(*ids: UUID) -> dict[bytes, KeyInForce]:
        return {each.bytes: KeyInForce(each, KeyKind.SERVER, None) for each in ids}

    async def open(
        self,
        topic: Topic | None = None,
        key_id: UUID | None = None,
        expires_at: object = None,
        revision: int | None = None,
        kind: type[Stream] = Stream,
    ) -> tuple[Client, Stream]:
        known = self.environment.revision if revision is None else revision
        here, there = socket.socketpair()
        _, server = await asyncio.open_connection(sock=here)
        reader, client = await asyncio.open_connection(sock=there)
        self.writers += [server, client]
        stream = kind(cast("Transport", server.transport), key_id or self.key_id, expires_at)  # type: ignore[arg-type]
        self.streams.open(topic or self.topic, stream, self.environment, known, lambda: self.feed)
        return Client(reader), stream

    def swap(self, revision: int, **values: object) -> None:
        self.environment = replace(self.environment, revision=revision, **values)  # type: ignore[arg-type]
        self.streams.swap(PROJECT.id, self.project())

    def project(self) -> ProjectSnapshot:
        return ProjectSnapshot(PROJECT.id, "sdk_x", {}, {self.environment.environment_id: self.environment})


@pytest.fixture
async def world() -> AsyncIterator[World]:
    made = World()
    made.streams.start()
    yield made
    await made.streams.stop()
    for writer in made.writers:
        writer.close()
    await made.supervisor.drain(0)


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not condition():
            await asyncio.sleep(0.001)


async def test_a_process_that_stops_opens_none(world: World) -> None:
    world.streams.require_open()
    await world.streams.stop()
    with pytest.raises(Error, match="Connect again"):
        world.streams.require_open()


async def test_half_of_the_streams_may_have_one_key_and_all_together_are_bounded(world: World) -> None:
    other_key = uuid4()
    streams = [(await world.open())[1] for _ in range(2)]
    with pytest.raises(Error, match="Too many streams are open"):
        world.streams.require_room(world.key_id)
    world.streams.require_room(other_key)
    streams += [(await world.open(key_id=other_key))[1] for _ in range(2)]
    for key_id in (None, uuid4()):
        with pytest.raises(Error, match="Too many streams are open"):
            world.streams.require_room(key_id)
    assert (len(world.streams), world.streams.refused) == (4, 3)

    for stream in streams:
        for _ in range(2):  # the second time it is already gone
            world.streams.close(world.topic, stream)
    world.streams.require_room(world.key_id)
    assert len(world.streams) == 0


def test_a_client_that_left_before_the_first_event_is_no_error() -> None:
    async def begin() -> None:
        here, there = socket.socketpair()
        _, server = await asyncio.open_connection(sock=here)
        there.close()
        server.close()
        await server.wait_closed()
        Stream(cast("Transport", server.transport), uuid4()).send_first(b"data: 1\n\n")

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:  # their closed transports refuse to write
        runner.run(begin())


async def test_a_change_is_told_to_the_streams_of_its_environment_only(world: World) -> None:
    told, _ = await world.open()
    other, other_stream = await world.open(Topic("test", uuid4(), uuid4()))
    world.swap(7)
    assert await told.next() == "data: 7"
    other_stream.send_first(b"the first\n\n")
    assert await other.next() == "the first"


async def test_changes_of_other_projects_tell_nothing(world: World) -> None:
    told, _ = await world.open()
    world.streams.swap(uuid4(), None)
    world.swap(8)
    assert await told.next() == "data: 8"


async def test_a_state_that_is_the_same_is_not_told_again(world: World) -> None:
    told, _ = await world.open()
    world.swap(7)
    assert await told.next() == "data: 7"
    world.streams.swap(PROJECT.id, world.project())
    world.swap(9)
    assert await told.next() == "data: 9"


async def test_what_cannot_be_told_now_is_told_later(world: World) -> None:
    told, _ = await world.open()
    world.feed.failures = 3
    world.swap(7)
    assert await told.next() == "data: 7"


async def test_a_topic_that_cannot_be_told_keeps_no_other_waiting(world: World) -> None:
    await world.open()
    world.feed.may_go.clear()
    world.swap(7)
    other = Topic("other", PROJECT.id, world.environment.environment_id)
    world.feed = Feed()
    told, _ = await world.open(other)
    world.swap(8)
    assert await told.next() == "data: 8"


async def test_a_stream_that_opens_when_all_others_left_during_a_telling_is_told_as_well(world: World) -> None:
    _, stream = await world.open()
    world.feed.may_go.clear()
    world.swap(7)
    await asyncio.sleep(0)
    world.streams.close(world.topic, stream)
    told, _ = await world.open(revision=6)
    world.feed.may_go.set()
    assert await told.next() == "data: 7"


async def test_streams_that_cannot_be_told_for_an_unexpected_reason_end(world: World) -> None:
    told, _ = await world.open()
    world.feed.bug = RuntimeError("out of luck")
    world.swap(7)
    assert await told.next() == ""


async def test_a_state_that_follows_while_another_is_told_is_told_next(world: World) -> None:
    told, _ = await world.open()
    world.feed.may_go.clear()
    world.swap(7)
    await asyncio.sleep(0)
    world.swap(8)
    world.feed.may_go.set()
    assert (await told.next()) in ("data: 7", "data: 8")
    world.swap(9)
    while await told.next() != "data: 9":
        pass


async def test_the_streams_of_a_revoked_key_end_and_others_go_on(world: World) -> None:
    other_key = uuid4()
    world.swap(1, sdk_keys=world.keys(world.key_id, other_key))
    revoked, _ = await world.open()
    kept, _ = await world.open(key_id=other_key)
    world.swap(7, sdk_keys=world.keys(other_key))
    assert await revoked.next() == ""
    assert await kept.next() == "data: 7"


async def test_the_streams_of_a_deleted_environment_and_project_end(world: World) -> None:
    for project in (ProjectSnapshot(PROJECT.id, "sdk_x", {}, {}), None):
        told, stream = await world.open()
        world.streams.swap(PROJECT.id, project)
        assert await told.next() == ""
        world.streams.close(world.topic, stream)


async def test_the_streams_of_a_key_end_when_it_expires(world: World) -> None:
    expiring, _ = await world.open(expires_at=world.clock.at + HOUR)
    kept, _ = await world.open()
    await keep_alive(world.streams)
    assert await expiring.next() == await kept.next() == ":"
    world.clock.advance(hours=1)
    await keep_alive(world.streams)
    assert await expiring.next() == ""
    assert await kept.next() == ":"


async def test_streams_are_kept_alive_in_turns(world: World) -> None:
    kept: list[Stream] = []

    class Noted(Stream):
        def keep_alive(self) -> bytes:
            kept.append(self)
            return super().keep_alive()

    streams = {(await world.open(kind=Noted))[1] for _ in range(2 * TURNS)}
    for turn in range(TURNS):
        await world.streams.keep_alive()
        assert len(kept) == 2 * (turn + 1)
    assert set(kept) == streams


async def test_a_client_that_does_not_read_is_dropped_and_others_are_told(world: World) -> None:
    slow, stream = await world.open()
    quick, _ = await world.open()
    while stream.transport.get_write_buffer_size() <= UNREAD_MAX_BYTES:
        stream.transport.write(b"x" * UNREAD_MAX_BYTES)
    world.swap(7)
    assert await quick.next() == "data: 7"
    assert world.streams.dropped == 1
    assert await slow.is_cut_off()


async def test_the_streams_of_a_change_that_is_too_long_for_an_event_end(world: World) -> None:
    client, _ = await world.open()
    world.feed.is_too_long = True
    world.swap(7)
    assert await client.next() == ""


async def test_a_stream_that_is_still_beginning_is_told_nothing_and_remembers_that_it_missed_something(
    world: World,
) -> None:
    beginning, stream = await world.open()
    other, _ = await world.open()
    stream.is_beginning = True
    await keep_alive(world.streams)
    missed_before = stream.has_missed
    world.swap(7)
    assert await other.next() == ":"
    assert await other.next() == "data: 7"
    assert (missed_before, stream.has_missed) == (False, True)
    stream.is_beginning = False
    stream.end()
    assert await beginning.next() == ""


async def test_a_stop_ends_every_response(world: World) -> None:
    clients = [(await world.open())[0] for _ in range(20)]
    await world.streams.stop()
    assert [await client.next() for client in clients] == [""] * 20


async def test_a_topic_without_streams_is_forgotten(world: World) -> None:
    _, stream = await world.open()
    assert len(world.streams) == 1
    world.swap(7)
    world.streams.close(world.topic, stream)
    world.streams.close(world.topic, stream)
    assert len(world.streams) == 0
    assert not world.streams._topics
    assert not world.streams._of_project
    assert not world.streams._news


async def test_the_clients_of_many_streams_that_end_together_connect_again_over_a_longer_time(world: World) -> None:
    waits = []
    for others in (1, 400, 1_500, 5_000):
        told, stream = await world.open()
        stream.end(others)
        event = await told.next()
        waits.append(int(event.removeprefix("retry: ")) if event else 0)
        if event:
            assert await told.next() == ""
        world.streams.close(world.topic, stream)
    assert waits[:2] == [0, 0], "what a stream says when it begins is enough for a few"
    assert 500 <= waits[2] <= 15_000
    assert 500 <= waits[3] <= 20_000
