"""A statement that begins after PostgreSQL has announced its shutdown and before the connection has ended."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest

from flagstaff.cluster.postgresql_feed import PostgresqlFeed
from flagstaff.values.errors import Code, Error
from tests.support.postgres import PostgresServer
from tests.support.stores import TEMPLATE

_FIELDS = b"SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0"
FAREWELL = b"E" + (len(_FIELDS) + 4).to_bytes(4) + _FIELDS


class Relay:
    """Passes bytes to PostgreSQL and back. It can announce a shutdown for the server and leave connections open."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._clients: list[asyncio.StreamWriter] = []
        self._relays: list[asyncio.Task[None]] = []
        self.url = ""

    @asynccontextmanager
    async def listening(self) -> AsyncIterator["Relay"]:
        """Accept connections."""
        async with await asyncio.start_server(self._relay, "127.0.0.1") as listener:
            port = listener.sockets[0].getsockname()[1]
            self.url = f"postgresql://postgres@127.0.0.1:{port}/{TEMPLATE}"
            try:
                yield self
            finally:
                for client in self._clients:
                    client.transport.abort()
                await asyncio.gather(*self._relays)

    async def say_farewell(self) -> None:
        """Send the announcement of a shutdown to every client."""
        for client in self._clients:
            client.write(FAREWELL)
            await client.drain()
        for _ in range(20):  # wait until the clients, which run in this event loop, have read it
            await asyncio.sleep(0)

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._clients.append(writer)
        self._relays.append(task)
        there, to_there = await asyncio.open_connection("127.0.0.1", self._target)
        await asyncio.gather(_pass(reader, to_there), _pass(there, writer))


async def _pass(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while data := await source.read(65_536):
            target.write(data)
        target.close()


@pytest.fixture
async def relay(postgres_template: PostgresServer) -> AsyncIterator[Relay]:
    async with Relay(postgres_template.port).listening() as made:
        yield made


async def test_the_feed_is_unavailable(relay: Relay) -> None:
    feed = PostgresqlFeed(relay.url, "first")

    async def ask() -> None:
        async with feed.session():
            assert (await feed.read("first")).rows == []
            await relay.say_farewell()
            await feed.read("first")

    with pytest.raises(Error) as refusal:
        await ask()
    assert refusal.value.code is Code.UNAVAILABLE
