"""Requests to upgrade to another protocol get ordinary responses, and nothing in their bodies is read as a request."""

from collections.abc import AsyncIterator, Iterator
from itertools import product
from pathlib import Path

import pytest

from tests.support.connections import Answer, Client
from tests.support.nginx import Nginx
from tests.support.server import ServerProcess
from tests.support.stores import Store, sqlite_store

CREDENTIALS = b'{"email":"ada@example.com","password":"correct horse battery staple"}'
SMUGGLED = (
    b"POST /auth/register HTTP/1.1\r\nHost: flags\r\nX-Forwarded-For: 203.0.113.66\r\nX-Request-ID: smuggled\r\n"
    b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(CREDENTIALS), CREDENTIALS)
)
# Java's HttpClient sends this with every request over plain HTTP.
JAVA = (
    b"Connection: Upgrade, HTTP2-Settings",
    b"HTTP2-Settings: AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA",
    b"Upgrade: h2c",
)
OFFERS = {
    "java": JAVA,
    "websocket": (b"Connection: upgrade", b"Upgrade: websocket", b"Sec-WebSocket-Version: 13"),
    "anything": (b"Upgrade: x", b"Connection: UPGRADE"),
    "twice": (b"Upgrade: x", b"Upgrade: y", b"Connection: x", b"Connection: upgrade"),
}
# Longer than what servers and proxies read at once, so that the request arrives in a separate read.
PADDINGS = {"at once": 0, "in later reads": 200_000, "in a body that is too large": 300_000}


@pytest.fixture
def store(sqlite_template: Path, data_directory: Path) -> Store:
    """A SQLite database: these requests do not reach it."""
    return sqlite_store(sqlite_template, data_directory)


@pytest.fixture
async def server(store: Store) -> AsyncIterator[ServerProcess]:
    """A server behind a proxy that it trusts."""
    async with ServerProcess(store, {"FLAGSTAFF_TRUSTED_PROXIES": "127.0.0.1"}) as process:
        yield process


@pytest.fixture
async def nginx(server: ServerProcess, tmp_path: Path) -> AsyncIterator[Nginx]:
    """An nginx in front of the server, with the usual lines for WebSockets."""
    folder = tmp_path / "nginx"
    folder.mkdir()
    async with Nginx(folder, server.port) as proxy:
        yield proxy


def head(line: bytes, *headers: bytes) -> bytes:
    return b"\r\n".join((line, b"Host: flags", *headers, b"", b""))


def with_length(line: bytes, body: bytes, *headers: bytes) -> bytes:
    return head(line, *headers, b"Content-Type: application/json", b"Content-Length: %d" % len(body)) + body


def in_chunks(line: bytes, body: bytes, *headers: bytes) -> bytes:
    chunks = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
    return head(line, *headers, b"Content-Type: application/json", b"Transfer-Encoding: chunked") + chunks


FRAMINGS = {"with a length": with_length, "in chunks": in_chunks}
LAST = head(b"GET /health HTTP/1.1", b"X-Request-ID: last", b"Connection: close")


async def answers(port: int, sent: bytes) -> list[Answer]:
    """Return every response on a connection, up to the response to `LAST`."""
    received: list[Answer] = []
    async with await Client.connect(port) as client:
        await client.send(sent)
        while not received or received[-1].header("x-request-id") != "last":
            received.append(await client.receive())
        assert await client.receive_rest() == b""
    return received


def assert_nobody_registered(server: ServerProcess) -> None:
    assert '"path": "/auth/register"' not in server.log
    assert "smuggled" not in server.log
    assert "203.0.113.66" not in server.log


def smuggling(*paths: bytes) -> Iterator[bytes]:
    """Yield every way to hide a request in a body, on a connection that ends with `LAST`."""
    for framing, padding, offer in product(FRAMINGS.values(), PADDINGS.values(), OFFERS.values()):
        for path in paths:
            yield framing(b"POST " + path + b" HTTP/1.1", b" " * padding + SMUGGLED, *offer) + LAST


async def test_a_request_in_a_body_is_part_of_the_body(server: ServerProcess) -> None:
    for sent in smuggling(b"/auth/login", b"/sdk/v1/evaluate", b"/nowhere"):
        assert len(await answers(server.port, sent)) == 2, sent[:300]
    assert_nobody_registered(server)


async def test_a_proxys_rule_cannot_be_passed_in_a_body(server: ServerProcess, nginx: Nginx) -> None:
    async with await Client.connect(nginx.port) as client:
        await client.send(SMUGGLED)
        assert (await client.receive()).status == 403
    for sent in smuggling(b"/auth/login"):
        assert len(await answers(nginx.port, sent)) == 2, sent[:300]
    assert_nobody_registered(server)


async def test_an_offer_is_ignored_and_the_connection_continues(server: ServerProcess, nginx: Nginx) -> None:
    async with await Client.connect(server.port) as client:
        await client.send(with_length(b"POST /auth/register HTTP/1.1", CREDENTIALS, *JAVA))
        assert (await client.receive()).status == 201
    for port in (server.port, nginx.port):
        async with await Client.connect(port) as client:
            for framing in FRAMINGS.values():
                await client.send(head(b"GET /health HTTP/1.1", *JAVA))
                assert (await client.receive()).status == 200
                await client.send(framing(b"POST /auth/login HTTP/1.1", CREDENTIALS, *JAVA))
                assert "token" in (await client.receive()).json()


async def test_a_body_that_waits_for_a_continue_is_a_body(server: ServerProcess) -> None:
    whole = with_length(b"POST /auth/register HTTP/1.1", CREDENTIALS, b"Expect: 100-continue", *JAVA)
    async with await Client.connect(server.port) as client:
        await client.send(whole.removesuffix(CREDENTIALS))
        assert (await client.receive()).status == 100
        await client.send(CREDENTIALS)
        assert (await client.receive()).status == 201


async def test_pipelined_offers_are_answered_in_their_order(server: ServerProcess) -> None:
    numbered = [
        FRAMINGS[framing](b"POST /nowhere HTTP/1.1", SMUGGLED, *OFFERS[offer], b"X-Request-ID: r%d" % number)
        for number, (framing, offer) in enumerate((framing, offer) for framing in FRAMINGS for offer in OFFERS)
    ]
    received = await answers(server.port, b"".join(numbered) + LAST)
    assert [answer.header("x-request-id") for answer in received] == [*(f"r{each}" for each in range(8)), "last"]
    assert_nobody_registered(server)


async def test_an_older_version_gets_one_answer_whatever_follows(server: ServerProcess) -> None:
    for framing in FRAMINGS.values():
        async with await Client.connect(server.port) as client:
            await client.send(framing(b"POST /nowhere HTTP/1.0", SMUGGLED, *OFFERS["anything"]) + SMUGGLED)
            assert (await client.receive()).status == 404
            assert await client.receive_rest() == b""
    assert_nobody_registered(server)


async def test_a_tunnel_and_another_protocol_are_refused_with_what_follows(server: ServerProcess) -> None:
    for sent, status in (
        (b"CONNECT flags:80 HTTP/1.1\r\nHost: flags:80\r\n\r\n", 501),
        (b"CONNECT /auth/login HTTP/1.1\r\nHost: flags\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n", 501),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
        (b"GET /health HTTP/2.0\r\nHost: flags\r\n\r\n", 505),
        (b"GET /health\r\n\r\n", 505),
    ):
        async with await Client.connect(server.port) as client:
            await client.send(sent + SMUGGLED)
            assert (await client.receive()).status == status, sent
            assert await client.receive_rest() == b""
    assert_nobody_registered(server)
