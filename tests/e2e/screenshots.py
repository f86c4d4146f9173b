"""Regenerates the screenshots in docs/images, with a real server, realistic data and a real browser."""

import asyncio
import sys
import tempfile
from pathlib import Path
from typing import Literal

import httpx
from playwright.async_api import Browser, async_playwright

from flagstaff.settings import Settings
from tests.e2e.browser import ARGUMENTS, MISSING, find_or_install
from tests.e2e.company import EMAIL, PASSWORD, found
from tests.e2e.people import Person, environment_page, flag_page
from tests.support.server import ServerProcess
from tests.support.stores import Store

IMAGES = Path(__file__).parents[2] / "docs" / "images"


async def main() -> None:
    """Take all screenshots."""
    chromium = find_or_install()
    if chromium is None:
        sys.exit(MISSING)
    IMAGES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        store = Store(None, Path(folder) / "data")
        await found(Settings.load({"FLAGSTAFF_DATA_DIR": str(store.data_directory)}))
        async with ServerProcess(store) as server, async_playwright() as playwright:
            browser = await playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
            await _take_all(browser, server.url)
            await browser.close()


async def _take_all(browser: Browser, url: str) -> None:
    async with httpx.AsyncClient(base_url=url) as client:
        answer = await client.post("/auth/login", json={"email": EMAIL, "password": PASSWORD})
        token = answer.raise_for_status().json()["token"]
        client.headers["authorization"] = f"Bearer {token}"
        shop = (await client.get("/api/projects")).json()[0]
        environments = (await client.get(f"/api/projects/{shop['id']}/environments")).json()
        production = next(each for each in environments if each["key"] == "production")
        place = environment_page({**production, "project_id": shop["id"]})
        checkout = (await client.get(f"/api{place}/flags")).json()[0]
    await _take(browser, url, token, "flags", "light", place)
    await _take(browser, url, token, "flag", "dark", flag_page(checkout), ask="linus@acme.com")
    await _take(browser, url, token, "history", "light", f"{flag_page(checkout)}?tab=history")
    await _take(browser, url, token, "environments", "light", f"/projects/{shop['id']}/flags")
    await _take(browser, url, token, "changes", "dark", f"{flag_page(checkout)}?tab=changes")


async def _take(
    browser: Browser, url: str, token: str, name: str, scheme: Literal["light", "dark"], path: str, *, ask: str = ""
) -> None:
    viewport = {"width": 1280, "height": 1080 if ask else 760}
    options = {"color_scheme": scheme, "device_scale_factor": 1.5, "viewport": viewport}
    async with Person(browser, url, **options) as person:
        person.email = EMAIL
        await person.use_token(token)
        await person.without_events()
        await person.page.goto(path)
        await person.page.get_by_role("switch").first.wait_for()
        await person.page.wait_for_load_state("networkidle")
        if ask:
            await person.page.get_by_role("textbox", name="Email").fill(ask)
            await person.press("Evaluate")
            await person.page.get_by_role("list", name="Why").wait_for()
            await person.page.wait_for_load_state("networkidle")
        await person.page.screenshot(path=IMAGES / f"{name}.png", animations="disabled")


if __name__ == "__main__":
    asyncio.run(main())
