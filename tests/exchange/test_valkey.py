"""Limits that instances share through a real Valkey server, which is killed, paused, filled and emptied."""

import asyncio
import gc
import ssl
import time
from collections.abc import AsyncIterator, Hashable, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from typing import Any

import pytest
import structlog
from valkey.asyncio import Valkey

from flagstaff.concurrency.supervisor import Supervisor
from flagstaff.limits.exchange import UnreachableError
from flagstaff.limits.limiter import SlidingWindow
from flagstaff.limits.shared_limits import SharedLimits
from flagstaff.limits.valkey import ValkeyExchange
from tests.mail.test_smtp import CERTIFICATE
from tests.support.valkey import ValkeyServer

SECRET = "a secret that all instances have"
WAIT_SECONDS = 20


@pytest.fixture(scope="module")
def valkey() -> Iterator[ValkeyServer]:
    """A server for tests that leave it running and do not read all of its keys."""
    with ValkeyServer() as server:
        yield server


@pytest.fixture
def own_valkey() -> Iterator[ValkeyServer]:
    with ValkeyServer() as server:
        yield server


class Instances:
    """Instances that limit a client to 200 a minute, in one event loop, each with its own connection."""

    def __init__(self, url: str, count: int, *, secret: str = SECRET, limit: int = 200) -> None:
        self.supervisor = Supervisor(first_pause_seconds=0.01)
        self.windows = [SlidingWindow(limit, 60) for _ in range(count)]
        self.shares = [SharedLimits({"evaluate": each}, ValkeyExchange(url, secret), secret) for each in self.windows]
        for number, share in enumerate(self.shares):
            self.supervisor.run(f"limits-{number}", share.run)

    async def until_joined(self, participants: int | None = None) -> None:
        wanted = participants or len(self.shares)
        async with asyncio.timeout(WAIT_SECONDS):
            while any(share.participants != wanted or not share.is_joined for share in self.shares):
                await asyncio.sleep(0.01)

    async def until_alone(self) -> None:
        async with asyncio.timeout(WAIT_SECONDS):
            while any(share.is_joined for share in self.shares):
                await asyncio.sleep(0.01)

    async def until_told(self) -> None:
        """Wait until every instance has begun and finished an exchange."""
        before = [share.exchanges for share in self.shares]
        async with asyncio.timeout(WAIT_SECONDS):
            for share, window, exchanges in zip(self.shares, self.windows, before, strict=True):
                while share.exchanges < exchanges + 2:  # the first may have begun before
                    window.hit("somebody else")
                    await asyncio.sleep(0.01)

    async def until_all_know(self, key: str, total: int) -> None:
        """Wait until every instance knows this number of hits."""
        async with asyncio.timeout(WAIT_SECONDS):
            while [window.known(key) for window in self.windows] != [total] * len(self.windows):
                await asyncio.sleep(0.05)

    async def close(self) -> None:
        for number, share in enumerate(self.shares):
            await self.supervisor.finish(f"limits-{number}", 0)
            await share.close()


@asynccontextmanager
async def instances(url: str, count: int, **options: Any) -> AsyncIterator[Instances]:
    made = Instances(url, count, **options)
    try:
        yield made
    finally:
        await made.close()


async def spread(together: Instances, client: str, parts: list[int], *, per_second: float, total: int) -> int:
    """Return how many of the client's hits are allowed; each instance gets its part of them."""
    turns = [number for number, part in enumerate(parts) for _ in range(part)]
    allowed, began = 0, time.monotonic()
    for index in range(total):
        await asyncio.sleep(max(0.0, began + index / per_second - time.monotonic()))
        allowed += together.windows[turns[index % len(turns)]].hit(client) == 0
    return allowed


@pytest.mark.parametrize(
    ("parts", "per_second"),
    [([1, 1, 1], 300), ([8, 1, 1], 300)],
    ids=["even", "uneven"],
)
async def test_three_instances_allow_a_client_as_much_as_one_within_5_percent(
    valkey: ValkeyServer, parts: list[int], per_second: float
) -> None:
    async with instances(valkey.url, 3, secret=f"{parts} {per_second}") as together:
        await together.until_joined()
        # Three clients, because more hits are allowed if the machine stops the process for a moment.
        allowed = [
            await spread(together, f"192.0.2.{number}", parts, per_second=per_second, total=300) for number in range(3)
        ]
    assert 200 <= min(allowed) <= 210


async def test_bursts_on_three_instances_stay_within_5_percent_too(valkey: ValkeyServer) -> None:
    # Three bursts, because more hits are allowed if the machine stops the processes for a moment.
    async with instances(valkey.url, 3, secret="bursts") as together:
        await together.until_joined()
        allowed = [
            await spread(together, f"192.0.2.{number}", parts, per_second=1_000, total=600)
            for number, parts in enumerate(([1, 1, 1], [8, 1, 1], [1, 1, 1]))
        ]
    assert min(allowed) >= 200
    assert min(allowed) <= 210


async def test_a_client_that_stays_below_the_limit_is_never_refused(valkey: ValkeyServer) -> None:
    async with instances(valkey.url, 3, secret="below") as together:
        await together.until_joined()
        assert await spread(together, "192.0.2.1", [1, 2, 3], per_second=1_000, total=200) == 200


