"""Kills whose fetch fails: OpenFeature's released client in Chromium, on pages with a stream, sees each soon after."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page

from tests.sdks.test_browsers import ADA, opened, origin, sqlite
from tests.sdks.test_ofrep import shop
from tests.support.api import Json, flag_path
from tests.support.clients import open_client
from tests.support.middlebox import Middlebox, Trouble
from tests.support.proxies import Proxies
from tests.support.remote import RemoteCaller
from tests.support.sdk_keys import create_key
from tests.support.server import ServerProcess
from tests.support.stores import Store

__all__ = ["origin", "sqlite"]  # fixtures

PROMISED_SECONDS = 30
"""The time after which no page that can reach the server shows a killed feature."""
OFF = "!client.getBooleanValue('checkout', true)"


@asynccontextmanager
async def shops(origin: str, key: str, urls: Sequence[str], *, is_kept_back: bool = False) -> AsyncIterator[list[Page]]:
    """Pages of different people, each with the address at which it finds the server, on which the flag is on."""
    async with opened(origin) as first:
        browser = first.context.browser
        assert browser is not None
        yield [await open_shop(browser, origin, key, url, is_kept_back=is_kept_back) for url in urls]


async def open_shop(browser: Browser, origin: str, key: str, url: str, *, is_kept_back: bool = False) -> Page:
    """A page whose client has its flags and its stream, unless a proxy keeps back what is sent on it."""
    page = await browser.new_page()
    await page.goto(f"{origin}/browser.html")
    await page.wait_for_function("window.isReady")
    address = "**/ofrep/v1/streams?*"
    async with page.expect_request(address) if is_kept_back else page.expect_response(address):
        await page.evaluate("([...given]) => openFeature(...given)", [url, key, ADA, {"stream": True}])
    assert await page.evaluate("client.getBooleanValue('checkout', false)") is True
    return page


async def kill(caller: RemoteCaller, flag: Json) -> None:
    answer = await caller.post(f"{flag_path(flag)}/toggle")
    assert answer.status_code == 200, answer.text


async def all_see(pages: Sequence[Page]) -> None:
    await asyncio.gather(*(page.wait_for_function(OFF, timeout=PROMISED_SECONDS * 1000) for page in pages))


async def until_fetches_fail(boxes: Sequence[Middlebox]) -> None:
    async with asyncio.timeout(PROMISED_SECONDS):
        while not all(box.troubled for box in boxes):
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("workers", ["1", "3"])
async def test_a_page_whose_fetch_fails_after_a_kill_is_told_again(sqlite: Store, origin: str, workers: str) -> None:
    async with (
        ServerProcess(sqlite, {"FLAGSTAFF_WORKERS": workers}) as server,
        shop(server) as (caller, flag, key),
        AsyncExitStack() as stack,
    ):
        boxes = [await stack.enter_async_context(Middlebox(server.port)) for _ in Trouble]
        async with shops(origin, key, [box.url for box in boxes]) as pages:
            for box, trouble in zip(boxes, Trouble, strict=True):
                box.trouble = trouble
            await kill(caller, flag)
            await until_fetches_fail(boxes)
            for box in boxes:
                box.trouble = None
            await all_see(pages)


async def test_a_page_sees_a_kill_of_a_server_that_is_killed_at_once_and_started_again(
    sqlite: Store, origin: str
) -> None:
    async with (
        ServerProcess(sqlite) as server,
        shop(server) as (caller, flag, key),
        shops(origin, key, [server.url]) as pages,
    ):
        await kill(caller, flag)
        await server.kill()
        await server.start()
        await all_see(pages)


async def test_a_page_that_was_offline_sees_a_kill(sqlite: Store, origin: str) -> None:
    async with (
        ServerProcess(sqlite) as server,
        shop(server) as (caller, flag, key),
        shops(origin, key, [server.url]) as (page,),
    ):
        await page.context.set_offline(True)
        async with page.expect_event("requestfailed"):  # Chromium keeps the stream, which tells of the kill
            await kill(caller, flag)
        await page.context.set_offline(False)
        await all_see([page])


async def test_a_page_for_whose_stream_there_is_no_room_sees_a_kill(sqlite: Store, origin: str) -> None:
    async with (
        ServerProcess(sqlite, {"FLAGSTAFF_MAX_CONNECTIONS": "40"}) as server,
        shop(server) as (caller, flag, key),
        AsyncExitStack() as stack,
    ):
        headers = {"authorization": f"Bearer {key}"}
        answer = await caller.post("/ofrep/v1/evaluate/flags?stream=sse", json={}, headers=headers)
        path = answer.json()["eventStreams"][0]["endpoint"]["requestUri"]
        client = await stack.enter_async_context(open_client(base_url=server.url))
        for _ in range(10):  # a quarter of the connections
            response = await stack.enter_async_context(client.stream("GET", path))
            assert response.status_code == 200
        async with shops(origin, key, [server.url]) as pages:
            await kill(caller, flag)
            await all_see(pages)


async def test_pages_see_a_kill_while_no_further_page_can_be_opened_behind_their_address(
    sqlite: Store, origin: str
) -> None:
    limit = 20
    async with (
        ServerProcess(sqlite, {"FLAGSTAFF_BROWSER_RATE_LIMIT": f"{limit}/minute"}) as server,
        shop(server) as (caller, flag, _),
    ):
        key = (await create_key(caller, {"id": flag["project_id"]}, kind="browser"))["key"]
        async with shops(origin, key, [server.url] * 2) as pages:
            await pages[1].evaluate("([...given]) => unleash(...given)", [server.url, key, {"userId": "ada"}])
            headers = {"authorization": f"Bearer {key}"}
            answers = [await caller.post("/ofrep/v1/evaluate/flags", json={}, headers=headers) for _ in range(limit)]
            assert answers[-1].status_code == 429
            await kill(caller, flag)
            await all_see(pages)
            await pages[1].wait_for_function("!toggles.isEnabled('checkout')", timeout=PROMISED_SECONDS * 1000)


async def test_a_page_behind_a_proxy_that_keeps_events_back_sees_a_kill(
    sqlite: Store, origin: str, tmp_path: Path
) -> None:
    async with (
        ServerProcess(sqlite) as server,
        Proxies(tmp_path, server.port, ["buffering"]) as proxies,
        shop(server) as (caller, flag, key),
        shops(origin, key, [proxies.url("buffering")], is_kept_back=True) as pages,
    ):
        await kill(caller, flag)
        await all_see(pages)


async def test_a_page_that_was_frozen_sees_a_kill(sqlite: Store, origin: str) -> None:
    async with (
        ServerProcess(sqlite) as server,
        shop(server) as (caller, flag, key),
        shops(origin, key, [server.url]) as pages,
    ):
        async with frozen(pages):
            await kill(caller, flag)
        await all_see(pages)


@asynccontextmanager
async def frozen(pages: Sequence[Page]) -> AsyncIterator[None]:
    """Stop the processes of a browser that run its pages (SIGSTOP), as the browser does not freeze what is visible."""
    browser = pages[0].context.browser
    assert browser is not None
    session = await browser.new_browser_cdp_session()
    found = (await session.send("SystemInfo.getProcessInfo"))["processInfo"]
    renderers = [each["id"] for each in found if each["type"] == "renderer"]
    assert len(renderers) >= len(pages)
    for pid in renderers:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in renderers:
            os.kill(pid, signal.SIGCONT)
