"""Pages of another origin than the server, in Chromium: what they may send and read without a client's library."""

from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page

from tests.sdks import test_browsers
from tests.sdks.test_browsers import ADA, flag_for_ada, opened
from tests.sdks.test_ofrep import shop
from tests.support.api import Json, flag_path
from tests.support.nginx import StoringNginx
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
