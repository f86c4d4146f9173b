"""Events of metrics by the fast path and by the route: each case runs against both, and clients see no difference."""

import json
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.projects.sdk_keys import KeyKind
from tests.support.api import Caller, Json
from tests.support.connections import Answer, Listener
from tests.support.releases import create_metric, list_stored, until_stored
from tests.support.sdk_keys import KeyMaker, create_key

PATH = b"/sdk/v1/events"


@pytest.fixture
def template(sqlite_template: Path) -> Path:
    """SQLite only: the answer comes before the database is used."""
    return sqlite_template


@pytest.fixture
def environ() -> dict[str, str]:
    """No limits, except in tests about them."""
    return {"FLAGSTAFF_EVALUATE_RATE_LIMIT": "off", "FLAGSTAFF_ACCESS_LOG": "off"}


@pytest.fixture
async def project(ada: Caller) -> Json:
    """A project with a metric of each kind."""
    made = await ada.create_project()
    await create_metric(ada, made)
    await create_metric(ada, made, key="latency", kind="value")
    return made


@pytest.fixture
async def sdk_key(client: Caller, project: Json) -> bytes:
    """The key of a project that is loaded."""
    assert (await client.evaluate(project["sdk_key"])).status_code == 200
    key: str = project["sdk_key"]
    return key.encode()


def body(*events: object, environment: str = "production") -> bytes:
    return json.dumps({"environment": environment, "events": events}).encode()


def with_key(key: bytes) -> bytes:
    return json.dumps({**json.loads(body(event())), "sdk_key": key.decode()}).encode()


def event(**values: object) -> Json:
    return {"metric": "errors", "user_id": "ada", **values}


def request(key: bytes, content: bytes = b"", *headers: bytes, line: bytes = b"POST %b HTTP/1.1" % PATH) -> bytes:
    content = content or body(event())
    lines = (line, b"Host: flags", b"X-Request-ID: r1", *headers, b"X-SDK-Key: " + key)
    return b"\r\n".join((*lines, b"Content-Length: %d" % len(content), b"", content))


TOO_OLD = (datetime.now(UTC) - timedelta(days=2)).isoformat()
SAME: dict[str, Callable[[bytes], bytes]] = {
    "a plain one": request,
    "none": lambda key: request(key, body()),
    "many": lambda key: request(key, body(*(event(user_id=f"u-{number}") for number in range(1_000)))),
    "more than are taken at once": lambda key: request(key, body(*(event(user_id="u" * 900) for _ in range(250)))),
    "too many": lambda key: request(key, body(*(event() for _ in range(1_001)))),
    "a value": lambda key: request(key, body(event(metric="latency", value=12.5))),
    "ignored ones": lambda key: request(
        key,
        body(
            event(metric="unknown"),
            event(value=1),
            event(metric="latency"),
            event(user_id=None),
            event(at=TOO_OLD),
            event(id="x" * 256),
            event(user_id="x" * 1_025),
            event(),
        ),
    ),
    "an escape": lambda key: request(key, body(event(user_id="Zoë"))),
    "a NUL": lambda key: request(key, body(event(user_id="a\0"))),
    "a lone surrogate": lambda key: request(key, body(event(user_id="\ud800"))),
    "a page's": lambda key: request(key, b"", b"Origin: https://shop.example"),
    "a last one": lambda key: request(key, b"", b"Connection: close"),
    "an unknown environment": lambda key: request(key, body(event(), environment="nowhere")),
    "an unknown key": lambda _: request(b"sdk_unknown"),
    "no JSON": lambda key: request(key, b"{"),
    "no UTF-8": lambda key: request(key, b'{"environment":"production","events":[{"metric":"\xff"}]}'),
    "a wrong type": lambda key: request(key, body(event(user_id=7))),
    "an unknown field": lambda key: request(key, body(event(other=7))),
    "deep nesting": lambda key: request(key, b'{"environment":' + b"[" * 10_000),
    "another method": lambda key: request(key, line=b"PUT %b HTTP/1.1" % PATH),
    "a query": lambda key: request(key, line=b"POST %b?x=1 HTTP/1.1" % PATH),
    "the same key in the body": lambda key: request(key, with_key(key)),
    "another key in the body": lambda key: request(key, with_key(b"sdk_other")),
    "a key in the body only": lambda key: request(b"", with_key(key)),
    "no valid key in the body": lambda _: request(b"", with_key(b"sdk_unknown")),
    "another path": lambda key: request(key, line=b"POST %b/x HTTP/1.1" % PATH),
}


@pytest.mark.parametrize("case", SAME)
async def test_both_answer_with_the_same_bytes_and_record_the_same(
    case: str, fast_path: Listener, route: Listener, sdk_key: bytes, flagstaff: Flagstaff
) -> None:
    answers, stored = [], []
    for server in (fast_path, route):
        connection = await server.connect()
        await connection.send(SAME[case](sdk_key))
        answers.append(await connection.receive())
        await until_stored(flagstaff)
        stored.append(await list_stored(flagstaff.database))
    assert answers[0] == answers[1]
    assert answers[0].status != 500
    assert [each[:2] + each[3:5] for each in stored[1]] == [each[:2] + each[3:5] for each in stored[0] * 2]


