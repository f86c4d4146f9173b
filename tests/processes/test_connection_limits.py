"""Floods of connections, and of requests on one connection: other clients are served, and no running work is lost."""

import asyncio
import resource
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from pathlib import Path

import pytest

from tests.support.connections import Answer, Client
from tests.support.server import ServerProcess
from tests.support.stores import Store, sqlite_store

FLOOD, OTHER, THIRD = "127.0.0.1", "127.0.0.2", "127.0.0.3"
HEALTH = b"GET /health HTTP/1.1\r\nHost: flags\r\n\r\n"
METRICS = b"GET /metrics HTTP/1.1\r\nHost: flags\r\n\r\n"
CREDENTIALS = b'{"email":"ada@example.com","password":"correct horse battery staple"}'
PATIENCE_SECONDS = 20
MIB = 1024 * 1024


@pytest.fixture
def store(sqlite_template: Path, data_directory: Path) -> Store:
    """A SQLite database, which is enough here."""
    return sqlite_store(sqlite_template, data_directory)


@asynccontextmanager
async def flooded(server: ServerProcess) -> AsyncIterator[Callable[..., Awaitable[list[Client]]]]:
    """Open connections that stay open and silent until the end of the block."""
    async with AsyncExitStack() as stack:

        async def connect(count: int, source: str = FLOOD) -> list[Client]:
            return [
                await stack.enter_async_context(await Client.connect(server.port, source=source)) for _ in range(count)
            ]

        yield connect


async def ask(server: ServerProcess, sent: bytes = HEALTH, *, source: str = OTHER) -> Answer:
    """Return the answer to one request on a separate connection. The server learns only later that it has ended."""
    async with await Client.connect(server.port, source=source) as client:
        # A server that refuses a connection may have closed it before it received this.
        with suppress(ConnectionError):
            await client.send(sent)
        return await client.receive()


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not condition():
            await asyncio.sleep(0.01)


def post(path: bytes, body: bytes) -> bytes:
    head = b"POST %s HTTP/1.1\r\nHost: flags\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
    return head % (path, len(body)) + body


async def figure(server: ServerProcess, name: str, *, on: Client | None = None) -> float:
    """Return a metric of the server, requested on this connection or on a separate one."""
    if on is None:
        answer = await ask(server, METRICS)
    else:
        await on.send(METRICS)
        answer = await on.receive()
    (line,) = (line for line in answer.body.decode().splitlines() if line.startswith(f"{name} "))
    return float(line.split()[1])


async def test_a_flood_from_one_address_leaves_room_for_others_and_for_their_mail(store: Store) -> None:
    async with ServerProcess(store, open_files=256) as server, flooded(server) as connect:
        await connect(300)  # of 256 descriptors, connections get 128, and one address gets half of these
        refused = await ask(server, source=FLOOD)
        assert refused.status == 503
        assert refused.header("content-type") == "application/problem+json"
        assert refused.header("connection") == "close"
        assert refused.header("retry-after") == "10"

        assert (await ask(server)).status == 200
        assert (await ask(server, post(b"/auth/register", CREDENTIALS))).status == 201
        assert (await ask(server, post(b"/auth/forgot-password", CREDENTIALS.split(b",")[0] + b"}"))).status == 200
        await until(lambda: any((store.data_directory / "outbox").glob("*.eml")))
        assert await figure(server, "flagstaff_connections") >= 64
        assert await figure(server, "flagstaff_connections_refused_total") >= 237
        entries = server.log.count('"event": "connection_refused"')
        assert 1 <= entries <= 40, "a flood must not fill the log"
        assert '"event": "few_descriptors"' in server.log


async def test_the_bounds_are_settings_and_a_closed_connection_makes_room(store: Store) -> None:
    bounds = {"FLAGSTAFF_MAX_CONNECTIONS": "4", "FLAGSTAFF_MAX_CONNECTIONS_PER_ADDRESS": "2"}
    async with ServerProcess(store, bounds) as server, flooded(server) as connect:
        (watcher,) = await connect(1, THIRD)
        async with asyncio.timeout(PATIENCE_SECONDS):
            while await figure(server, "flagstaff_connections", on=watcher) != 1:  # the first connection has ended
                await asyncio.sleep(0.1)
        first, _ = await connect(2, FLOOD)
        assert (await ask(server, source=FLOOD)).status == 503
        await connect(1, OTHER)
        assert (await ask(server, source=THIRD)).status == 503
        await first.close()
        async with asyncio.timeout(PATIENCE_SECONDS):
            while (await ask(server, source=THIRD)).status != 200:
                await asyncio.sleep(0.01)


async def test_a_trusted_proxy_may_open_all_of_them(store: Store) -> None:
    bounds = {
        "FLAGSTAFF_MAX_CONNECTIONS": "40",
        "FLAGSTAFF_MAX_CONNECTIONS_PER_ADDRESS": "2",
        "FLAGSTAFF_TRUSTED_PROXIES": "127.0.0.1",
    }
    async with ServerProcess(store, bounds) as server, flooded(server) as connect:
        for client in await connect(30, FLOOD):
            await client.send(HEALTH)
            assert (await client.receive()).status == 200


async def test_the_soft_limit_of_open_files_is_raised_as_far_as_is_needed(store: Store) -> None:
    with soft_limit(256):
        async with ServerProcess(store, {"FLAGSTAFF_MAX_CONNECTIONS": "1000"}) as server:
            soft, _ = resource.prlimit(server.pid, resource.RLIMIT_NOFILE)
            assert soft == 1128
            assert "few_descriptors" not in server.log


async def test_a_server_without_free_descriptors_recovers_when_there_are_some(store: Store) -> None:
    async with ServerProcess(store) as server, flooded(server) as connect:
        await connect(8)
        limits = resource.prlimit(server.pid, resource.RLIMIT_NOFILE)
        await until(lambda: descriptors(server) >= 8)
        resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (descriptors(server), limits[1]))
        (waiting,) = await connect(1)
        await until(lambda: '"event": "accept_failed"' in server.log)
        resource.prlimit(server.pid, resource.RLIMIT_NOFILE, limits)
        await waiting.send(HEALTH)
        assert (await waiting.receive()).status == 200
        assert (await ask(server)).status == 200


async def test_pipelined_requests_beyond_the_bound_are_left_and_the_connection_is_closed(store: Store) -> None:
    async with ServerProcess(store) as server:
        before = resident_bytes(server)
        async with flooded(server) as connect:
            clients = await connect(60)
            await asyncio.gather(*(client.send(b"GET /health HTTP/1.1\r\nHost:\r\n\r\n" * 8_000) for client in clients))
            first = await asyncio.gather(*(client.receive() for client in clients))
            assert {answer.status for answer in first} == {200}
            assert resident_bytes(server) - before < 100 * MIB
            for client in clients:
                with suppress(ConnectionError):
                    assert (await client.receive_rest()).count(b"HTTP/1.1 ") < 8_000
        assert (await ask(server)).status == 200


@contextmanager
def soft_limit(files: int) -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def descriptors(server: ServerProcess) -> int:
    """Return one more than the highest open descriptor, below which the kernel finds the next one."""
    return max(int(path.name) for path in Path(f"/proc/{server.pid}/fd").iterdir()) + 1


def resident_bytes(server: ServerProcess) -> int:
    status = Path(f"/proc/{server.pid}/status").read_text()
    (line,) = (line for line in status.splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) * 1024
