"""Pages of another origin than the server, in Chromium: what they may send and read without a client's library."""

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page

from tests.sdks import test_browsers
from tests.sdks.test_browsers import ADA, flag_for_ada, opened, serving_page
from tests.sdks.test_ofrep import shop
from tests.support.api import Json, flag_path
from tests.support.nginx import StoringNginx
from tests.support.sdk_keys import create_key, keys_path
from tests.support.server import ServerProcess
from tests.support.stores import Store, sqlite_store

origin = test_browsers.origin
# What OpenTelemetry's and Sentry's libraries for browsers add to requests.
MONITORING = {
    "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    "tracestate": "vendor=1",
    "baggage": "sentry-environment=production",
    "sentry-trace": "0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-1",
    "x-of-another-vendor": "1",
}
FETCH = """async ([url, options]) => {
  const answer = await fetch(url, options);
  return { status: answer.status, text: await answer.text(), ...Object.fromEntries(answer.headers) };
}"""


@pytest.fixture
def sqlite(sqlite_template: Path, data_directory: Path) -> Store:
    return sqlite_store(sqlite_template, data_directory)


async def fetch(page: Page, url: str, **options: Any) -> Json:
    """Have the page send a request, and return the status, the text and the headers that it may read."""
    answer: Json = await page.evaluate(FETCH, [url, options])
    return answer


async def test_monitoring_that_adds_headers_blocks_no_request(sqlite: Store, origin: str) -> None:
    async with ServerProcess(sqlite) as server, shop(server) as (_, _, key), opened(origin) as page:
        for path, credential, body in (
            ("/sdk/v1/evaluate", "x-sdk-key", '{"environment": "production"}'),
            ("/sdk/v1/evaluate/checkout", "x-sdk-key", '{"environment": "production"}'),
            ("/sdk/v1/events", "x-sdk-key", '{"environment": "production", "events": []}'),
            ("/ofrep/v1/evaluate/flags", "x-api-key", "{}"),
            ("/ofrep/v1/evaluate/flags/checkout", "authorization", "{}"),
            ("/unleash/api/frontend", "authorization", "{}"),
        ):
            given = f"Bearer {key}" if credential == "authorization" else key
            headers = {credential: given, "content-type": "application/json", **MONITORING}
            answer = await fetch(page, server.url + path, method="POST", headers=headers, body=body)
            assert answer["status"] in (200, 202), (path, answer)
            assert answer["x-request-id"], path
        headers = {"authorization": key, "if-none-match": '"x"', **MONITORING}
        answer = await fetch(page, f"{server.url}/unleash/api/frontend?userId=ada", headers=headers)
        assert answer["status"] == 200


async def test_a_page_reads_why_a_request_that_is_too_large_was_refused(sqlite: Store, origin: str) -> None:
    async with ServerProcess(sqlite) as server, opened(origin) as page:
        for path in ("/sdk/v1/evaluate", "/sdk/v1/events", "/ofrep/v1/evaluate/flags", "/unleash/api/frontend"):
            url, options = server.url + path, {"method": "POST", "headers": {"content-type": "application/json"}}
            too_large = await fetch(page, url, body="x" * 2_000_000, **options)
            assert (too_large["status"], "larger than" in too_large["text"]) == (413, True), path
            too_long = await fetch(page, f"{url}?{'x' * 9_000}", body="{}", **options)
            assert (too_long["status"], "URL is longer" in too_long["text"]) == (414, True), path


async def test_behind_a_proxy_that_stores_posts_clients_get_their_users_flags_and_a_kill(
    sqlite: Store, origin: str, tmp_path: Path
) -> None:
    async with (
        ServerProcess(sqlite) as server,
        StoringNginx(tmp_path, server.port) as proxy,
        shop(server) as (caller, flag, key),
        opened(origin) as page,
    ):
        await flag_for_ada(caller, flag)
        await page.evaluate("([...given]) => openFeature(...given)", [proxy.url, key, ADA, {"pollInterval": 100}])
        # Without refreshes, because one that interrupts a change of the context keeps the flags of the user before.
        await page.evaluate("([...given]) => unleash(...given)", [proxy.url, key, {"userId": "ada"}, 0])
        for user, is_on in (("eve", False), ("ada", True)):
            await page.evaluate("user => setContext({ targetingKey: user })", user)
            assert await page.evaluate("client.getBooleanValue('checkout', false)") is is_on
            await page.evaluate("user => toggles.updateContext({ userId: user })", user)
            assert await page.evaluate("toggles.isEnabled('checkout')") is is_on
        await page.evaluate("([...given]) => unleash(...given)", [proxy.url, key, {"userId": "ada"}, 0.1])
        assert (await caller.post(f"{flag_path(flag)}/toggle")).status_code == 200
        await page.wait_for_function("!client.getBooleanValue('checkout', true)")
        await page.wait_for_function("!toggles.isEnabled('checkout')")


