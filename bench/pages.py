"""The cost of the dashboard's pages for a browser: `python -m bench.pages`.

Opens pages of projects with many flags in a real Chromium, each without a cache, and prints the number of elements, the
traffic, when the largest part is painted, and the time of a typical interaction as its driver sees it. Then it follows
a history for a while, and walks from an empty server to the first evaluation.
"""

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from playwright.async_api import Browser, Page, async_playwright

from bench.machine import NotReadyError, choose_cores
from bench.page_browser import ELEMENTS, opened
from bench.page_data import EMAIL, PASSWORD, Place, fill
from bench.page_walks import follow, walk
from bench.servers import FlagstaffServer, Switches
from tests.e2e.browser import ARGUMENTS, MISSING, find_or_install

COUNTS = (60, 500, 5_000)
FOLLOWED = (60, 500)
ROLLED_UP_SECONDS, COUNTED_SECONDS = 0.1, 180
PAINT = """() => new Promise((told) => new PerformanceObserver((list) => told(list.getEntries().at(-1).startTime))
  .observe({ type: "largest-contentful-paint", buffered: true }))"""
ACCOUNT = {"email": EMAIL, "password": PASSWORD}

Act = Callable[[Page], Awaitable[Any]]


@dataclass(frozen=True)
class Measured:
    """A page and its path, an element of the loaded page, and an interaction with an element that appears after it."""

    name: str
    path: str
    ready: str
    act: Act
    done: str


def pages_of(place: Place, flag_id: str) -> list[Measured]:
    """Return the measured pages of a project."""
    project = f"/projects/{place.project_id}"
    here = f"{project}/environments/{place.environment_id}"
    one = "text=/^1 of /"

    async def ask(page: Page) -> None:
        await page.get_by_label("Users", exact=True).fill("\n".join(f"user-{number}" for number in range(25)))
        await page.get_by_role("button", name="Show results").click()

    return [
        Measured("list of flags", here, "role=switch", lambda page: page.get_by_role("searchbox").fill("0007"), one),
        Measured(
            "a flag",
            f"{here}/flags/{flag_id}",
            "role=tab >> nth=0",
            lambda page: page.get_by_role("tab", name="History").click(),
            "role=tabpanel >> table",
        ),
        Measured(
            "history",
            f"{here}/history",
            "summary",
            lambda page: page.locator("summary").first.click(),
            "details[open] code",
        ),
        Measured(
            "all environments",
            f"{project}/flags",
            "role=rowheader",
            lambda page: page.get_by_label("Search by name or key").fill("0007"),
            "role=row >> nth=1 >> text=flag-0007",
        ),
        Measured(
            "clean up",
            f"{here}/cleanup",
            "main li",
            lambda page: page.get_by_label("Flags to keep").check(),
            "text=Nothing to clean up",
        ),
        Measured("playground", f"{project}/playground", "textarea", ask, "role=grid"),
    ]


async def measure(browser: Browser, url: str, token: str, flags: int, measured: Measured) -> None:
    """Print a page's figures."""
    async with opened(browser, url, token) as (person, traffic):
        page: Page = person.page
        await person.without_events()
        await page.goto(measured.path)
        await page.locator(measured.ready).first.wait_for()
        await page.wait_for_load_state("networkidle")
        script, rest, requests = traffic.script, traffic.rest, f"{traffic.requests} ({traffic.to_api})"
        paint, elements = await page.evaluate(PAINT), await page.evaluate(ELEMENTS)
        began = time.perf_counter()
        await measured.act(page)
        await page.locator(measured.done).first.wait_for()
        took = time.perf_counter() - began
        after = await page.evaluate(ELEMENTS)
    print(
        f"| {measured.name} | {flags:,} | {elements:,} | {after:,} | {requests} | {script / 1000:,.0f} | "
        f"{rest / 1000:,.0f} | {paint:,.0f} | {took * 1000:,.0f} |",
        flush=True,
    )


async def wait_until_counted(client: httpx.AsyncClient, environment: str, flag_key: str) -> None:
    """Wait until the server has rolled up records, which were all written at once here."""
    async with asyncio.timeout(COUNTED_SECONDS):
        took = 1.0
        while took > ROLLED_UP_SECONDS:
            began = time.perf_counter()
            answer = await client.get(f"{environment}/evaluations/summary", params={"flag_key": flag_key})
            answer.raise_for_status()
            took = time.perf_counter() - began
            await asyncio.sleep(1)


async def measure_all(server: FlagstaffServer, flags: int, place: Place, seconds: float, browser: Browser) -> None:
    """Measure the pages of a project, and how much following its history transfers if it has one of those sizes."""
    async with httpx.AsyncClient(base_url=server.url, timeout=60) as client:
        token = (await client.post("/auth/login", json=ACCOUNT)).raise_for_status().json()["token"]
        client.headers["authorization"] = f"Bearer {token}"
        path = f"/api/projects/{place.project_id}/environments/{place.environment_id}/flags"
        flag = (await client.get(path)).raise_for_status().json()[0]
        await wait_until_counted(client, path.removesuffix("/flags"), flag["key"])
    for measured in pages_of(place, flag["id"]):
        await measure(browser, server.url, token, flags, measured)
    if flags in FOLLOWED and seconds:
        await follow(browser, server.url, token, flags, place, seconds)


async def run(core: int, folder: Path, counts: list[int], seconds: float) -> None:
    """Measure each number of flags on a separate server."""
    chromium = find_or_install()
    if chromium is None:
        raise NotReadyError(MISSING)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        print(
            "| page | flags | elements | after | requests (to the API) | script kB | rest kB | painted ms | "
            "interaction ms |\n" + "|---" * 9 + "|"
        )
        for flags in counts:
            data = folder / str(flags)
            with redirect_stdout(sys.stderr):  # the log of the requests that create the data
                place = await fill(data, flags)
            with FlagstaffServer(core, data, Switches()) as server:
                server.wait_until_it_is_loaded()
                await measure_all(server, flags, place, seconds, browser)
        with FlagstaffServer(core, folder / "empty", Switches()) as server:
            server.wait_until_it_is_loaded()
            await walk(browser, server.url)
        await browser.close()


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(prog="bench.pages", description=__doc__.partition("\n")[0])
    parser.add_argument("--flags", type=int, action="append", help="a number of flags; can be repeated")
    parser.add_argument("--follow", type=float, default=60, help="for how many seconds to follow the history")
    asked = parser.parse_args()
    try:
        with tempfile.TemporaryDirectory(prefix="flagstaff-pages-") as folder:
            asyncio.run(run(choose_cores().server, Path(folder), asked.flags or list(COUNTS), asked.follow))
    except NotReadyError as error:
        sys.exit(f"pages: {error}")


if __name__ == "__main__":
    main()
