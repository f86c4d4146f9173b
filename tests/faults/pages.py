"""Shops open in browsers: real pages with released clients. None may show a feature that was turned off."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from itertools import cycle
from time import monotonic

import httpx
from playwright.async_api import Browser, Page, async_playwright
from playwright.async_api import TimeoutError as PlaywrightTimeoutError

from tests.e2e.browser import ARGUMENTS, find_or_install
from tests.sdks.test_browsers import ADA, serving_page
from tests.sdks.test_kills import PROMISED_SECONDS
from tests.support.api import Json, flag_path
from tests.support.middlebox import Middlebox
from tests.support.remote import RemoteCaller
from tests.support.sdk_keys import create_key
from tests.support.server import ServerProcess

ADDRESS = "203.0.113.7"
"""The address that all pages have, and other people of their office."""
_POLL_SECONDS = 10
_PAUSE_SECONDS = 0.1
_ANSWER_SECONDS = 3
# The pages at each instance: how the client starts, and how it is asked.
_STREAM = (f"openFeature(url, key, {ADA}, {{ stream: true }})", "client.getBooleanValue('checkout', {default})")
_POLL = (f"unleash(url, key, {{ userId: 'ada' }}, {_POLL_SECONDS})", "toggles.isEnabled('checkout')")
_CLIENTS = {"OpenFeature, stream, 1": _STREAM, "OpenFeature, stream, 2": _STREAM, "Unleash, polling": _POLL}


@dataclass
class Visitor:
    """A page whose client reaches one instance through a box. `shows` is the script that asks for the flag."""

    name: str
    page: Page
    shows: str

    async def sees(self, on: bool, seconds: float = PROMISED_SECONDS) -> str | None:
        """Wait until the page sees the flag in a state; return what is wrong if this takes too long."""
        is_seen = f"{self.shows.format(default=json.dumps(not on))} === {json.dumps(on)}"
        try:
            await self.page.wait_for_function(is_seen, timeout=seconds * 1000)
        except PlaywrightTimeoutError:
            state = "on" if on else "off"
            return f"{self.name} does not show that the feature is {state}, {seconds:g} s after it could ask"
        return None


@dataclass
class Shop:
    """A flag in an environment of its own, and pages that show it. Without pages, nothing is changed."""

    flag: Json
    key: str
    instances: Sequence[ServerProcess]
    authorization: str
    boxes: list[Middlebox] = field(default_factory=list)
    visitors: list[Visitor] = field(default_factory=list)

    async def turn(self, on: bool, at: int = 0) -> None:
        """Change the flag at an instance or, until it is confirmed, at the others in turn."""
        if not self.visitors:
            return
        places = [*self.instances[at:], *self.instances[:at]]
        headers = {"authorization": self.authorization}
        async with httpx.AsyncClient(headers=headers, timeout=_ANSWER_SECONDS) as client:
            for place in cycle(places):
                with suppress(httpx.TransportError):
                    answer = await client.put(f"{place.url}{flag_path(self.flag)}", json={"enabled": on})
                    assert answer.is_success or answer.status_code >= 500, answer.text
                    if answer.is_success:
                        return
                await asyncio.sleep(_PAUSE_SECONDS)

    async def find_unaware(self, on: bool) -> tuple[float, list[str]]:
        """Wait until all pages see the flag in a state; return the seconds, and the errors of those that do not."""
        began = monotonic()
        found = await asyncio.gather(*(each.sees(on) for each in self.visitors))
        return monotonic() - began, [each for each in found if each]


@asynccontextmanager
async def open_shop(owner: RemoteCaller, instances: Sequence[ServerProcess], *, has_pages: bool) -> AsyncIterator[Shop]:
    """Create the flag, which is on, and open pages at each instance, if they are wanted and there is a Chromium."""
    project = await owner.create_project(name="Shop")
    flag = await owner.create_flag(await owner.get_environment(project), key="checkout", enabled=True)
    key = (await create_key(owner, project, kind="browser"))["key"]
    shop = Shop(flag, key, instances, owner.headers["authorization"])
    chromium = find_or_install() if has_pages else None
    if chromium is None:
        yield shop
        return
    async with AsyncExitStack() as stack:
        origin = stack.enter_context(serving_page())
        playwright = await stack.enter_async_context(async_playwright())
        browser = await playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        stack.push_async_callback(browser.close)
        for number, instance in enumerate(instances):
            box = await stack.enter_async_context(Middlebox(instance.port, address=ADDRESS))
            shop.boxes.append(box)
            for name in _CLIENTS:
                shop.visitors.append(await _open(browser, origin, f"page at instance {number} ({name})", name, shop))
        yield shop


async def _open(browser: Browser, origin: str, title: str, name: str, shop: Shop) -> Visitor:
    """A page of a browser profile of its own, whose client has its flags from the newest box."""
    start, shows = _CLIENTS[name]
    page = await browser.new_page()
    await page.goto(f"{origin}/browser.html")
    await page.wait_for_function("window.isReady")
    await page.evaluate(f"([url, key]) => {start}", [shop.boxes[-1].url, shop.key])
    return Visitor(title, page, shows)
