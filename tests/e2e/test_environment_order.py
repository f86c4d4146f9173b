"""The order of environments: by buttons, by keys and by dragging, for all members."""

import asyncio

from playwright.async_api import Locator, expect

from tests.e2e.accessibility import check_in_both_schemes, stays_within
from tests.e2e.people import POLL_SECONDS, Person
from tests.support.api import Json


def rows(person: Person) -> Locator:
    return person.page.get_by_role("list", name="Environments").get_by_role("listitem")


async def shows(person: Person, *names: str) -> None:
    await expect(rows(person).get_by_role("link")).to_have_text(list(names))


async def has_order(person: Person, project: Json, *keys: str) -> None:
    """Wait until the server has saved this order."""

    async def saved() -> list[str]:
        listed = (await person.api.get(f"/api/projects/{project['id']}/environments")).json()
        return [each["key"] for each in listed]

    async with asyncio.timeout(60):  # the page shows the order before the server has saved it
        while await saved() != list(keys):
            await asyncio.sleep(POLL_SECONDS)


async def open_settings(person: Person) -> Json:
    project = await person.api.create_project()
    await person.api.create_environment(project)
    await person.without_events()
    await person.page.goto(f"/projects/{project['id']}/settings")
    await shows(person, "Production", "Staging", "Canary")
    return project


async def test_buttons_move_an_environment_and_keep_the_focus(ada: Person) -> None:
    project = await open_settings(ada)
    page = ada.page
    await expect(page.get_by_role("button", name="Move Production up")).to_have_count(0)
    await expect(page.get_by_role("button", name="Move Canary down")).to_have_count(0)
    up = page.get_by_role("button", name="Move Canary up")
    await up.press("Enter")
    await shows(ada, "Production", "Canary", "Staging")
    await expect(up).to_be_focused()
    await page.keyboard.press("Enter")
    await shows(ada, "Canary", "Production", "Staging")
    await expect(page.get_by_role("button", name="Move Canary down")).to_be_focused()
    await expect(page.get_by_role("status").filter(has_text="Canary is now 1 of 3.")).to_have_count(1)
    await has_order(ada, project, "canary", "production", "staging")
    await page.reload()
    await shows(ada, "Canary", "Production", "Staging")
    await page.get_by_role("button", name="switch environment").click()
    await expect(page.get_by_role("menuitem")).to_have_text(["Canary", "Production", "Staging", "New environment"])
    await page.keyboard.press("Escape")
    await check_in_both_schemes(ada, "environments in an order")
    await page.set_viewport_size({"width": 390, "height": 800})
    await stays_within(ada)


async def test_an_environment_is_dragged_to_its_place(ada: Person) -> None:
    project = await open_settings(ada)
    await rows(ada).nth(0).get_by_title("Drag to reorder").hover()
    await ada.page.mouse.down()
    for place in (1, 2, 2):  # a browser reports the place of a dragged row whenever the mouse moves
        await rows(ada).nth(place).hover()
    await shows(ada, "Staging", "Canary", "Production")
    await ada.page.mouse.up()
    await shows(ada, "Staging", "Canary", "Production")
    await has_order(ada, project, "staging", "canary", "production")


async def test_an_order_that_somebody_else_has_changed_meanwhile_is_refused_and_shown(ada: Person) -> None:
    project = await open_settings(ada)
    order = f"/api/projects/{project['id']}/environments/order"
    ids = (await ada.api.get(order)).json()["environment_ids"]
    (await ada.api.put(order, json={"environment_ids": ids[::-1]})).raise_for_status()
    await ada.press("Move Production down")
    await ada.sees("The environments could not be reordered")
    await shows(ada, "Canary", "Staging", "Production")
    await has_order(ada, project, "canary", "staging", "production")