async def test_an_instance_that_starts_later_knows_what_the_others_counted(valkey: ValkeyServer) -> None:
    async with instances(valkey.url, 1, secret="later") as first:
        await first.until_joined()
        assert hits(first.windows[0], "192.0.2.1", 200) == 200
        await first.until_told()
        async with instances(valkey.url, 1, secret="later") as second:
            await second.until_joined(2)
            second.windows[0].hit("192.0.2.1")
            await second.until_told()
            assert second.windows[0].hit("192.0.2.1") == 60


async def test_a_forgiven_hit_is_forgiven_at_all_instances(valkey: ValkeyServer) -> None:
    async with instances(valkey.url, 2, secret="forgiven") as together:
        await together.until_joined()
        assert hits(together.windows[0], "ada", 199) == 199
        await together.until_told()
        assert hits(together.windows[1], "ada", 1) == 1
        await together.until_told()
        assert together.windows[1].hit("ada")
        for _ in range(5):
            together.windows[0].forgive("ada")
        await together.until_told()
        allowed = hits(together.windows[1], "ada", 1)  # an instance asks again when the key has hit it
        await together.until_told()
        assert allowed + hits(together.windows[1], "ada", 10) == 5


async def test_a_single_instance_counts_as_without_valkey(valkey: ValkeyServer) -> None:
    async with instances(valkey.url, 1, secret="single") as alone:
        await alone.until_joined()
        assert await spread(alone, "192.0.2.1", [1], per_second=2_000, total=400) == 200


async def test_installations_with_other_secrets_do_not_meet(valkey: ValkeyServer) -> None:
    async with instances(valkey.url, 1, secret="one") as one, instances(valkey.url, 1, secret="other") as other:
        await one.until_joined()
        await other.until_joined()
        hits(one.windows[0], "192.0.2.1", 200)
        await one.until_told()
        other.windows[0].hit("192.0.2.1")
        await other.until_told()
        assert hits(other.windows[0], "192.0.2.1", 200) == 199


async def test_nothing_readable_is_stored_and_nothing_stays(own_valkey: ValkeyServer) -> None:
    async with instances(own_valkey.url, 2) as together:
        await together.until_joined()
        hits(together.windows[0], "192.0.2.1", 3)
        hits(together.windows[1], ("192.0.2.1", "ada@example.com"), 3)
        await together.until_told()
        async with Valkey.from_url(own_valkey.url) as client:
            names = [name async for name in client.scan_iter()]
            seconds = [await client.ttl(name) for name in names]
            stored = b" ".join(names) + b"".join([await client.dump(name) or b"" for name in names])
    assert len(names) == 5  # the epoch, the instances, and three keys
    assert all(name.startswith(b"flagstaff:{") for name in names)
    assert not any(text in stored for text in (b"192.0.2", b"ada", b"example", SECRET.encode()))
    assert all(0 < each <= 2 * 86_400 for each in seconds)
    assert sorted(seconds)[1] <= 61


async def test_a_server_that_is_killed_and_comes_back_leaves_local_limits_and_no_jump(own_valkey: ValkeyServer) -> None:
    async with instances(own_valkey.url, 3) as together:
        await together.until_joined()
        for window in together.windows:
            assert hits(window, "192.0.2.1", 20) == 20
        await together.until_all_know("192.0.2.1", 60)
        with structlog.testing.capture_logs() as logs:
            own_valkey.kill()
            await together.until_alone()
            await asyncio.sleep(1.5)  # it keeps trying
            for window in together.windows:
                assert hits(window, "192.0.2.1", 100) == 100
                assert hits(window, "192.0.2.2", 300) == 200
            own_valkey.start()
            await together.until_joined()
        assert [each["event"] for each in logs] == ["limits_not_shared"] * 3 + ["limits_shared_again"] * 3
        for window in together.windows:  # no instance learns what the others counted while they were alone
            assert hits(window, "192.0.2.1", 1) == 1
        await together.until_told()
        totals = [window._windows["192.0.2.1"].total for window in together.windows]
        assert all(161 <= total <= 163 for total in totals)
        allowed = await spread(together, "192.0.2.3", [1, 1, 1], per_second=400, total=400)
        assert 200 <= allowed <= 260  # each instance alone would allow all of them


@pytest.mark.parametrize("seconds", [0.2, 2.5])
async def test_a_server_that_hangs_is_not_waited_for(own_valkey: ValkeyServer, seconds: float) -> None:
    async with instances(own_valkey.url, 2) as together:
        await together.until_joined()
        own_valkey.pause()
        try:
            began = time.monotonic()
            while time.monotonic() < began + seconds:
                asked = time.thread_time()
                together.windows[0].hit("192.0.2.1")
                assert time.thread_time() - asked < 0.01
                await asyncio.sleep(0.05)
        finally:
            own_valkey.resume()
        await together.until_joined()
        allowed = await spread(together, "192.0.2.3", [1, 1], per_second=400, total=400)
        assert 200 <= allowed <= 260  # each instance alone would allow all of them
        total = together.windows[0]._windows["192.0.2.1"].total
        assert total <= seconds / 0.05 + 1  # no instance received its own hits as another's


