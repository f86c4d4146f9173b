"""Streams of two processes on one PostgreSQL: changes, stops, kills and outages."""

import asyncio
import signal
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass

import httpx
import pytest

from tests.support.api import Json, flag_path
from tests.support.clients import open_client
from tests.support.event_streams import EventStream
from tests.support.postgres import PostgresServer
from tests.support.remote import RemoteCaller
from tests.support.server import ServerProcess
from tests.support.stores import Store

ENVIRON = {
    "FLAGSTAFF_API_RATE_LIMIT": "off",
    "FLAGSTAFF_ACCESS_LOG": "off",
    "FLAGSTAFF_SECRET_KEY": "k" * 32,
}
STREAMING = "/unleash/api/client/streaming"
GRANTED_SECONDS = 10


@dataclass
class Pair:
    """Ada toggles her flag at the first process; applications have streams from both."""

    servers: tuple[ServerProcess, ServerProcess]
    ada: RemoteCaller
    flag: Json
    sdk_key: str
    stack: AsyncExitStack

    async def open(self, server: ServerProcess) -> EventStream:
        """Open a stream from a process, and read its first event."""
        client = await self.stack.enter_async_context(open_client(base_url=server.url))
        headers = {"authorization": self.sdk_key}
        response = await self.stack.enter_async_context(client.stream("GET", STREAMING, headers=headers))
        assert response.status_code == 200, await response.aread()
        stream = EventStream(response)
        first = await stream.next()
        assert first["event"] == "unleash-connected"
        return stream

    async def toggle(self) -> str:
        """Toggle the flag, and return the change's revision."""
        answer = await self.ada.post(f"{flag_path(self.flag)}/toggle")
        assert answer.status_code == 200, answer.text
        revision: str = answer.headers["flagstaff-revision"]
        return revision

    async def ask_for_features(self, server: ServerProcess, sdk_key: str | None = None) -> int:
        """Return the status of a client's request for its features at a process."""
        async with open_client(base_url=server.url) as client:
            headers = {"authorization": sdk_key or self.sdk_key}
            return (await client.get("/unleash/api/client/features", headers=headers)).status_code

    async def readiness(self) -> list[int]:
        """Return the statuses of /ready at both processes."""
        async with open_client() as client:
            return [(await client.get(f"{server.url}/ready")).status_code for server in self.servers]


@pytest.fixture
async def pair(outage_store: Store) -> AsyncIterator[Pair]:
    stores = [Store(outage_store.database_url, outage_store.data_directory / name) for name in ("first", "second")]
    async with (
        ServerProcess(stores[0], ENVIRON) as first,
        ServerProcess(stores[1], ENVIRON) as second,
        RemoteCaller(first.url) as ada,
        AsyncExitStack() as stack,
    ):
        await ada.sign_up()
        project = await ada.create_project()
        flag = await ada.create_flag(await ada.get_environment(project))
        body = {"name": "Shop", "environment": "production", "kind": "server"}
        key = await ada.post(f"/api/projects/{project['id']}/sdk-keys", json=body)
        yield Pair((first, second), ada, flag, key.json()["key"], stack)
        for server in (first, second):
            assert "Traceback" not in server.log


async def test_a_change_is_heard_at_every_process_under_the_same_number(pair: Pair) -> None:
    streams = [await pair.open(server) for server in pair.servers for _ in range(3)]
    for _ in range(3):
        revision = await pair.toggle()
        events = [await stream.next() for stream in streams]
        assert {event["id"] for event in events} == {revision}
        assert len({str(event["data"]) for event in events}) == 1


async def test_a_stop_ends_streams_as_whole_responses_and_is_quick(pair: Pair) -> None:
    streams = [await pair.open(pair.servers[1]) for _ in range(20)]
    asked = time.monotonic()
    assert await pair.servers[1].stop() == 0
    assert time.monotonic() - asked < GRANTED_SECONDS / 2
    assert [await stream.is_over() for stream in streams] == [True] * 20


async def test_after_a_kill_a_client_that_connects_again_has_what_it_missed(pair: Pair) -> None:
    stream = await pair.open(pair.servers[1])
    await pair.servers[1].kill()
    with pytest.raises(httpx.TransportError):
        await stream.next()
    revision = await pair.toggle()
    await pair.servers[1].start()
    client = await pair.stack.enter_async_context(open_client(base_url=pair.servers[1].url))
    response = await pair.stack.enter_async_context(
        client.stream("GET", STREAMING, headers={"authorization": pair.sdk_key})
    )
    (hydration,) = (await EventStream(response).next())["data"]["events"]
    assert str(hydration["eventId"]) == revision
    assert [each["enabled"] for each in hydration["features"]] == [False]


async def test_a_paused_process_tells_its_streams_once_it_goes_on(pair: Pair) -> None:
    stream = await pair.open(pair.servers[1])
    pair.servers[1].signal(signal.SIGSTOP)
    try:
        toggle = asyncio.create_task(pair.ada.post(f"{flag_path(pair.flag)}/toggle"))
        await asyncio.wait([toggle], timeout=1)
    finally:
        pair.servers[1].signal(signal.SIGCONT)
    answer = await toggle
    assert answer.status_code == 200
    assert (await stream.next())["id"] == answer.headers["flagstaff-revision"]


async def test_an_outage_of_the_database_ends_no_stream_and_refuses_no_key(
    pair: Pair, outage_postgres: PostgresServer
) -> None:
    streams = [await pair.open(server) for server in pair.servers]
    outage_postgres.stop()
    try:
        answers = [await pair.ask_for_features(server) for server in pair.servers]
        streams += [await pair.open(server) for server in pair.servers]
    finally:
        outage_postgres.start()
    assert answers == [200, 200]
    async with asyncio.timeout(30):
        while await pair.readiness() != [200, 200]:
            await asyncio.sleep(0.02)
    revision = await pair.toggle()
    for stream in streams:
        while (await stream.next())["id"] != revision:
            pass


async def test_while_it_is_not_known_whether_a_key_exists_it_is_not_refused_for_good(
    pair: Pair, outage_postgres: PostgresServer
) -> None:
    outage_postgres.stop()
    try:
        unknown = f"{pair.sdk_key[:-1]}{'0' if pair.sdk_key[-1] != '0' else '1'}"
        async with asyncio.timeout(30):
            while (status := await pair.ask_for_features(pair.servers[0], unknown)) == 401:
                await asyncio.sleep(0.02)  # until the lost connection is noticed
    finally:
        outage_postgres.start()
    assert status == 503
