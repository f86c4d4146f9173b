"""Evaluate by the fast path and by the route: every case runs against both, and clients see no difference."""

import asyncio
import socket
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.http.connections.protocol import Bounds
from flagstaff.http.nesting import NESTING_MAX
from tests.support.api import Caller, Json
from tests.support.connections import BODY, Answer, Client, Connection, Listener, bare, request

KIB = 1024
HURRIED = Bounds(tick_seconds=0.05, head_ticks=2, body_ticks=2, idle_ticks=20)
# Short deadlines for a client that sends, and long ones for an idle client.
BUSY = replace(HURRIED, idle_ticks=10_000)


@pytest.fixture
def template(sqlite_template: Path) -> Path:
    """SQLite only: these requests do not reach the database."""
    return sqlite_template


@pytest.fixture
def environ() -> dict[str, str]:
    """No limits, except in tests about them."""
    return {"FLAGSTAFF_EVALUATE_RATE_LIMIT": "off", "FLAGSTAFF_API_RATE_LIMIT": "off", "FLAGSTAFF_ACCESS_LOG": "off"}


@pytest.fixture
async def project(ada: Caller) -> Json:
    """A project with one flag in `production`."""
    made = await ada.create_project()
    await ada.create_flag(await ada.get_environment(made))
    return made


@pytest.fixture
async def sdk_key(project: Json, client: Caller) -> bytes:
    """The key of a project that is loaded."""
    assert (await client.evaluate(project["sdk_key"])).status_code == 200
    key: str = project["sdk_key"]
    return key.encode()


def is_on(answer: Answer) -> bool:
    """Return whether an answer is the 200 for `BODY`."""
    return answer.status == 200 and answer.json() == {
        "flags": {"new-checkout": {"enabled": True, "reason": "Flag enabled globally"}}
    }


def nested(levels: int) -> bytes:
    """Return a body of this many objects and lists inside each other."""
    inner = levels - 3
    return b'{"environment":"production","context":{"custom_attributes":{"x":%s}}}' % (b"[" * inner + b"]" * inner)


