"""Malformed requests, as bytes to a real server: each gets one answer, and the log names the sender."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.connections import Answer, Client
from tests.support.remote import RemoteCaller
from tests.support.server import ServerProcess
from tests.support.stores import Store, sqlite_store

LINE = b"GET /api/me HTTP/1.1"
KIB = 1024
PATIENCE_SECONDS = 20

# Lines that follow `Host` and `Authorization` in the head of a signed-in GET, and the status of the response.
ODD_HEADERS: list[tuple[list[bytes], int]] = [
    ([b"Accept: application/xml"], 200),
    ([b"Accept: \xff"], 200),
    ([b"Accept-Language: " + b"x" * 8_000], 200),
    ([b"Content-Encoding: gzip"], 200),
    ([b"Range: bytes=0-0"], 200),
    ([b"If-None-Match: *"], 200),
    ([b"Cookie: =;=;="], 200),
    ([b"Origin: \x80\xff"], 200),
    ([b"X-Forwarded-For: " + b"x" * 8_000], 200),
    ([b"X-Forwarded-For: " + b",".join([b"10.0.0.1"] * 1_000)], 200),
    ([b"X-Forwarded-Host: evil.example"], 200),
    ([b"X-Request-ID: a", b"X-Request-ID: b"], 200),
    ([b"Content-Type: application/json; charset=utf-7", b"Content-Type: text/plain"], 200),
    ([b"Content-Length: 0"], 200),
    ([b"Content-Length: " + b"0" * 5_000], 200),
    ([b"Content-Length: " + b"0" * 5_000 + b"999999"], 413),
    ([b"Content-Length: 9999999999999999999"], 413),
    ([b"Content-Length: 99999999999999999999"], 400),
    ([b"Content-Length: x"], 400),
    ([b"Content-Length: -1"], 400),
    ([b"Content-Length: +1"], 400),
    ([b"Content-Length: 1,1"], 400),
    ([b"Content-Length:"], 400),
    ([b"Content-Length: 0", b"Content-Length: 0"], 400),
    ([b"Content-Length: 5", b"Transfer-Encoding: chunked"], 400),
    ([b"Transfer-Encoding: gzip"], 501),
    ([b"Transfer-Encoding: identity"], 501),
    ([b"Transfer-Encoding: xchunked"], 501),
    ([b"Transfer-Encoding: gzip, chunked"], 501),
    ([b"Transfer-Encoding: chunked, gzip"], 400),
    ([b"Transfer-Encoding: chunked", b"Transfer-Encoding: chunked"], 400),
    ([b"Transfer-Encoding: \x0bchunked"], 400),
    ([b"Transfer-Encoding : chunked"], 400),
    ([b"Host: flags"], 400),
    ([b"Host: evil.example"], 400),
    ([b"X: folded", b" over two lines"], 400),
    ([b"X: a\0b"], 400),
    ([b"X: a\rb"], 400),
    ([b"X: a\nY: b"], 400),
    ([b": no name"], 400),
    ([b"a name: with a blank"], 400),
    ([b"no colon"], 400),
    ([b"X-%d: x" % number for number in range(98)], 200),
    ([b"X-%d: x" % number for number in range(99)], 431),
    ([b"X: " + b"x" * 64 * KIB], 431),
]
# Complete heads without a token.
ODD_HEADS: list[tuple[bytes, int]] = [
    (b"GET /health HTTP/1.1\r\nHost: [::1]:8000", 200),
    (b"GET /health HTTP/1.1\r\nHost:", 200),
    (b"GET /health HTTP/1.0", 200),
    (b"GET http://flags/health HTTP/1.1\r\nHost: other", 200),
    (b"\r\n\r\nGET /health HTTP/1.1\r\nHost: flags", 200),
    (b"GET /health HTTP/1.1", 400),
    (b"GET /health HTTP/1.0\r\nHost: a\r\nHost: b", 400),
    (b"GET /health HTTP/1.1\r\nHost: a b", 400),
    (b"GET /health HTTP/1.1\r\nHost: a/b", 400),
    (b"GET /health HTTP/1.1\r\nHost: a@b", 400),
    (b"GET /health HTTP/1.1\r\nHost: \xff", 400),
    (b"GET /health HTTP/1.1\r\n Host: flags", 400),
    (b"GET  /health HTTP/1.1\r\nHost: flags", 200),
    (b"GET /health HTTP/1.1 \r\nHost: flags", 400),
    (b"GET /he\0alth HTTP/1.1\r\nHost: flags", 400),
    (b"GET /health\xff HTTP/1.1\r\nHost: flags", 400),
    (b"GET health HTTP/1.1\r\nHost: flags", 400),
    (b"GET /health HTTP/1.1\nHost: flags\n", 400),
    (b"GET /health HTTP/1.2\r\nHost: flags", 400),
    (b"GET /health HTTP/2.0\r\nHost: flags", 505),
    (b"get /health HTTP/1.1\r\nHost: flags", 400),
    (b"BREW /health HTTP/1.1\r\nHost: flags", 400),
    (b"QUERY /health HTTP/1.1\r\nHost: flags", 405),
    (b"CONNECT flags:443 HTTP/1.1\r\nHost: flags", 501),
    (b"GET /" + b"x" * 9 * KIB + b" HTTP/1.1\r\nHost: flags", 414),
    (b"\x16\x03\x01\x02\x00\x01\x00\x01", 400),
]
ODD_CHUNKS: list[bytes] = [
    b"5\nhello\n0\n\n",
    b"5 \r\nhello\r\n0\r\n\r\n",
    b"+5\r\nhello\r\n0\r\n\r\n",
    b"0x5\r\nhello\r\n0\r\n\r\n",
    b"5\r\nhello0\r\n\r\n",
    b"5\r\nhelloworld\r\n0\r\n\r\n",
    b"FFFFFFFFFFFFFFFFF\r\nhello\r\n0\r\n\r\n",
    b"5;a\rb\r\nhello\r\n0\r\n\r\n",
    b"0\r\nContent-Length: 5\r\n\r\n",
    b"0\r\nno colon\r\n\r\n",
]


@pytest.fixture
def environ() -> dict[str, str]:
    """The settings that a test chooses."""
    return {}


@pytest.fixture
async def server(sqlite_template: Path, data_directory: Path, environ: dict[str, str]) -> AsyncIterator[ServerProcess]:
    """A server on one kind of database, which is enough here."""
    store: Store = sqlite_store(sqlite_template, data_directory)
    async with ServerProcess(store, environ) as process:
        yield process


@pytest.fixture
async def token(server: ServerProcess) -> bytes:
    """Ada's token."""
    async with RemoteCaller(server.url) as caller:
        await caller.sign_up()
        return caller.headers["authorization"].encode()


