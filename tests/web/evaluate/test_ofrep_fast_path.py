"""OFREP's bulk requests by the fast path and by the route: each case runs against both, with equal results."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.api import Caller, Json
from tests.support.connections import Answer, Listener
from tests.support.sdk_keys import KeyMaker

PATH = b"/ofrep/v1/evaluate/flags"
BODY = b'{"context":{"targetingKey":"ada","plan":"pro"}}'


@pytest.fixture
def template(sqlite_template: Path) -> Path:
    """SQLite only: these requests do not reach the database."""
    return sqlite_template


@pytest.fixture
def environ() -> dict[str, str]:
    """A limit per address that counts only invalid keys: one by the fast path, one by the route."""
    return {"FLAGSTAFF_EVALUATE_RATE_LIMIT": "2/hour", "FLAGSTAFF_ACCESS_LOG": "off"}


@pytest.fixture
async def project(ada: Caller) -> Json:
    """A project with two flags in `production`, one of which tests an attribute."""
    made = await ada.create_project()
    environment = await ada.get_environment(made)
    await ada.create_flag(environment, key="rollout", rollout_percentage=50)
    flag = await ada.create_flag(environment, key="checkout", fallthrough="off")
    conditions = [{"attribute": "plan", "operator": "in", "values": ["pro"]}]
    await ada.create_rule(flag, rule_type="attributes", rule_value=None, conditions=conditions)
    return made


@pytest.fixture
async def sdk_key(ada: Caller, project: Json, keys: KeyMaker, client: Caller) -> bytes:
    """A key that has been used, of an environment whose flags have been translated."""
    key = await keys.create(await ada.get_environment(project))
    assert (await client.post(PATH.decode(), json={}, headers={"x-api-key": key})).status_code == 200
    return key.encode()


def request(key: bytes, body: bytes = BODY, *headers: bytes, line: bytes = b"POST %b HTTP/1.1" % PATH) -> bytes:
    lines = (line, b"Host: flags", b"X-Request-ID: r1", *headers, b"Authorization: Bearer " + key)
    return b"\r\n".join((*lines, b"Content-Length: %d" % len(body), b"", body))


SAME: dict[str, Callable[[bytes], bytes]] = {
    "a plain one": request,
    "the other header": lambda key: request(key).replace(b"Authorization: Bearer", b"X-API-Key:"),
    "both headers": lambda key: request(key, BODY, b"X-API-Key: " + key),
    "different keys": lambda key: request(key, BODY, b"X-API-Key: another"),
    "a page's": lambda key: request(key, BODY, b"Origin: https://shop.example"),
    "a tag": lambda key: request(key, BODY, b'If-None-Match: "other"'),
    "another scheme": lambda key: request(key).replace(b"Bearer", b"Basic"),
    "no key": lambda key: request(key).replace(b"Authorization", b"X-Other"),
    "an unknown key": lambda _: request(b"unknown"),
    "a key of strange bytes": lambda _: request(b"\xff\xfe"),
    "an upgrade": lambda key: request(key, BODY, b"Connection: upgrade", b"Upgrade: h2c"),
    "a query": lambda key: request(key, line=b"POST %b?flagConfigEtag=1 HTTP/1.1" % PATH),
    "one flag": lambda key: request(key, line=b"POST %b/checkout HTTP/1.1" % PATH),
    "a flag that is missing": lambda key: request(key, line=b"POST %b/a/b HTTP/1.1" % PATH),
    "another method": lambda key: request(key, line=b"PUT %b HTTP/1.1" % PATH),
    "no body": lambda key: request(key, b""),
    "no context": lambda key: request(key, b"{}"),
    "null": lambda key: request(key, b'{"context":null}'),
    "no JSON": lambda key: request(key, b"{"),
    "no UTF-8": lambda key: request(key, b'{"context":{"targetingKey":"\xff"}}'),
    "no UTF-8 elsewhere": lambda key: request(key, b'{"context":{"other":"\xff"}}'),
    "a name that is not UTF-8": lambda key: request(key, b'{"context":{"\xff":1}}'),
    "a NUL": lambda key: request(key, b'{"context":{"targetingKey":"\\u0000"}}'),
    "a wrong type": lambda key: request(key, b'{"context":{"targetingKey":7}}'),
    "an email of another type": lambda key: request(key, b'{"context":{"email":7,"plan":"pro"}}'),
    "deep nesting": lambda key: request(key, b'{"context":{"plan":' + b"[" * 60_000),
    "a long body": lambda key: request(key, b'{"context":{"plan":"pro","x":"%s"}}' % (b"x" * 60 * 1024)),
    "too long a body": lambda key: request(key, b'{"context":{"x":"%s"}}' % (b"x" * 64 * 1024)),
}


@pytest.mark.parametrize("case", SAME)
async def test_both_answer_with_the_same_bytes(case: str, fast_path: Listener, route: Listener, sdk_key: bytes) -> None:
    answers = []
    for server in (fast_path, route):
        connection = await server.connect()
        await connection.send(SAME[case](sdk_key))
        answers.append(await connection.receive())
    assert answers[0] == answers[1]
    assert answers[0].status != 500


def flags(answer: Answer) -> dict[str, object]:
    assert answer.status == 200
    return {each["key"]: each["value"] for each in answer.json()["flags"]}


async def test_a_client_that_has_the_answer_gets_a_304_by_both(
    fast_path: Listener, route: Listener, sdk_key: bytes
) -> None:
    answers = []
    for server in (fast_path, route):
        connection = await server.connect()
        await connection.send(request(sdk_key))
        first = await connection.receive()
        assert flags(first)["checkout"] is True
        tag = (first.header("etag") or "").encode()
        await connection.send(request(sdk_key, BODY, b"If-None-Match: " + tag))
        answers.append(await connection.receive())
        assert answers[-1].header("etag") == tag.decode()
        other = BODY.replace(b"pro", b"free")
        await connection.send(request(sdk_key, other, b"If-None-Match: " + tag))
        assert flags(await connection.receive())["checkout"] is False
    assert answers[0] == answers[1]
    assert (answers[0].status, answers[0].body) == (304, b"")


async def test_only_the_fast_path_spares_the_app_a_plain_request(
    fast_path: Listener, route: Listener, sdk_key: bytes
) -> None:
    for server, requests_of_app in ((fast_path, 0), (route, 3)):
        connection = await server.connect()
        for _ in range(3):
            await connection.send(request(sdk_key))
            assert flags(await connection.receive())["checkout"] is True
        assert server.requests_of_app == requests_of_app


async def test_a_revoked_key_is_refused_on_an_open_connection(
    server: Listener, sdk_key: bytes, keys: KeyMaker, project: Json
) -> None:
    connection = await server.connect()
    await connection.send(request(sdk_key))
    assert (await connection.receive()).status == 200
    await keys.revoke_all(project)
    await connection.send(request(sdk_key))
    answer = await connection.receive()
    assert (answer.status, answer.json()["errorCode"]) == (401, "GENERAL")


async def test_a_change_is_seen_by_the_first_request_after_it(
    ada: Caller, server: Listener, sdk_key: bytes, project: Json
) -> None:
    environment = await ada.get_environment(project)
    connection = await server.connect()
    for number in range(3):
        await ada.create_flag(environment, key=f"new-{number}")
        await connection.send(request(sdk_key))
        assert f"new-{number}" in flags(await connection.receive())


@pytest.mark.parametrize("environ", [{"FLAGSTAFF_SDK_KEY_RATE_LIMIT": "3/hour"}])
async def test_the_limit_of_a_key_counts_each_request_once(server: Listener, sdk_key: bytes) -> None:
    connection = await server.connect()
    statuses = []
    for _ in range(3):  # the fixture has sent the first one
        await connection.send(request(sdk_key))
        answer = await connection.receive()
        statuses.append(answer.status)
    assert statuses == [200, 200, 429]
    assert int(answer.header("retry-after") or 0) >= 1
    assert answer.json()["errorCode"] == "GENERAL"


async def test_the_limit_on_browser_keys_holds_by_both_ways_together(
    fast_path: Listener, route: Listener, keys: KeyMaker, ada: Caller, project: Json, sdk_key: bytes
) -> None:
    browser = (await keys.create(await ada.get_environment(project), kind="browser")).encode()
    ways, statuses = [await listener.connect() for listener in (route, fast_path)], []
    for number in range(601):
        connection = ways[number % 2]
        await connection.send(request(browser))
        statuses.append((await connection.receive()).status)

    assert statuses == [200] * 600 + [429]
    assert fast_path.requests_of_app == 0
    await ways[1].send(request(sdk_key))
    assert (await ways[1].receive()).status == 200