CHUNKED = b"%x\r\n%s\r\n0\r\n\r\n" % (len(BODY), BODY)
SAME = {
    "a plain one": request,
    "names in lower case": lambda key: request(key).replace(b"X-SDK-Key", b"x-sdk-key"),
    "room around values": lambda key: request(key).replace(b"X-SDK-Key: ", b"X-SDK-Key: \t ").replace(b"r1", b"r1  "),
    "a page's": lambda key: request(key, BODY, b"Origin: https://shop.example"),
    "keep-alive spelt out": lambda key: request(key, BODY, b"Connection: keep-alive"),
    "a last one": lambda key: request(key, BODY, b"Connection: close"),
    "HTTP/1.0": lambda key: request(key, line=b"POST /sdk/v1/evaluate HTTP/1.0"),
    "HTTP/1.0 to be kept alive": lambda key: request(
        key, BODY, b"Connection: keep-alive", line=b"POST /sdk/v1/evaluate HTTP/1.0"
    ),
    "a query": lambda key: request(key, line=b"POST /sdk/v1/evaluate?x=1 HTTP/1.1"),
    "an escaped path": lambda key: request(key, line=b"POST /sdk/v1/%65valuate HTTP/1.1"),
    "a whole address": lambda key: request(key, line=b"POST http://flags/sdk/v1/evaluate HTTP/1.1"),
    "chunks": lambda key: bare(key, b"Transfer-Encoding: chunked", rest=CHUNKED),
    "chunks with a trailer": lambda key: bare(
        key, b"Transfer-Encoding: chunked", rest=CHUNKED[:-2] + b"X-SDK-Key: other\r\n\r\n"
    ),
    "an upgrade": lambda key: request(key, BODY, b"Connection: upgrade", b"Upgrade: h2c"),
    "many headers": lambda key: request(key, BODY, *(b"X-%d: x" % number for number in range(80))),
    "a long header": lambda key: request(key, BODY, b"X: " + b"x" * 20 * KIB),
    "a long body": lambda key: request(key, BODY[:-2] + b',"custom_attributes":{"x":"%s"}}}' % (b"x" * 200 * KIB)),
    "a demand for a revision": lambda key: request(key, BODY, b"Flagstaff-Min-Revision: 1"),
    "a demand for no revision": lambda key: request(key, BODY, b"Flagstaff-Min-Revision: x"),
    "no key": lambda key: request(key).replace(b"X-SDK-Key", b"X-Other-Key"),
    "an empty key": lambda _: request(b""),
    "two keys": lambda key: request(key, BODY, b"X-SDK-Key: other"),
    "an unknown key": lambda _: request(b"sdk_unknown"),
    "a key of strange bytes": lambda _: request(b"\xff\xfe"),
    "an unknown environment": lambda key: request(key, b'{"environment":"nowhere"}'),
    "no body": lambda key: request(key, b""),
    "no body, and no length of it": bare,
    "no JSON": lambda key: request(key, b"{"),
    "no UTF-8": lambda key: request(key, b'{"environment":"\xff"}'),
    "a NUL": lambda key: request(key, BODY.replace(b"ada", b"a\\u0000a")),
    "a lone surrogate": lambda key: request(key, BODY.replace(b"ada", b"a\\ud800a")),
    "deep nesting": lambda key: request(
        key, b'{"environment":"production","context":{"custom_attributes":{"x":' + b"[" * 90_000
    ),
    "nesting up to the bound": lambda key: request(key, nested(NESTING_MAX)),
    "nesting beyond the bound": lambda key: request(key, nested(NESTING_MAX + 1)),
    "a wrong type": lambda key: request(key, BODY.replace(b'"ada"', b"1")),
    "an unknown field": lambda key: request(key, BODY.replace(b"context", b"contxt")),
    "an id that is none": lambda key: request(key).replace(b"X-Request-ID: r1", b"X-Request-ID: <r1>"),
    "another method": lambda key: request(key, line=b"PUT /sdk/v1/evaluate HTTP/1.1"),
    "a preflight": lambda key: bare(
        key,
        b"Origin: https://shop.example",
        b"Access-Control-Request-Method: POST",
        line=b"OPTIONS /sdk/v1/evaluate HTTP/1.1",
    ),
    "too long a body, announced": lambda key: bare(key, b"Content-Length: 262145"),
    "too long a body in chunks": lambda key: bare(
        key, b"Transfer-Encoding: chunked", rest=(b"ffff\r\n" + b"x" * 0xFFFF + b"\r\n") * 5
    ),
    "a length that is none": lambda key: bare(key, b"Content-Length: -1", rest=BODY),
    "a length of too many digits": lambda key: bare(key, b"Content-Length: " + b"9" * 3000, rest=BODY),
    "two lengths": lambda key: request(key, BODY, b"Content-Length: 3"),
    "a length and chunks": lambda key: request(key, CHUNKED, b"Transfer-Encoding: chunked"),
    "a bare line feed": lambda key: request(key).replace(b"\r\n\r\n", b"\n\n"),
    "an end before the end": lambda key: request(key).replace(
        b"Host: flags\r\n", b"Host: flags\r\nContent-Length: 5\r\n\n"
    ),
    "a header that is none": lambda key: request(key, BODY, b"X X: x"),
    "a version that is none": lambda key: request(key, line=b"POST /sdk/v1/evaluate HTTP/1.9"),
    "no HTTP": lambda _: b"\x16\x03\x01\x02\x00\x01\x00\x01",
    "too long an address": lambda key: request(key, line=b"POST /sdk/v1/evaluate?" + b"x" * 8 * KIB + b" HTTP/1.1"),
    "too many headers": lambda key: request(key, BODY, *(b"X-%d: x" % number for number in range(101))),
    "too large a header": lambda key: request(key, BODY, b"X: " + b"x" * 64 * KIB),
}


@pytest.mark.parametrize("case", SAME)
async def test_both_answer_with_the_same_bytes(case: str, fast_path: Listener, route: Listener, sdk_key: bytes) -> None:
    sent = SAME[case](sdk_key)
    answers = []
    for server in (fast_path, route):
        connection = await server.connect()
        await connection.send(sent)
        answer = await connection.receive()
        own_id = (answer.header("x-request-id") or "").encode()
        headers = tuple(pair for pair in answer.headers if pair[0] != "x-request-id" or own_id == b"r1")
        answers.append(replace(answer, headers=headers, body=answer.body.replace(own_id, b"")))
    assert answers[0] == answers[1]
    assert answers[0].status != 500


