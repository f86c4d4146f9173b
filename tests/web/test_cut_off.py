"""Evaluations by an instance whose lease has lapsed: marked, or refused."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from tests.support.api import Caller, Json
from tests.support.connections import BODY, Listener, request
from tests.support.sdk_keys import KeyMaker

Ask = Callable[..., Awaitable[httpx.Response]]

REFUSING = {"FLAGSTAFF_WHEN_CUT_OFF": "refuse"}
USER = {"context": {"targetingKey": "u"}}
EVALUATIONS: dict[str, tuple[str, Any]] = {
    "all flags": ("/sdk/v1/evaluate", {"environment": "production"}),
    "one flag": ("/sdk/v1/evaluate/new-checkout", {"environment": "production"}),
    "one flag with the name of a report": ("/sdk/v1/evaluate/metrics", {"environment": "production"}),
    "OFREP": ("/ofrep/v1/evaluate/flags", USER),
    "OFREP for one flag": ("/ofrep/v1/evaluate/flags/new-checkout", USER),
    "Unleash's frontend": ("/unleash/api/frontend", {"context": {}}),
    "Unleash's features": ("/unleash/api/client/features", None),
    "Unleash's changes": ("/unleash/api/client/delta", None),
}
METRICS = {
    "appName": "shop",
    "bucket": {"start": "2026-01-01T00:00:00Z", "stop": "2026-01-01T00:01:00Z", "toggles": {}},
}

WRONG: dict[str, tuple[str, str, Any, int]] = {
    "an environment that it lacks": ("POST", "/sdk/v1/evaluate", {"environment": "new"}, 404),
    "one flag in an environment that it lacks": (
        "POST",
        "/sdk/v1/evaluate/new-checkout",
        {"environment": "new"},
        404,
    ),
    "a flag that it lacks": ("POST", "/sdk/v1/evaluate/new-flag", {"environment": "production"}, 404),
    "a flag that it lacks by OFREP": ("POST", "/ofrep/v1/evaluate/flags/new-flag", USER, 404),
    "a path that does not exist": ("POST", "/ofrep/v1/other", USER, 404),
    "a body that is no context": ("POST", "/sdk/v1/evaluate", {"context": 1}, 400),
    "a body that is no context by OFREP": ("POST", "/ofrep/v1/evaluate/flags", {"context": 1}, 400),
    "a body that is no context at Unleash's frontend": ("POST", "/unleash/api/frontend", {"context": 1}, 400),
    "another method": ("GET", "/sdk/v1/evaluate", None, 405),
    "another method by OFREP": ("PUT", "/ofrep/v1/evaluate/flags", USER, 405),
    "another method at Unleash's features": ("PUT", "/unleash/api/client/features", {}, 405),
    "a large body": ("POST", "/sdk/v1/evaluate", {"environment": "x" * 300_000}, 413),
    "a large body by OFREP": ("POST", "/ofrep/v1/evaluate/flags", {"context": {"a": "x" * 300_000}}, 413),
}
KEYLESS = (
    ("POST", "/sdk/v1/evaluate"),
    ("POST", "/sdk/v1/evaluate/new-checkout"),
    ("POST", "/ofrep/v1/evaluate/flags"),
    ("POST", "/ofrep/v1/evaluate/flags/new-checkout"),
    ("GET", "/ofrep/v1/streams"),
    ("POST", "/unleash/api/frontend"),
    ("GET", "/unleash/api/client/features"),
    ("GET", "/unleash/api/client/delta"),
    ("GET", "/unleash/api/client/streaming"),
)


@pytest.fixture
def template(sqlite_template: Path) -> Path:
    """SQLite only: the test ends the lease itself."""
    return sqlite_template


@pytest.fixture
async def ask(flagstaff: Flagstaff, ada: Caller, environment: Json, project: Json, client: Caller) -> Ask:
    """Send a request as applications do; the environment has one flag, which is on."""
    await ada.create_flag(environment)
    await ada.create_flag(environment, key="metrics")
    key = await KeyMaker(flagstaff, ada).create(environment)

    async def send(path: str, body: Any, method: str | None = None) -> httpx.Response:
        headers = {"x-sdk-key": project["sdk_key"], "authorization": key, "x-api-key": key}
        return await client.request(method or ("GET" if body is None else "POST"), path, json=body, headers=headers)

    return send


@pytest.mark.parametrize("kind", EVALUATIONS)
@pytest.mark.parametrize("environ", [REFUSING])
async def test_an_instance_that_is_to_refuse_refuses_while_its_lease_has_lapsed(
    flagstaff: Flagstaff, ask: Ask, kind: str
) -> None:
    assert (await ask(*EVALUATIONS[kind])).status_code == 200
    flagstaff.cluster.lease.end()
    refused = await ask(*EVALUATIONS[kind])
    assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
    assert "FLAGSTAFF_WHEN_CUT_OFF=refuse" in refused.json()["detail"]
    flagstaff.cluster.lease.extend(0, float("inf"))
    assert (await ask(*EVALUATIONS[kind])).status_code == 200


@pytest.mark.parametrize("kind", EVALUATIONS)
async def test_an_instance_marks_its_answers_while_its_lease_has_lapsed(
    flagstaff: Flagstaff, ask: Ask, kind: str
) -> None:
    before = await ask(*EVALUATIONS[kind])
    flagstaff.cluster.lease.end()
    during = await ask(*EVALUATIONS[kind])
    assert (during.status_code, during.content) == (200, before.content)
    assert ("flagstaff-stale" in before.headers, int(during.headers["flagstaff-stale"]) >= 1) == (False, True)


@pytest.mark.parametrize("kind", WRONG)
async def test_an_instance_marks_the_errors_that_it_answers_while_its_lease_has_lapsed(
    flagstaff: Flagstaff, ask: Ask, kind: str
) -> None:
    method, path, body, status = WRONG[kind]
    before = await ask(path, body, method=method)
    flagstaff.cluster.lease.end()
    during = await ask(path, body, method=method)
    assert (before.status_code, during.status_code) == (status, status)
    assert ("flagstaff-stale" in before.headers, int(during.headers["flagstaff-stale"]) >= 1) == (False, True)


@pytest.mark.parametrize(("method", "path"), KEYLESS)
async def test_an_instance_marks_that_it_does_not_know_a_key_while_its_lease_has_lapsed(
    flagstaff: Flagstaff, client: Caller, method: str, path: str
) -> None:
    body = {"environment": "production"} if path.startswith("/sdk/") else USER
    before = await client.request(method, path, json=body)
    flagstaff.cluster.lease.end()
    during = await client.request(method, path, json=body)
    assert (before.status_code, during.status_code) == (401, 401)
    assert ("flagstaff-stale" in before.headers, "flagstaff-stale" in during.headers) == (False, True)


@pytest.mark.parametrize("environ", [REFUSING])
async def test_reports_are_accepted_while_the_lease_has_lapsed(flagstaff: Flagstaff, ask: Ask) -> None:
    flagstaff.cluster.lease.end()
    for path in ("/unleash/api/client/metrics", "/unleash/api/frontend/client/metrics"):
        sent = await ask(path, METRICS)
        assert (sent.status_code // 100, "flagstaff-stale" in sent.headers) == (2, False)


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (request(b"unknown"), 401),
        (request(b"{key}", b'{"environment":"new"}'), 404),
        (request(b"{key}", line=b"POST /sdk/v1/evaluate/new-flag HTTP/1.1"), 404),
        (request(b"{key}", b'{"environment":"new"}', b"Flagstaff-Min-Revision: 1"), 404),
        (request(b"{key}", line=b"POST /sdk/v1/evaluate/" + b"f" * 9_000 + b" HTTP/1.1"), 414),
        (request(b"{key}", BODY, *(b"X-%d: 1" % number for number in range(101))), 431),
        (request(b"{key}", BODY, b"Transfer-Encoding: chunked"), 400),
    ],
)
async def test_errors_are_marked_whoever_writes_them(
    flagstaff: Flagstaff, ask: Ask, project: Json, sent: bytes, status: int
) -> None:
    await ask(*EVALUATIONS["all flags"])
    sent = sent.replace(b"{key}", project["sdk_key"].encode())
    answers = []
    async with Listener(flagstaff.edge.asgi, flagstaff.edge.connection_class) as listener:
        for _ in ("before", "during"):
            connection = await listener.connect()
            await connection.send(sent)
            answers.append(await connection.receive())
            flagstaff.cluster.lease.end()
    assert [answer.status for answer in answers] == [status, status]
    assert [answer.header("flagstaff-stale") is not None for answer in answers] == [False, True]


@pytest.mark.parametrize("environ", [{}, REFUSING])
async def test_the_lane_marks_its_answers_or_has_requests_refused(
    flagstaff: Flagstaff, ask: Ask, project: Json, environ: dict[str, str]
) -> None:
    await ask(*EVALUATIONS["all flags"])
    key = project["sdk_key"].encode()
    answers = []
    async with Listener(flagstaff.edge.asgi, flagstaff.edge.connection_class) as listener:
        connection = await listener.connect()
        for body in (BODY, BODY, b"{"):
            await connection.send(request(key, body))
            answers.append(await connection.receive())
            flagstaff.cluster.lease.end()
    assert [answer.status for answer in answers] == ([200, 503, 503] if environ else [200, 200, 400])
    marked = [answer.header("flagstaff-stale") is not None for answer in answers]
    assert marked == [False, not environ, not environ]
    assert listener.requests_of_app == (2 if environ else 0)
