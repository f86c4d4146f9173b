"""Released clients for browsers, unmodified, in Chromium, on a page of another origin than the server."""

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from playwright.async_api import Page, Response, async_playwright

from hatch_build import CLIENTS
from tests.e2e.browser import ARGUMENTS, MISSING, find_or_install
from tests.sdks import test_frontend, test_ofrep
from tests.sdks.test_ofrep import shop
from tests.support.api import Json, flag_path
from tests.support.debian import leave_out
from tests.support.providers import Details
from tests.support.remote import RemoteCaller
from tests.support.server import ServerProcess
from tests.support.stores import Store, sqlite_store

LIMIT = {"FLAGSTAFF_SDK_KEY_RATE_LIMIT": "2/second"}
ADA = {"targetingKey": "ada", "email": "ada@example.com"}


class QuietHandler(SimpleHTTPRequestHandler):
    """Serves the clients' files without a log."""

    def log_message(self, *_: Any) -> None:
        """Write nothing."""


@contextmanager
def serving_page() -> Iterator[str]:
    """Serve the page at an origin of its own, which is returned."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietHandler, directory=str(CLIENTS)))
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def origin() -> Iterator[str]:
    """The address of the page."""
    with serving_page() as address:
        yield address


@pytest.fixture
def sqlite(sqlite_template: Path, data_directory: Path) -> Store:
    return sqlite_store(sqlite_template, data_directory)


@asynccontextmanager
async def opened(origin: str) -> AsyncIterator[Page]:
    """The page in a browser."""
    chromium = find_or_install()
    if chromium is None:
        leave_out(MISSING)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        page = await browser.new_page()
        await page.goto(f"{origin}/browser.html")
        await page.wait_for_function("window.isReady")
        yield page
        await browser.close()


async def flag_for_ada(caller: RemoteCaller, flag: Json) -> None:
    """Turn a flag on for Ada only."""
    path = flag_path(flag)
    changed = await caller.put(path, json={"name": "Checkout", "fallthrough": "off", "enabled": True})
    assert changed.status_code == 200, changed.text
    await caller.create_rule(flag, rule_value="ada")


@pytest.mark.parametrize("end", ["", "/"])
async def test_openfeatures_client_is_told_of_a_kill_by_the_stream(sqlite: Store, origin: str, end: str) -> None:
    async with ServerProcess(sqlite) as server, shop(server) as (caller, flag, key), opened(origin) as page:
        await page.evaluate("([...given]) => openFeature(...given)", [server.url + end, key, ADA, {"stream": True}])
        assert await page.evaluate("client.getBooleanValue('checkout', false)") is True
        assert (await caller.post(f"{flag_path(flag)}/toggle")).status_code == 200
        await page.wait_for_function("!client.getBooleanValue('checkout', true)")
        details = await page.evaluate("client.getBooleanDetails('checkout', true)")
        assert (details["value"], details["reason"], details["variant"]) == (False, "STATIC", "off")
        assert (await caller.post(f"{flag_path(flag)}/toggle")).status_code == 200
        await page.wait_for_function("client.getBooleanValue('checkout', false)")
        assert key not in server.log


async def test_openfeatures_client_gets_another_users_flags_though_it_sends_the_first_ones_tag(
    sqlite: Store, origin: str
) -> None:
    async with ServerProcess(sqlite) as server, shop(server) as (caller, flag, key), opened(origin) as page:
        await flag_for_ada(caller, flag)
        await page.evaluate("([...given]) => openFeature(...given)", [server.url, key, ADA])
        assert await page.evaluate("client.getBooleanValue('checkout', false)") is True
        await page.evaluate("setContext({ targetingKey: 'eve' })")
        assert await page.evaluate("client.getBooleanValue('checkout', true)") is False
        await page.evaluate("setContext({ targetingKey: 'ada' })")
        assert await page.evaluate("client.getBooleanValue('checkout', false)") is True


async def test_unleashs_client_sees_a_kill_and_another_users_flags(sqlite: Store, origin: str) -> None:
    async with ServerProcess(sqlite) as server, shop(server) as (caller, flag, key), opened(origin) as page:
        await flag_for_ada(caller, flag)
        context = {"userId": "ada", "properties": {"email": "ada@example.com"}}
        await page.evaluate("([...given]) => unleash(...given)", [server.url, key, context, 0])
        assert await page.evaluate("toggles.isEnabled('checkout')") is True
        await page.evaluate("toggles.updateContext({ userId: 'eve' })")
        assert await page.evaluate("toggles.isEnabled('checkout')") is False
        await page.evaluate("toggles.updateContext({ userId: 'ada' })")
        assert await page.evaluate("toggles.isEnabled('checkout')") is True
        assert await page.evaluate("errors") == []
        await page.evaluate("([...given]) => unleash(...given)", [server.url, key, context])
        assert await page.evaluate("toggles.isEnabled('checkout')") is True
        await page.evaluate("sent")  # the counts
        assert (await caller.post(f"{flag_path(flag)}/toggle")).status_code == 200
        await page.wait_for_function("!toggles.isEnabled('checkout')")
        assert await page.evaluate("errors") == []
        assert "ada@" not in server.log


async def test_unleashs_client_has_the_last_users_flags_though_it_interrupts_its_own_requests(
    sqlite: Store, origin: str
) -> None:
    """This client stores the tag of an answer before it has read the answer, and would get 304 from then on."""
    async with ServerProcess(sqlite) as server, shop(server) as (caller, flag, key), opened(origin) as page:
        await flag_for_ada(caller, flag)
        await page.evaluate("([...given]) => unleash(...given)", [server.url, key, {"userId": "eve"}, 0.01])
        for _ in range(20):
            await page.evaluate("toggles.updateContext({ userId: 'ada' })")
            await page.wait_for_function("toggles.isEnabled('checkout')")
            await page.evaluate("toggles.updateContext({ userId: 'eve' })")
            await page.wait_for_function("!toggles.isEnabled('checkout')")


async def test_unleashs_client_reports_a_key_that_is_not_valid(sqlite: Store, origin: str) -> None:
    async with ServerProcess(sqlite) as server, opened(origin) as page:
        await page.evaluate("([...given]) => unleash(...given)", [server.url, "nobody", {}])
        await page.wait_for_function("errors.length > 0")
        assert next(each["code"] for each in await page.evaluate("errors")) == 401


async def test_both_answer_every_case_as_the_specification_says(sqlite: Store, origin: str) -> None:
    keys = await test_ofrep.store_cases(sqlite)
    counts = [0, 0]
    async with ServerProcess(sqlite, {"FLAGSTAFF_ACCESS_LOG": "off"}) as server, opened(origin) as page:

        async def ask(client: str, *given: object) -> Any:
            return json.loads(await page.evaluate(f"given => {client}(...given)", [server.url, *given]))

        for name, (document, key) in keys.items():
            cases = [each for each in test_frontend.questions_of(document) if test_frontend.fits_an_address(each[1])]
            answers = await ask("askUnleash", key, json.dumps([case[:2] for case in cases]))
            test_frontend.check_answers(answers, cases)
            questions = list(test_ofrep.questions_of(document))
            answers = await ask("askOpenFeature", key, name, json.dumps([question for question, _ in questions]))
            for theirs, (question, ours) in zip((Details(**each) for each in answers), questions, strict=True):
                assert theirs._replace(reason="") == ours._replace(reason=""), (name, question)
            counts = [counts[0] + len(cases), counts[1] + len(questions)]
    assert counts > [500, 1000]


async def test_openfeatures_client_keeps_its_flags_beyond_the_limit_and_gets_new_ones_after_it(
    sqlite: Store, origin: str
) -> None:
    async with ServerProcess(sqlite, LIMIT) as server, shop(server) as (caller, flag, key), opened(origin) as page:
        async with page.expect_response(is_refusal):
            await page.evaluate("([...given]) => openFeature(...given)", [server.url, key, ADA, {"pollInterval": 100}])
        assert await page.evaluate("client.getBooleanValue('checkout', false)") is True
        assert (await caller.post(f"{flag_path(flag)}/toggle")).status_code == 200
        await page.wait_for_function("!client.getBooleanValue('checkout', true)")


async def test_unleashs_client_keeps_its_flags_beyond_the_limit_and_gets_new_ones_after_it(
    sqlite: Store, origin: str
) -> None:
    async with ServerProcess(sqlite, LIMIT) as server, shop(server) as (caller, flag, key), opened(origin) as page:
        async with page.expect_response(is_refusal):
            await page.evaluate("([...given]) => unleash(...given)", [server.url, key, {"userId": "ada"}, 0.1])
        assert await page.evaluate("toggles.isEnabled('checkout')") is True
        assert (await caller.post(f"{flag_path(flag)}/toggle")).status_code == 200
        await page.wait_for_function("!toggles.isEnabled('checkout')")


def is_refusal(response: Response) -> bool:
    return response.status == 429 and int(response.headers["retry-after"]) >= 1