async def ask(server: ServerProcess, *lines: bytes, rest: bytes = b"") -> Answer:
    """Return the answer to one request."""
    async with await Client.connect(server.port) as client:
        await client.send(b"\r\n".join((*lines, b"", rest)))
        answer = await client.receive()
    if answer.status >= 400:
        assert answer.header("content-type") == "application/problem+json"
        assert answer.header("cache-control") == "no-store"
        assert answer.json()["request_id"] == answer.header("x-request-id")
    return answer


def entries(server: ServerProcess, event: str) -> list[dict[str, Any]]:
    """Return the log entries with this name."""
    logged = [json.loads(line) for line in server.log.splitlines() if line.startswith("{")]
    return [entry for entry in logged if entry["event"] == event]


async def metrics(server: ServerProcess) -> str:
    return (await ask(server, b"GET /metrics HTTP/1.1", b"Host: flags")).body.decode()


async def test_each_odd_header_has_one_answer(server: ServerProcess, token: bytes) -> None:
    for lines, status in ODD_HEADERS:
        answer = await ask(server, LINE, b"Host: flags", b"Authorization: " + token, *lines)
        assert answer.status == status, (lines[0][:60], answer.body)


async def test_each_odd_head_has_one_answer(server: ServerProcess) -> None:
    for head, status in ODD_HEADS:
        answer = await ask(server, head)
        assert answer.status == status, (head[:60], answer.body)


async def test_chunks_that_are_not_to_the_letter_are_refused_and_change_nothing(
    server: ServerProcess, token: bytes
) -> None:
    head = (b"POST /api/projects HTTP/1.1", b"Host: flags", b"Authorization: " + token)
    lines = (*head, b"Content-Type: application/json", b"Transfer-Encoding: chunked")
    for chunks in ODD_CHUNKS:
        assert (await ask(server, *lines, rest=chunks)).status == 400, chunks
    listed = await ask(server, b"GET /api/projects HTTP/1.1", b"Host: flags", b"Authorization: " + token)
    assert listed.json() == []


