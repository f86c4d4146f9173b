"""Kills whose fetch fails: OpenFeature's released client in Chromium, on pages with a stream, sees each soon after."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

from playwright.async_api import Browser, Page

from tests.sdks.test_browsers import ADA, opened, origin, sqlite
from tests.sdks.test_ofrep import shop
from tests.support.api import Json, flag_path
from tests.support.clients import open_client
from tests.support.middlebox import Middlebox, Trouble
from tests.support.remote import RemoteCaller
from tests.support.server import ServerProcess
from tests.support.stores import Store

__all__ = ["origin", "sqlite"]  # fixtures

PROMISED_SECONDS = 30
"""The time after which no page that can reach the server shows a killed feature."""
OFF = "!client.getBooleanValue('checkout', true)"


@asynccontextmanager
async def shops(origin: str, key: str, urls: Sequence[str]) -> AsyncIterator[list[Page]]:
    """Pages of different people, each with the address at which it finds the server, on which the flag is on."""
    async with opened(origin) as first:
        browser = first.context.browser
        assert browser is not None
        yield [await open_shop(browser, origin, key, url) for url in urls]


async def open_shop(browser: Browser, origin: str, key: str, url: str) -> Page:
    """A page whose client has its flags and its stream."""
    page = await browser.new_page()
    await page.goto(f"{origin}/browser.html")
    await page.wait_for_function("window.isReady")
    async with page.expect_response("**/ofrep/v1/streams?*"):
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


async def test_a_page_whose_fetch_fails_after_a_kill_is_told_again(sqlite: Store, origin: str) -> None:
    async with (
        ServerProcess(sqlite) as server,
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