async def test_both_record_that_a_key_is_a_pages(
    fast_path: Listener, route: Listener, sdk_key: bytes, ada: Caller, project: Json, flagstaff: Flagstaff
) -> None:
    browser_key = (await create_key(ada, project, kind="browser"))["key"].encode()
    for server in (fast_path, route):
        connection = await server.connect()
        for key in (browser_key, browser_key, sdk_key):  # the first use of a key is never answered at once
            await connection.send(request(key))
            assert accepted(await connection.receive()) == 1
    await until_stored(flagstaff)
    kinds = Counter(each.key_kind for each in await list_stored(flagstaff.database))
    assert (fast_path.requests_of_app, kinds) == (1, {KeyKind.BROWSER: 4, KeyKind.SERVER: 2})


async def test_only_the_fast_path_spares_the_app_a_plain_request_and_both_are_counted(
    fast_path: Listener, route: Listener, sdk_key: bytes, flagstaff: Flagstaff
) -> None:
    for server, requests_of_app in ((fast_path, 0), (route, 3)):
        connection = await server.connect()
        for _ in range(3):
            await connection.send(request(sdk_key))
            assert accepted(await connection.receive()) == 1
        assert server.requests_of_app == requests_of_app
    assert flagstaff.foundation.metrics.event_responses == {202: 6}


def accepted(answer: Answer) -> int:
    assert answer.status == 202
    number: int = answer.json()["accepted"]
    return number


async def test_events_that_may_count_for_several_units_are_left_to_the_route(
    fast_path: Listener, sdk_key: bytes, ada: Caller, project: Json, keys: KeyMaker, flagstaff: Flagstaff
) -> None:
    environment = await ada.get_environment(project)
    other = await ada.get_environment(project, "staging")
    await ada.create_flag(environment, rollout_percentage=50, stickiness="company")
    own, of_other = (await keys.create(environment)).encode(), (await keys.create(other)).encode()
    connection = await fast_path.connect()
    for key, content in ((own, b""), (sdk_key, b""), (of_other, body(event(), environment="staging"))):
        for _ in range(2):  # the route answers the first use of a key
            await connection.send(request(key, content))
            assert accepted(await connection.receive()) == 1
    assert fast_path.requests_of_app == 5
    await until_stored(flagstaff)
    assert len(await list_stored(flagstaff.database)) == 6


async def test_more_than_250_events_are_left_to_the_route(fast_path: Listener, sdk_key: bytes) -> None:
    connection = await fast_path.connect()
    for count in (250, 251):
        small = [{"metric": "errors", "user_id": "u"}] * count
        content = json.dumps({"environment": "production", "events": small}, separators=(",", ":")).encode()
        assert len(content) < 16 * 1024
        await connection.send(request(sdk_key, content))
        assert accepted(await connection.receive()) == count
    assert fast_path.requests_of_app == 1


@pytest.mark.parametrize("environ", [{"FLAGSTAFF_EVALUATE_RATE_LIMIT": "4/minute"}])
async def test_both_count_against_one_limit(fast_path: Listener, route: Listener, sdk_key: bytes) -> None:
    statuses = []
    for server in (fast_path, route, fast_path, route, fast_path, route):
        connection = await server.connect()
        await connection.send(request(sdk_key))
        answer = await connection.receive()
        statuses.append(answer.status)
        assert (answer.header("retry-after") is not None) == (answer.status == 429)
    assert statuses == [202, 202, 202, 202, 429, 429]


@pytest.mark.parametrize("environ", [{"FLAGSTAFF_EVENT_RATE_LIMIT": "5/minute"}])
async def test_the_events_of_an_address_count_against_one_limit_by_both_ways(
    fast_path: Listener, route: Listener, sdk_key: bytes, flagstaff: Flagstaff
) -> None:
    statuses = []
    for server, count in ((fast_path, 2), (route, 2), (fast_path, 0), (route, 3), (fast_path, 1), (route, 1)):
        connection = await server.connect()
        await connection.send(request(sdk_key, body(*[event()] * count)))
        answer = await connection.receive()
        statuses.append(answer.status)
        assert (answer.header("retry-after") is not None) == (answer.status == 429)
    assert statuses == [202, 202, 202, 202, 429, 429]
    await until_stored(flagstaff)
    assert len(await list_stored(flagstaff.database)) == 7


@pytest.mark.parametrize("environ", [{"FLAGSTAFF_SDK_KEY_RATE_LIMIT": "3/hour"}])
async def test_the_limit_of_a_key_counts_each_request_once(
    server: Listener, keys: KeyMaker, ada: Caller, project: Json
) -> None:
    key = (await keys.create(await ada.get_environment(project))).encode()
    connection = await server.connect()
    statuses = []
    for _ in range(4):
        await connection.send(request(key))
        statuses.append((await connection.receive()).status)
    assert statuses == [202, 202, 202, 429]


async def test_a_revoked_key_is_refused_on_an_open_connection(
    server: Listener, keys: KeyMaker, ada: Caller, project: Json
) -> None:
    key = (await keys.create(await ada.get_environment(project))).encode()
    connection = await server.connect()
    for _ in range(2):
        await connection.send(request(key))
        assert accepted(await connection.receive()) == 1
    await keys.revoke_all(project)
    await connection.send(request(key))
    assert (await connection.receive()).status == 401
