"""Many tabs of one browser, each with a stream of OpenFeature's released client, behind the documented proxy."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from playwright.async_api import BrowserContext, Page, async_playwright

from tests.e2e.browser import ARGUMENTS, MISSING, find_or_install
from tests.sdks.test_browsers import ADA, origin, sqlite
from tests.sdks.test_ofrep import shop
from tests.support.api import flag_path
from tests.support.debian import leave_out
from tests.support.nginx import DOCUMENTED_NAME, DocumentedNginx
from tests.support.server import ServerProcess
from tests.support.stores import Store

__all__ = ["origin", "sqlite"]  # fixtures
TABS = 8  # more than the six connections that a browser opens to a server with HTTP/1.1


@asynccontextmanager
async def one_browser() -> AsyncIterator[BrowserContext]:
    """A browser that finds the documented name on this machine, and accepts the certificate."""
    chromium = find_or_install()
    if chromium is None:
        leave_out(MISSING)
    arguments = [*ARGUMENTS, f"--host-resolver-rules=MAP {DOCUMENTED_NAME} 127.0.0.1"]
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium, args=arguments)
        yield await browser.new_context(ignore_https_errors=True)
        await browser.close()


async def open_tab(context: BrowserContext, origin: str, url: str, key: str) -> Page:
    """A tab whose client has fetched its flags and opened its stream."""
    page = await context.new_page()
    await page.goto(f"{origin}/browser.html")
    await page.wait_for_function("window.isReady")
    async with page.expect_response("**/ofrep/v1/streams?*"):
        await page.evaluate("([...given]) => openFeature(...given)", [url, key, ADA, {"stream": True}])
    return page


async def test_eight_tabs_have_their_flags_and_see_a_kill(sqlite: Store, origin: str, tmp_path: Path) -> None:
    async with (
        ServerProcess(sqlite, {"FLAGSTAFF_TRUSTED_PROXIES": "127.0.0.1"}) as server,
        shop(server) as (caller, flag, key),
        DocumentedNginx(tmp_path, server.port) as proxy,
        one_browser() as context,
    ):
        url = f"https://{DOCUMENTED_NAME}:{proxy.port}"
        tabs = [await open_tab(context, origin, url, key) for _ in range(TABS)]
        for tab in tabs:
            assert await tab.evaluate("client.getBooleanValue('checkout', false)") is True
        assert (await caller.post(f"{flag_path(flag)}/toggle")).status_code == 200
        await asyncio.gather(*(tab.wait_for_function("!client.getBooleanValue('checkout', true)") for tab in tabs))
