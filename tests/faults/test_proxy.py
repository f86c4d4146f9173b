"""Tests of the proxy: each state has its described effect on plain connections."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest

from tests.faults.namespaces import lay_cables
from tests.faults.proxy import Proxy

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@pytest.fixture
async def proxy() -> AsyncIterator[Proxy]:
    """A proxy with two links to a server that sends back each line."""
    async with echoing() as port, Proxy(port, 2) as made:
        yield made


@asynccontextmanager
async def echoing() -> AsyncIterator[int]:
    """The port of that server."""
    writers = set()

    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.add(writer)
        with suppress(OSError):
            while line := await reader.readline():
                writer.write(line)
        writer.close()

    server = await asyncio.start_server(echo, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]
        server.close()
        for writer in writers:
            writer.transport.abort()


async def connect(proxy: Proxy, link: int = 0) -> Streams:
    return await asyncio.open_connection(proxy.hosts[link], proxy.ports[link])


async def say(streams: Streams, word: bytes = b"hello\n") -> None:
    reader, writer = streams
    writer.write(word)
    async with asyncio.timeout(10):
        assert await reader.readline() == word


async def is_silent(streams: Streams) -> bool:
    try:
        async with asyncio.timeout(0.1):
            await streams[0].readline()
    except TimeoutError:
        return True
    return False


@pytest.mark.parametrize("state", ["dropped", "half_open"])
async def test_what_was_sent_while_a_link_was_shut_arrives_later(proxy: Proxy, state: str) -> None:
    streams = await connect(proxy)
    await say(streams)
    await proxy.change(0, state)
    streams[1].write(b"late\n")
    assert await is_silent(streams)
    await proxy.change(0, "open")
    async with asyncio.timeout(10):
        assert await streams[0].readline() == b"late\n"
    streams[1].close()


async def test_a_new_connection_of_a_dropped_link_waits(proxy: Proxy) -> None:
    await proxy.change(0, "dropped")
    streams = await connect(proxy)
    streams[1].write(b"hello\n")
    assert await is_silent(streams)
    await proxy.change(0, "open")
    assert await streams[0].readline() == b"hello\n"
    streams[1].close()


@pytest.mark.parametrize("state", ["refused", "reset"])
async def test_connections_are_reset_and_new_ones_do_not_work(proxy: Proxy, state: str) -> None:
    streams = await connect(proxy)
    await say(streams)
    await proxy.change(0, state)
    with pytest.raises(ConnectionResetError):
        await streams[0].readline()
    with pytest.raises((ConnectionError, AssertionError)):
        await say(await connect(proxy))
    await proxy.change(0, "open")
    streams = await connect(proxy)
    await say(streams)
    streams[1].close()


async def test_a_link_that_is_cut_accepts_new_connections(proxy: Proxy) -> None:
    streams = await connect(proxy)
    await say(streams)
    await proxy.cut(0)
    with pytest.raises(ConnectionResetError):
        await streams[0].readline()
    streams = await connect(proxy)
    await say(streams)
    streams[1].close()


async def test_a_slow_link_delays_each_piece(proxy: Proxy) -> None:
    await proxy.change(0, "slow", seconds=0.05)
    streams = await connect(proxy)
    loop = asyncio.get_running_loop()
    began = loop.time()
    await say(streams)
    assert loop.time() - began >= 0.1
    streams[1].close()


async def test_the_other_link_is_not_affected(proxy: Proxy) -> None:
    await proxy.change(0, "dropped")
    streams = await connect(proxy, link=1)
    await say(streams)
    streams[1].close()


async def test_what_is_sent_while_a_cable_is_unplugged_arrives_later() -> None:
    with lay_cables(1) as cables:
        if not cables:
            pytest.skip("network namespaces need root and iproute2")
        async with echoing() as port, Proxy(port, 2, cables) as proxy:
            through_cable, other = await connect(proxy), await connect(proxy, link=1)
            await say(through_cable)
            cables[0].set("down")
            through_cable[1].write(b"late\n")
            assert await is_silent(through_cable)
            await say(other)
            cables[0].set("up")
            async with asyncio.timeout(10):
                assert await through_cable[0].readline() == b"late\n"
            for streams in (through_cable, other):
                streams[1].close()
