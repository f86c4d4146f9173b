"""Longer walks through the dashboard, for `bench.pages`: following a history, and the first steps."""

import asyncio
import time
from typing import Any

import httpx
from playwright.async_api import Browser, Page

from bench.page_browser import ELEMENTS, opened
from bench.page_data import PASSWORD, Place
from tests.e2e.contexts import Contexts
from tests.e2e.people import Person, send_shown_call

EVALUATIONS_A_SECOND = 5
TEN_MINUTES = 600


async def follow(browser: Browser, url: str, token: str, flags: int, place: Place, seconds: float) -> None:
    """Follow a history during evaluations, and print its traffic."""
    here = f"/projects/{place.project_id}/environments/{place.environment_id}"
    async with opened(browser, url, token) as (person, traffic), httpx.AsyncClient(base_url=url) as client:
        await person.page.goto(f"{here}/history")
        await person.page.locator("summary").first.wait_for()
        await person.press("Follow live")
        await asyncio.sleep(1)
        before, ends_at, number = traffic.all, time.perf_counter() + seconds, 0
        while time.perf_counter() < ends_at:
            body = {"environment": "production", "context": {"user_id": f"user-{number % 200}"}}
            answer = await client.post("/sdk/v1/evaluate", json=body, headers={"X-SDK-Key": place.sdk_key})
            answer.raise_for_status()
            number += 1
            await asyncio.sleep(1 / EVALUATIONS_A_SECOND)
        followed, elements = traffic.all - before, await person.page.evaluate(ELEMENTS)
    print(
        f"following {flags:,} flags for {seconds:.0f} s with {number:,} evaluations: {followed / 1000:,.0f} kB, "
        f"{followed / 1e6 * TEN_MINUTES / seconds:,.1f} MB in ten minutes; {elements:,} elements",
        flush=True,
    )


class Walk:
    """A new user, whose clicks and fields are counted."""

    def __init__(self, page: Page) -> None:
        self._page, self.clicks, self.fields = page, 0, 0

    async def click(self, role: Any, name: str) -> None:
        """Click on the element with a role and a name."""
        await self._page.get_by_role(role, name=name, exact=True).click()
        self.clicks += 1

    async def fill(self, label: str, text: str) -> None:
        """Fill in a field."""
        await self._page.get_by_label(label).first.fill(text)
        self.fields += 1


async def walk(browser: Browser, url: str) -> None:
    """Walk from an empty server to the first evaluation, and print the number of steps."""
    async with Person(Contexts(browser), url) as person:
        newcomer, page = Walk(person.page), person.page
        await page.goto("/")
        await newcomer.click("link", "Create account")
        await newcomer.fill("Email", "newcomer@example.com")
        await newcomer.fill("Password", PASSWORD)
        await newcomer.click("button", "Create account")
        await newcomer.click("button", "New project")
        await newcomer.fill("Name", "Web shop")
        await newcomer.click("button", "Create project")
        await newcomer.click("button", "New flag")
        await newcomer.fill("Name", "New checkout")
        await newcomer.click("button", "Create flag")
        await person.page.get_by_role("region", name="State").get_by_role("switch").click()
        newcomer.clicks += 1
        await newcomer.click("tab", "Use in code")
        await send_shown_call(page, user_id="user-42")
        print(f"to the first evaluation of a flag that is on: {newcomer.clicks} clicks, {newcomer.fields} fields")