async def test_the_answer_has_every_header_in_its_place(connection: Connection, sdk_key: bytes) -> None:
    connection.feed(request(sdk_key))
    answer = await connection.receive()
    assert is_on(answer)
    assert answer.headers == (
        ("date", "Fri, 20 Nov 2026 10:00:00 GMT"),
        ("content-type", "application/json"),
        ("content-length", str(len(answer.body))),
        ("flagstaff-revision", "4"),
        ("x-request-id", "r1"),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("access-control-allow-origin", "*"),
        ("access-control-expose-headers", "ETag, Flagstaff-Revision, Flagstaff-Stale, Retry-After, X-Request-ID"),
        ("vary", "Authorization, Origin, X-API-Key, X-SDK-Key"),
        ("cache-control", "no-store"),
    )


async def test_requests_without_an_id_get_one_each(connection: Connection, sdk_key: bytes) -> None:
    anonymous = request(sdk_key).replace(b"X-Request-ID: r1\r\n", b"")
    ids = set()
    for _ in range(3):
        connection.feed(anonymous)
        ids.add((await connection.receive()).header("x-request-id"))
    assert len(ids) == 3
    assert None not in ids


async def test_only_the_fast_path_spares_the_app_a_plain_request(
    fast_path: Listener, route: Listener, sdk_key: bytes
) -> None:
    for server, requests_of_app in ((fast_path, 0), (route, 2)):
        connection = await server.connect()
        for _ in range(2):
            await connection.send(request(sdk_key))
            assert is_on(await connection.receive())
        assert server.requests_of_app == requests_of_app


async def test_a_project_that_is_not_loaded_is_answered_too(connection: Connection, project: Json) -> None:
    connection.feed(request(project["sdk_key"].encode()))
    assert is_on(await connection.receive())


async def test_a_request_may_be_cut_at_any_byte(server: Listener, sdk_key: bytes) -> None:
    whole = request(sdk_key)
    connection = await server.connect()
    for cut in range(1, len(whole)):
        connection.feed(whole[:cut], whole[cut:])
        assert is_on(await connection.receive()), whole[:cut]


async def test_a_request_may_come_byte_by_byte(connection: Connection, sdk_key: bytes) -> None:
    connection.feed(*(bytes((byte,)) for byte in request(sdk_key)))
    assert is_on(await connection.receive())


async def test_a_body_that_comes_later_gets_its_answer(connection: Connection, sdk_key: bytes) -> None:
    head, _, body = request(sdk_key).partition(b"\r\n\r\n")
    connection.feed(head + b"\r\n\r\n")
    await asyncio.sleep(0)
    connection.feed(body)
    assert is_on(await connection.receive())


async def test_a_client_that_expects_a_continue_gets_it(connection: Connection, sdk_key: bytes) -> None:
    head, _, body = request(sdk_key, BODY, b"Expect: 100-continue").partition(b"\r\n\r\n")
    connection.feed(head + b"\r\n\r\n")
    assert (await connection.receive()).status == 100
    connection.feed(body)
    assert is_on(await connection.receive())


async def test_pipelined_requests_are_answered_in_their_order(connection: Connection, sdk_key: bytes) -> None:
    def numbered(number: int) -> bytes:
        kinds = (
            request(sdk_key),
            request(b"sdk_unknown"),
            request(sdk_key, b"", line=b"GET /ready HTTP/1.1"),
            bare(sdk_key, b"Transfer-Encoding: chunked", rest=CHUNKED),
            request(sdk_key, b"{"),
        )
        return kinds[number % len(kinds)].replace(b"r1", b"r%d" % number)

    order = (0, 1, 5, 2, 10, 3, 4, 15, 20, 6, 25, 7, 30, 35)
    await connection.send(b"".join(map(numbered, order)))
    assert [(await connection.receive()).header("x-request-id") for _ in order] == [f"r{number}" for number in order]