async def test_data_that_is_flushed_is_no_outage_and_no_jump(own_valkey: ValkeyServer) -> None:
    async with instances(own_valkey.url, 2) as together, Valkey.from_url(own_valkey.url) as client:
        await together.until_joined()
        for window in together.windows:
            hits(window, "192.0.2.1", 60)
        await together.until_all_know("192.0.2.1", 120)
        await client.flushall()
        await client.script_flush()
        for window in together.windows:
            assert hits(window, "192.0.2.1", 1) == 1
        await together.until_told()
        for window in together.windows:
            assert 121 <= window._windows["192.0.2.1"].total <= 122
        assert all(share.failures == 0 for share in together.shares)


async def test_a_server_that_refuses_writes_for_lack_of_memory_leaves_local_limits(own_valkey: ValkeyServer) -> None:
    async with instances(own_valkey.url, 2) as together, Valkey.from_url(own_valkey.url) as client:
        await together.until_joined()
        await client.config_set("maxmemory", 1)
        together.windows[0].hit("192.0.2.1")
        await together.until_alone()
        assert hits(together.windows[0], "192.0.2.1", 300) == 199
        await client.config_set("maxmemory", 0)
        await together.until_joined()


async def test_a_wrong_password_leaves_local_limits_and_is_logged_once_without_it() -> None:
    with ValkeyServer("--requirepass", "right") as server, structlog.testing.capture_logs() as logs:
        async with instances(f"valkey://:wrong-one@127.0.0.1:{server.port}/0", 1) as together:
            async with asyncio.timeout(WAIT_SECONDS):
                while together.shares[0].failures < 2:
                    await asyncio.sleep(0.01)
            assert hits(together.windows[0], "192.0.2.1", 300) == 200
        async with instances(f"valkey://:right@127.0.0.1:{server.port}/3", 1) as together:
            await together.until_joined()
    assert [each["event"] for each in logs] == ["limits_not_shared"]
    assert "wrong-one" not in str(logs)
    assert "password" in logs[0]["reason"]


async def test_a_unix_socket_serves_as_well(valkey: ValkeyServer) -> None:
    async with instances(f"unix://{valkey.socket}?db=2", 2, secret="socket") as together:
        await together.until_joined()


async def test_a_flood_of_addresses_holds_the_event_loop_only_for_moments(valkey: ValkeyServer) -> None:
    async with instances(valkey.url, 2, secret="flood") as together:
        await together.until_joined()
        for number in range(200_000):
            together.windows[0].hit(number)
            if not number % 500:
                await asyncio.sleep(0)
        await together.until_joined()
        hits(together.windows[0], "hard", 200)
        longest = 0.0
        with without_collections():  # scanning 200,000 objects takes a while
            for _ in range(200):
                began = time.thread_time()
                await asyncio.sleep(0.002)
                longest = max(longest, time.thread_time() - began)
        together.windows[1].hit("hard")
        await together.until_told()
        assert together.windows[1].hit("hard")  # it is sent before the other keys
        assert together.shares[0].waiting > 100_000
    assert longest < 0.05  # three to five milliseconds on an idle machine


@contextmanager
def without_collections() -> Iterator[None]:
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def hits(window: SlidingWindow, client: Hashable, times: int) -> int:
    return sum(window.hit(client) == 0 for _ in range(times))


@asynccontextmanager
async def tls_in_front_of(server: ValkeyServer, host: str) -> AsyncIterator[str]:
    """The address of a proxy that speaks TLS with a certificate for 127.0.0.1 and localhost."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)

    async def forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with closing(writer):
            while part := await reader.read(65_536):
                writer.write(part)

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        server_reader, server_writer = await asyncio.open_connection("127.0.0.1", server.port)
        await asyncio.gather(forward(reader, server_writer), forward(server_reader, writer), return_exceptions=True)

    async with await asyncio.start_server(accept, host, 0, ssl=context) as proxy:
        yield f"{host}:{proxy.sockets[0].getsockname()[1]}"


@pytest.mark.parametrize(("host", "authorities"), [("127.0.0.1", ""), ("127.0.0.2", f"?ssl_ca_certs={CERTIFICATE}")])
async def test_a_certificate_that_is_not_trusted_or_not_for_the_host_is_refused(
    valkey: ValkeyServer, host: str, authorities: str
) -> None:
    async with tls_in_front_of(valkey, host) as address:
        exchange = ValkeyExchange(f"rediss://{address}/0{authorities}", SECRET)
        with pytest.raises(UnreachableError, match="certificate verify failed"):
            await exchange.join()
        await exchange.disconnect()


async def test_a_trusted_certificate_is_accepted(valkey: ValkeyServer) -> None:
    async with tls_in_front_of(valkey, "127.0.0.1") as address:
        exchange = ValkeyExchange(f"valkeys://{address}/0?ssl_ca_certs={CERTIFICATE}", SECRET)
        await exchange.join()
        await exchange.close()
