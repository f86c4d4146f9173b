"""The limits of the protocols: on browsers' keys, which are public, and on invalid keys."""

from collections.abc import Sequence

import httpx
import pytest

from tests.support.api import Caller, Json
from tests.support.sdk_keys import KeyMaker
from tests.web.conftest import Call

OFREP = "/ofrep/v1/evaluate/flags"
FRONTEND = "/unleash/api/frontend"
CLIENT = "/unleash/api/client"
COUNTS = {"appName": "shop", "bucket": {"start": "a", "stop": "b", "toggles": {"checkout": {"yes": 1}}}}
REPORT = {"appName": "shop", "bucket": {"start": "a", "stop": "b", "toggles": {}}}
FOR_BROWSERS: dict[str, tuple[str, str, object]] = {
    "OFREP": ("POST", OFREP, {}),
    "OFREP of a flag": ("POST", f"{OFREP}/checkout", {}),
    "frontend": ("GET", FRONTEND, None),
    "frontend with a body": ("POST", FRONTEND, {}),
    "metrics of browsers": ("POST", f"{FRONTEND}/client/metrics", REPORT),
    "registrations of browsers": ("POST", f"{FRONTEND}/client/register", {"appName": "shop"}),
}
FOR_SERVERS: dict[str, tuple[str, str, object]] = {
    "features": ("GET", f"{CLIENT}/features", None),
    "delta": ("GET", f"{CLIENT}/delta", None),
    "register": ("POST", f"{CLIENT}/register", {"appName": "shop"}),
    "metrics": ("POST", f"{CLIENT}/metrics", COUNTS),
    "metrics of an Edge": ("POST", f"{CLIENT}/metrics/bulk", {"applications": [], "metrics": []}),
    "state of an Edge": ("POST", f"{CLIENT}/metrics/edge", {}),
}
STREAMS = {"stream": f"{CLIENT}/streaming", "stream of OFREP": "/ofrep/v1/streams?token=x"}
UNKNOWN_KEYS = {"FLAGSTAFF_EVALUATE_RATE_LIMIT": "3/minute"}
BROWSERS = {"FLAGSTAFF_BROWSER_RATE_LIMIT": "3/minute"}
REPORTS = {"FLAGSTAFF_REPORT_RATE_LIMIT": "3/minute"}


async def send(caller: Caller, request: tuple[str, str, object], key: str) -> httpx.Response:
    method, path, body = request
    options: Json = {} if body is None else {"json": body}
    return await caller.request(method, path, headers={"authorization": f"Bearer {key}"}, **options)


def statuses(answers: Sequence[httpx.Response]) -> list[int]:
    assert all(0 < int(each.headers["retry-after"]) <= 75 for each in answers if each.status_code == 429)
    return [each.status_code for each in answers]


@pytest.mark.parametrize("environ", [UNKNOWN_KEYS])
@pytest.mark.parametrize("name", [*FOR_BROWSERS, *FOR_SERVERS, *STREAMS])
async def test_keys_that_open_nothing_count_as_evaluations(
    call_from: Call, ada: Caller, keys: KeyMaker, environment: Json, project: Json, name: str
) -> None:
    request = {**FOR_BROWSERS, **FOR_SERVERS}.get(name) or ("GET", STREAMS[name], None)
    guesser, other = call_from("192.0.2.7"), call_from("198.51.100.1")
    given = ["unknown", "", project["sdk_key"], "unknown", "unknown"]

    answers = [await send(guesser, request, key) for key in given]

    assert statuses(answers) == [401, 401, 401, 429, 429]
    assert statuses([await send(other, request, "unknown")]) == [401]
    assert (await guesser.evaluate("unknown")).status_code == 429
    server = await keys.create(environment)
    assert statuses([await send(guesser, FOR_SERVERS["features"], server) for _ in range(5)]) == [200] * 5


@pytest.mark.both_databases
@pytest.mark.parametrize("environ", [UNKNOWN_KEYS])
async def test_each_key_of_a_list_that_opens_nothing_counts(call_from: Call, keys: KeyMaker, environment: Json) -> None:
    edge, server = call_from("192.0.2.7"), await keys.create(environment)

    async def validate(*tokens: str) -> int:
        return (await edge.post("/unleash/edge/validate", json={"tokens": tokens})).status_code

    assert [await validate(server) for _ in range(5)] == [200] * 5
    assert [await validate(), await validate("a", server, "b")] == [200, 200]
    assert [await validate("c"), await validate(), await validate("d", server)] == [429] * 3
    assert await validate(server) == 200


