"""Regenerates the screenshots in docs/images, with a real server, realistic data and a real browser.

Each is taken in both colour schemes; those in the dark one end in `-dark`.
"""

import asyncio
import sys
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import httpx
from playwright.async_api import async_playwright, expect

from flagstaff.settings import Settings
from tests.e2e.browser import ARGUMENTS, MISSING, find_or_install
from tests.e2e.company import EMAIL, PASSWORD, found, grow_old
from tests.e2e.contexts import Contexts
from tests.e2e.people import Person, environment_page, flag_page
from tests.support.api import Json
from tests.support.server import ServerProcess
from tests.support.stores import Store

IMAGES = Path(__file__).parents[2] / "docs" / "images"
USERS = "user_id,email\nuser-1007,\nuser-1012,linus@acme.com\nuser-1031,\nuser-1044,grace@partner.example\n"


@dataclass(frozen=True)
class Picture:
    """A page, and what is done there before the screenshot is taken."""

    name: str
    path: str
    act: Callable[[Person], Awaitable[None]] | None = None
    height: int = 760


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
            await _take_all(Contexts(browser), server.url, store)
            await browser.close()


async def _take_all(contexts: Contexts, url: str, store: Store) -> None:
    async with httpx.AsyncClient(base_url=url) as client:
        answer = await client.post("/auth/login", json={"email": EMAIL, "password": PASSWORD})
        token = answer.raise_for_status().json()["token"]
        client.headers["authorization"] = f"Bearer {token}"
        shop = (await client.get("/api/projects")).json()[0]
        listed = (await client.get(f"/api/projects/{shop['id']}/environments")).json()
        environments = {each["key"]: {**each, "project_id": shop["id"]} for each in listed}
        checkout = (await client.get(f"/api{environment_page(environments['production'])}/flags")).json()[0]
        await _say_and_ask(client, shop, checkout)
    for picture in _pictures(shop, environments, checkout):
        await _take(contexts, url, token, picture)
    await grow_old(store, shop, 40)
    await _take(contexts, url, token, Picture("cleanup", f"{environment_page(environments['production'])}/cleanup"))


async def _say_and_ask(client: httpx.AsyncClient, shop: Json, checkout: Json) -> None:
    """Comment on a flag, and send requests of applications, which are counted as callers after some seconds."""
    for text in (
        "Support saw errors with saved cards in Safari. 25 % until the fix is out: https://example.com/issues/17",
        f"The fix is live. @{EMAIL}, please go on to 50 % on Monday.",
    ):
        (await client.post(f"/api{flag_page(checkout)}/comments", json={"text": text})).raise_for_status()
    for agent, requests in (("checkout/2.3 python-httpx/0.28", 12), ("Shop/7.1 iOS/19", 5), ("curl/8.5", 1)):
        headers = {"x-sdk-key": shop["sdk_key"], "user-agent": agent}
        for number in range(requests):
            body = {"environment": "production", "context": {"user_id": f"user-{number}"}}
            (await client.post("/sdk/v1/evaluate", json=body, headers=headers)).raise_for_status()


def _pictures(shop: Json, environments: dict[str, Json], checkout: Json) -> list[Picture]:
    project, flag = f"/projects/{shop['id']}", flag_page(checkout)
    pair = f"from={environments['staging']['id']}&to={environments['production']['id']}"
    return [
        Picture("overview", project),
        Picture("flags", environment_page(environments["production"])),
        Picture("flag", flag, _evaluate, 1080),
        Picture("history", f"{flag}?tab=history"),
        Picture("changes", f"{flag}?tab=changes"),
        Picture("comments", f"{flag}?tab=comments", height=960),
        Picture("applications", f"{environment_page(environments['production'])}/applications"),
        Picture("environments", f"{project}/flags"),
        Picture("compare", f"{project}/compare?{pair}"),
        Picture("user", f"{project}/user?email=linus@acme.com"),
        Picture("playground", f"{project}/playground", _ask, 860),
        Picture("audit", f"{project}/audit"),
    ]


async def _evaluate(person: Person) -> None:
    await person.page.get_by_role("textbox", name="Email").fill("linus@acme.com")
    await person.press("Evaluate")
    await person.page.get_by_role("list", name="Why").wait_for()


async def _ask(person: Person) -> None:
    await person.page.get_by_label("Users", exact=True).fill(USERS)
    await person.press("Show results")
    await person.page.get_by_role("gridcell").nth(8).click()


async def _take(contexts: Contexts, url: str, token: str, picture: Picture) -> None:
    await _take_in(contexts, url, token, picture, "light")
    await _take_in(contexts, url, token, picture, "dark")


async def _take_in(
    contexts: Contexts, url: str, token: str, picture: Picture, scheme: Literal["light", "dark"]
) -> None:
    options: Json = {"color_scheme": scheme, "viewport": {"width": 1280, "height": picture.height}}
    async with Person(contexts, url, **options) as person:
        person.email = EMAIL
        await person.use_token(token)
        await person.without_events()
        await person.page.goto(picture.path)
        await expect(person.page.locator("main li, main tr, main [role=row], textarea").first).to_be_visible()
        await expect(person.page.locator(".mantine-Skeleton-root")).to_have_count(0)
        await person.page.wait_for_load_state("networkidle")
        if picture.act:
            await picture.act(person)
            await person.page.wait_for_load_state("networkidle")
        ending = "" if scheme == "light" else "-dark"
        await person.page.screenshot(path=IMAGES / f"{picture.name}{ending}.png", animations="disabled")


if __name__ == "__main__":
    asyncio.run(main())