async def test_a_refused_head_starts_no_request(server: ServerProcess, token: bytes) -> None:
    created = b'{"name":"x"}'
    for line, status in ((b"Transfer-Encoding: identity", 501), (b"Host: other", 400)):
        lines = (b"POST /api/projects HTTP/1.1", b"Host: flags", b"Authorization: " + token, line)
        answer = await ask(server, *lines, b"Content-Type: application/json", rest=created)
        assert answer.status == status, line
    assert not [entry for entry in entries(server, "request") if entry["path"] == "/api/projects"]


@pytest.mark.parametrize("environ", [{"FLAGSTAFF_TRUSTED_PROXIES": "127.0.0.1"}])
async def test_trailers_do_not_identify_the_caller(server: ServerProcess, token: bytes) -> None:
    chunks = b"2\r\n{}\r\n0\r\nAuthorization: %s\r\nX-Forwarded-For: 203.0.113.66\r\nX-SDK-Key: x\r\n\r\n" % token
    for path in (b"/api/me", b"/api/projects", b"/sdk/v1/evaluate"):
        lines = (b"POST %s HTTP/1.1" % path, b"Host: flags", b"Transfer-Encoding: chunked")
        # The application receives the request in one read, including its trailers.
        assert (await ask(server, *lines, rest=chunks)).status == 401, path
    assert "203.0.113.66" not in server.log
    many = b"2\r\n{}\r\n0\r\n" + b"X: x\r\n" * 200 + b"\r\n"
    async with await Client.connect(server.port) as client:
        await client.send(b"POST /nowhere HTTP/1.1\r\nHost: flags\r\nTransfer-Encoding: chunked\r\n\r\n" + many)
        await client.receive_rest()
    assert 'flagstaff_protocol_refusals_total{status="431"} 1.0' in await metrics(server)


@pytest.mark.parametrize("environ", [{"FLAGSTAFF_TRUSTED_PROXIES": "127.0.0.1"}])
async def test_the_log_names_the_client_behind_a_proxy_and_the_proxy(server: ServerProcess) -> None:
    forwarded = b"X-Forwarded-For: 8.8.8.8, 2001:db8::7"
    await ask(server, b"GET /nowhere HTTP/1.1", b"Host: flags", forwarded)
    await ask(server, b"GET /nowhere HTTP/1.1", b"Host: flags", forwarded, b"Host: two")
    (request,) = (entry for entry in entries(server, "request") if entry["path"] == "/nowhere")
    (refusal,) = entries(server, "request_refused")
    assert {entry["client"] for entry in (request, refusal)} == {"2001:db8::7"}
    assert {entry["peer"] for entry in (request, refusal)} == {"127.0.0.1"}


async def test_refusals_of_the_protocol_are_counted_and_a_flood_of_them_does_not_fill_the_log(
    server: ServerProcess,
) -> None:
    for _ in range(200):
        assert (await ask(server, b"no HTTP")).status == 400
    assert 'flagstaff_protocol_refusals_total{status="400"} 200.0' in await metrics(server)
    logged = entries(server, "request_refused")
    assert 1 <= len(logged) <= 60
    assert {(entry["status"], entry["client"]) for entry in logged} == {(400, "127.0.0.1")}
    assert "Invalid HTTP request received" not in server.log


async def test_a_client_that_leaves_is_not_a_failure(server: ServerProcess, token: bytes) -> None:
    head = b"Host: flags\r\nAuthorization: %s\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n" % token
    for path in (b"/api/projects", b"/auth/login", b"/sdk/v1/evaluate"):
        async with await Client.connect(server.port) as client:
            await client.send(b"POST %s HTTP/1.1\r\n" % path + head + b'{"name":')
    async with asyncio.timeout(PATIENCE_SECONDS):
        while "flagstaff_connections 1.0" not in await metrics(server):
            await asyncio.sleep(0.01)
    for event in ("request_failed", "Exception in ASGI application\n"):
        assert entries(server, event) == []
    assert '"level": "error"' not in server.log