@pytest.mark.parametrize("environ", [BROWSERS])
@pytest.mark.parametrize("name", FOR_BROWSERS)
async def test_the_requests_with_browser_keys_are_limited_by_the_address_of_the_end_user(
    call_from: Call, ada: Caller, keys: KeyMaker, environment: Json, name: str
) -> None:
    await ada.create_flag(environment, key="checkout")
    browser, server = await keys.create(environment, kind="browser"), await keys.create(environment)
    page, other = call_from("192.0.2.7"), call_from("198.51.100.1")

    assert statuses([await send(page, FOR_BROWSERS[name], browser) for _ in range(5)]) == [200] * 3 + [429] * 2
    assert statuses([await send(other, FOR_BROWSERS[name], browser)]) == [200]
    assert statuses([await send(page, FOR_BROWSERS[name], server) for _ in range(5)]) == [200] * 5
    assert (await page.evaluate(browser)).status_code == 200


@pytest.mark.parametrize("environ", [{**BROWSERS, "FLAGSTAFF_TRUSTED_PROXIES": "10.0.0.0/8"}])
async def test_behind_a_proxy_each_end_user_has_the_limit(call_from: Call, keys: KeyMaker, environment: Json) -> None:
    browser, proxy = await keys.create(environment, kind="browser"), call_from("10.1.2.3")

    async def from_user(address: str) -> int:
        headers = {"authorization": f"Bearer {browser}", "x-forwarded-for": address}
        return (await proxy.post(OFREP, json={}, headers=headers)).status_code

    assert [await from_user("203.0.113.1") for _ in range(4)] == [200, 200, 200, 429]
    assert await from_user("203.0.113.2") == 200


@pytest.mark.parametrize("environ", [BROWSERS])
async def test_where_a_browser_key_is_refused_its_requests_count_too(
    call_from: Call, keys: KeyMaker, environment: Json
) -> None:
    browser, page = await keys.create(environment, kind="browser"), call_from("192.0.2.7")

    assert statuses([await send(page, FOR_SERVERS["features"], browser) for _ in range(4)]) == [403, 403, 403, 429]


@pytest.mark.parametrize("environ", [REPORTS])
async def test_the_reports_with_one_key_are_limited(call_from: Call, keys: KeyMaker, environment: Json) -> None:
    key, other = await keys.create(environment), await keys.create(environment)
    pods = [call_from(f"192.0.2.{number}") for number in range(5)]

    assert statuses([await send(pod, FOR_SERVERS["metrics"], key) for pod in pods]) == [202] * 3 + [429] * 2
    assert statuses([await send(pods[0], FOR_SERVERS["metrics"], other)]) == [202]
    assert statuses([await send(pod, FOR_SERVERS["features"], key) for pod in pods]) == [200] * 5


@pytest.mark.parametrize("environ", [{"FLAGSTAFF_REPORT_RATE_LIMIT": "10/minute"}])
async def test_a_large_report_counts_as_several(call_from: Call, keys: KeyMaker, environment: Json) -> None:
    key, pod = await keys.create(environment), call_from("192.0.2.1")
    toggles = {f"flag-{number}": {"yes": 1, "no": 1} for number in range(1_000)}
    large = ("POST", f"{CLIENT}/metrics", {"appName": "shop", "bucket": {"start": 1, "stop": 2, "toggles": toggles}})

    answers = [await send(pod, large, key) for _ in range(3)]

    assert statuses(answers) == [202, 202, 429]


@pytest.mark.both_databases
async def test_by_default_a_page_has_600_requests_a_minute_and_a_server_as_many_as_it_likes(
    call_from: Call, keys: KeyMaker, environment: Json
) -> None:
    browser, server = await keys.create(environment, kind="browser"), await keys.create(environment)
    page = call_from("192.0.2.7")

    assert statuses([await send(page, FOR_BROWSERS["OFREP"], browser) for _ in range(601)]) == [200] * 600 + [429]
    assert statuses([await send(page, FOR_BROWSERS["OFREP"], server) for _ in range(601)]) == [200] * 601