async def test_an_answer_waits_for_those_before_it(connection: Connection, sdk_key: bytes) -> None:
    slow = request(sdk_key, b"", line=b"GET /ready HTTP/1.1").replace(b"r1", b"r0")
    connection.feed(slow, request(sdk_key))
    assert [(await connection.receive()).header("x-request-id") for _ in range(2)] == ["r0", "r1"]


async def test_a_rotated_key_ends_a_request_that_is_half_here(
    connection: Connection, sdk_key: bytes, project: Json, ada: Caller
) -> None:
    whole = request(sdk_key)
    connection.feed(whole[:-1])
    await ada.post(f"/api/projects/{project['id']}/regenerate-key")
    connection.feed(whole[-1:])
    assert (await connection.receive()).status == 401


async def test_a_client_that_has_no_more_to_say_gets_its_answer(connection: Connection, sdk_key: bytes) -> None:
    await connection.send(request(sdk_key))
    connection.end()
    assert is_on(await connection.receive())
    assert await connection.receive_rest() == b""


async def test_a_client_that_has_no_more_to_say_gets_an_answer_that_takes_a_load(
    connection: Connection, project: Json
) -> None:
    await connection.send(request(project["sdk_key"].encode()))
    connection.end()
    assert is_on(await connection.receive())
    assert await connection.receive_rest() == b""


async def test_a_request_that_ends_too_soon_is_not_an_evaluation(
    connection: Connection, sdk_key: bytes, flagstaff: Flagstaff
) -> None:
    before = flagstaff.foundation.metrics.evaluate_responses.copy()
    # A whole document has arrived, but not the whole body.
    await connection.send(request(sdk_key, BODY + b"   ")[:-3])
    connection.end()
    assert await connection.receive_rest() == b""
    assert flagstaff.foundation.metrics.evaluate_responses == before


async def test_a_body_in_very_many_chunks_is_refused(connection: Connection, sdk_key: bytes) -> None:
    chunks = b"1\r\n \r\n" * 4_097
    await connection.send(bare(sdk_key, b"Transfer-Encoding: chunked", rest=chunks))
    assert (await connection.receive()).status == 413
    assert await connection.receive_rest() == b""


async def test_a_body_in_many_chunks_is_accepted(connection: Connection, sdk_key: bytes) -> None:
    chunks = b"".join(b"1\r\n%c\r\n" % byte for byte in BODY.ljust(4_096)) + b"0\r\n\r\n"
    await connection.send(bare(sdk_key, b"Transfer-Encoding: chunked", rest=chunks))
    assert is_on(await connection.receive())


@pytest.mark.parametrize("environ", [{"FLAGSTAFF_EVALUATE_RATE_LIMIT": "1/minute"}])
async def test_a_large_body_counts_before_it_is_held(connection: Connection, sdk_key: bytes) -> None:
    await connection.send(request(sdk_key))
    assert (await connection.receive()).status == 200
    await connection.send(request(b"sdk_unknown", b" " * 200 * KIB)[:-1])
    assert (await connection.receive()).status == 429


async def test_a_client_that_does_not_read_fills_no_memory(server: Listener, ada: Caller, project: Json) -> None:
    environment = await ada.get_environment(project)
    for number in range(20):
        await ada.create_flag(environment, key=f"flag-{number}")
    connection = await server.connect()
    connection.stop_reading()
    for _ in range(200):
        if connection.server.flow.read_paused:
            break  # the network would delay the rest
        connection.feed(request(project["sdk_key"].encode()) * 30)
        await asyncio.sleep(0)
    assert connection.server.flow.read_paused
    assert connection.server.transport.get_write_buffer_size() < 512 * KIB


@pytest.mark.parametrize("environ", [{"FLAGSTAFF_EVALUATE_RATE_LIMIT": "4/minute"}])
async def test_both_count_against_one_limit(fast_path: Listener, route: Listener, project: Json) -> None:
    statuses = []
    for server in (fast_path, route, fast_path, route, fast_path, route):
        connection = await server.connect()
        await connection.send(request(project["sdk_key"].encode()))
        answer = await connection.receive()
        statuses.append(answer.status)
        assert (answer.header("retry-after") is not None) == (answer.status == 429)
    assert statuses == [200, 200, 200, 200, 429, 429]