EVENTS = {"environment": "production", "events": []}
STREAM = """address => new Promise((done) => {
  window.source = new EventSource(address);
  source.onopen = () => done("open");
  source.onerror = () => done(source.readyState === EventSource.CLOSED ? "refused" : "interrupted");
})"""


async def ask_all(page: Page, server: ServerProcess, key: str) -> dict[str, Json]:
    """Have the page send a request in each way that a browser's key is for; return the answers by path."""
    plain: Json = {"method": "POST", "headers": {"content-type": "application/json"}}
    return {
        path: await fetch(page, server.url + path, **{**plain, **options, "headers": {**plain["headers"], **headers}})
        for path, headers, options in (
            ("/sdk/v1/evaluate", {"x-sdk-key": key}, {"body": '{"environment": "production"}'}),
            ("/sdk/v1/evaluate/checkout", {"x-sdk-key": key}, {"body": '{"environment": "production"}'}),
            ("/sdk/v1/events", {}, {"body": json.dumps({**EVENTS, "sdk_key": key}), "keepalive": True}),
            ("/ofrep/v1/evaluate/flags", {"authorization": f"Bearer {key}"}, {"body": "{}"}),
            ("/ofrep/v1/evaluate/flags?stream=sse", {"x-api-key": key}, {"body": "{}"}),
            ("/ofrep/v1/evaluate/flags/checkout", {"x-api-key": key}, {"body": "{}"}),
            ("/unleash/api/frontend", {"authorization": key}, {"body": "{}"}),
            ("/unleash/api/frontend?userId=ada", {"authorization": key}, {"method": "GET"}),
        )
    }


async def send_beacon(page: Page, server: ServerProcess, key: str) -> int:
    """Have the page send a beacon with events; return the status, which only the browser sees."""
    url = f"{server.url}/sdk/v1/events"
    async with page.expect_response(url) as answer:
        assert await page.evaluate(
            "given => navigator.sendBeacon(...given)", [url, json.dumps({**EVENTS, "sdk_key": key})]
        )
    return (await answer.value).status


async def test_a_key_with_a_list_of_origins_works_only_in_pages_there_and_others_read_why(
    sqlite: Store, origin: str
) -> None:
    with serving_page() as elsewhere:
        async with (
            ServerProcess(sqlite) as server,
            shop(server) as (caller, flag, _),
            opened(origin) as page,
            opened(elsewhere) as other,
        ):
            project = {"id": flag["project_id"]}
            key = await create_key(caller, project, kind="browser", allowed_origins=[origin])
            for path, answer in (await ask_all(other, server, key["key"])).items():
                assert (answer["status"], f"not for pages at the origin {elsewhere}" in answer["text"]) == (
                    403,
                    True,
                ), path
            answers = await ask_all(page, server, key["key"])
            assert {path: answer["status"] for path, answer in answers.items()} == {
                path: 202 if path == "/sdk/v1/events" else 200 for path in answers
            }
            (offer,) = json.loads(answers["/ofrep/v1/evaluate/flags?stream=sse"]["text"])["eventStreams"]
            assert await send_beacon(other, server, key["key"]) == 403
            assert await send_beacon(page, server, key["key"]) == 202
            address = server.url + offer["endpoint"]["requestUri"]
            assert await other.evaluate(STREAM, address) == "refused"
            assert await page.evaluate(STREAM, address) == "open"
            path = f"{keys_path(project)}/{key['id']}"
            assert (await caller.put(path, json={"allowed_origins": [elsewhere]})).status_code == 200
            await page.wait_for_function(
                "source.readyState === EventSource.CLOSED"
            )  # ended, and refused when it asks again
            assert {each["status"] for each in (await ask_all(page, server, key["key"])).values()} == {403}
            assert {each["status"] for each in (await ask_all(other, server, key["key"])).values()} == {200, 202}