@pytest.mark.parametrize(
    "environ", [{"FLAGSTAFF_EVALUATE_RATE_LIMIT": "1/minute", "FLAGSTAFF_TRUSTED_PROXIES": "127.0.0.0/8"}]
)
async def test_behind_a_proxy_each_client_has_its_own_limit(connection: Connection, sdk_key: bytes) -> None:
    statuses = []
    for client in (b"198.51.100.1", b"198.51.100.2", b"198.51.100.1", b"9.9.9.9, 198.51.100.3"):
        connection.feed(request(sdk_key, BODY, b"X-Forwarded-For: " + client))
        statuses.append((await connection.receive()).status)
    assert statuses == [200, 200, 429, 200]


async def test_answers_are_counted_by_status(connection: Connection, sdk_key: bytes, flagstaff: Flagstaff) -> None:
    before = Counter(flagstaff.foundation.metrics.evaluate_responses)
    for body in (BODY, b"{", BODY, b'{"environment":"nowhere"}'):
        connection.feed(request(sdk_key, body))
        await connection.receive()
    assert Counter(flagstaff.foundation.metrics.evaluate_responses) - before == {200: 2, 400: 1, 404: 1}


async def test_something_unforeseen_is_a_500_in_one_shape(
    connection: Connection, sdk_key: bytes, flagstaff: Flagstaff
) -> None:
    flagstaff.serving.sdk_keys.known[sdk_key.decode()] = "no access"  # type: ignore[assignment]
    connection.feed(request(sdk_key))
    answer = await connection.receive()
    assert answer.status == 500
    assert answer.json()["request_id"] == "r1"


async def test_a_stop_closes_idle_connections(connection: Connection, server: Listener, sdk_key: bytes) -> None:
    connection.feed(request(sdk_key))
    await connection.receive()
    server.shut_down()
    assert await connection.receive_rest() == b""


async def test_a_stop_answers_a_request_that_has_arrived_and_that_nobody_has_read(
    connection: Connection, server: Listener, sdk_key: bytes, flagstaff: Flagstaff
) -> None:
    connection.server.transport.pause_reading()
    await connection.send(request(sdk_key))
    flagstaff.begin_drain()
    server.shut_down()
    connection.server.transport.resume_reading()
    answer = await connection.receive()
    assert is_on(answer)
    assert answer.header("connection") == "close"
    assert await connection.receive_rest() == b""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems cannot do this")
async def test_a_port_that_closes_serves_the_connections_that_wait_and_begins_no_others(
    server: Listener, sdk_key: bytes, flagstaff: Flagstaff
) -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    listener.setblocking(False)
    port = listener.getsockname()[1]
    acceptor = flagstaff.edge.make_acceptor(listener, server.accept)  # type: ignore[arg-type]
    async with await Client.connect(port) as waiting:
        await acceptor.finish()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await Client.connect(port)
        acceptor.close()
        await acceptor.wait_closed()
        with pytest.raises(ConnectionRefusedError):
            await Client.connect(port)
        await waiting.send(request(sdk_key))
        assert is_on(await waiting.receive())


async def test_a_stop_waits_for_a_request_that_has_begun(
    connection: Connection, server: Listener, sdk_key: bytes
) -> None:
    whole = request(sdk_key)
    connection.feed(whole[:-1])
    server.shut_down()
    connection.feed(whole[-1:])
    answer = await connection.receive()
    assert is_on(answer)
    assert answer.header("connection") == "close"
    assert await connection.receive_rest() == b""


@pytest.mark.parametrize("bounds", [BUSY], ids=["busy"])
class TestSlowClients:
    """Tests of deadlines, with a clock that runs fast."""

    async def test_a_connection_that_says_nothing_is_closed(self, connection: Connection) -> None:
        assert await connection.receive_rest() == b""

    async def test_a_head_that_does_not_end_is_refused(self, server: Listener, sdk_key: bytes) -> None:
        connection = await server.connect()
        connection.feed(request(sdk_key)[:40])
        await assert_refused(connection, 408)

    async def test_a_body_that_does_not_end_is_refused(self, server: Listener, sdk_key: bytes) -> None:
        connection = await server.connect()
        connection.feed(request(sdk_key)[:-1])
        await assert_refused(connection, 408)

    async def test_chunks_that_do_not_end_are_refused(self, server: Listener, sdk_key: bytes) -> None:
        connection = await server.connect()
        connection.feed(bare(sdk_key, b"Transfer-Encoding: chunked", rest=CHUNKED[:-5]))
        await assert_refused(connection, 408)

    async def test_the_second_request_may_not_be_slow_either(self, server: Listener, sdk_key: bytes) -> None:
        connection = await server.connect()
        connection.feed(request(sdk_key), request(sdk_key)[:-1])
        assert is_on(await connection.receive())
        await assert_refused(connection, 408)

    async def test_a_body_that_was_refused_must_end_as_well(self, server: Listener, sdk_key: bytes) -> None:
        connection = await server.connect()
        connection.feed(bare(sdk_key, b"Content-Length: 999999999"))
        assert (await connection.receive()).status == 413
        assert await connection.receive_rest() == b""


@pytest.mark.parametrize("bounds", [HURRIED], ids=["hurried"])
async def test_an_idle_connection_is_closed(server: Listener, sdk_key: bytes) -> None:
    connection = await server.connect()
    connection.feed(request(sdk_key))
    assert is_on(await connection.receive())
    assert await connection.receive_rest() == b""


@pytest.mark.parametrize("bounds", [HURRIED], ids=["hurried"])
async def test_a_client_that_never_reads_is_left(server: Listener, sdk_key: bytes) -> None:
    connection = await server.connect()
    connection.stop_reading()
    async with asyncio.timeout(30):
        while not connection.server.flow.write_paused:
            if not connection.server.pipeline:
                connection.feed(request(sdk_key) * 30)
            await asyncio.sleep(0)
        while server.state.connections:
            await asyncio.sleep(0.001)


async def test_a_head_without_an_end_is_refused_at_the_bound(connection: Connection, sdk_key: bytes) -> None:
    connection.feed(request(sdk_key)[:40])
    for _ in range(70):
        if not connection.server.transport.is_closing():
            connection.feed(b"x" * KIB)
    await assert_refused(connection, 431)


async def test_a_trailer_without_an_end_is_refused_at_the_bound(connection: Connection, sdk_key: bytes) -> None:
    connection.feed(bare(sdk_key, b"Transfer-Encoding: chunked", rest=CHUNKED[:-2] + b"X: "))
    for _ in range(70):
        if not connection.server.transport.is_closing():
            connection.feed(b"x" * KIB)
    await assert_refused(connection, 431)


async def test_what_is_refused_does_not_cut_the_answer_before_it(connection: Connection, sdk_key: bytes) -> None:
    connection.feed(request(sdk_key, b"", line=b"GET /ready HTTP/1.1") + b"\x16\x03\x01")
    answer = await connection.receive()
    assert answer.status == 200
    assert await connection.receive_rest() == b""


async def assert_refused(connection: Connection, status: int) -> None:
    """Assert a problem document, and the end of the connection."""
    answer = await connection.receive()
    assert answer.status == status
    assert answer.header("content-type") == "application/problem+json"
    assert answer.header("connection") == "close"
    assert answer.json()["request_id"] == answer.header("x-request-id")
    assert await connection.receive_rest() == b""


OFFERS = {
    "with a length": lambda key: request(key, BODY, b"Connection: Upgrade", b"Upgrade: h2c"),
    "in chunks": lambda key: bare(
        key, b"Connection: Upgrade", b"Upgrade: h2c", b"Transfer-Encoding: chunked", rest=CHUNKED
    ),
}


@pytest.mark.parametrize("offer", OFFERS)
async def test_a_request_that_offers_a_protocol_may_be_cut_at_any_byte(
    server: Listener, sdk_key: bytes, offer: str
) -> None:
    whole = OFFERS[offer](sdk_key)
    connection = await server.connect()
    for cut in range(1, len(whole)):
        connection.feed(whole[:cut], whole[cut:])
        assert is_on(await connection.receive()), whole[:cut]
    assert not connection.server.pipeline
