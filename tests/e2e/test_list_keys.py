"""Keys in the list of flags act on the flag whose row has the focus, and on no other; single keys can be turned off."""

import pytest
import pytest_asyncio
from playwright.async_api import Locator, Page, expect

from tests.e2e.people import Person, environment_page
from tests.support.api import Json

NAMES = ("Experiment 45 cart", "Experiment 46 menu", "Experiment 47 search")


@pytest_asyncio.fixture(loop_scope="session")
async def production(ada: Person) -> Json:
    """A critical environment with three flags that are on, the newest of which is listed first."""
    environment = await ada.api.get_environment(await ada.api.create_project())
    for name in NAMES:
        await create(ada, environment, name)
    return environment


async def create(person: Person, environment: Json, name: str) -> None:
    await person.api.create_flag(environment, name=name, key=name.lower().replace(" ", "-"))


def link(page: Page, name: str) -> Locator:
    """Return the link with the name of a flag, on which keys of its row are pressed."""
    return page.get_by_role("link", name=name, exact=True)


def switch(page: Page, name: str) -> Locator:
    return page.get_by_role("switch", name=name)


async def open_list(person: Person, environment: Json, search: str = "") -> Page:
    await person.page.goto(environment_page(environment) + search)
    await expect(link(person.page, NAMES[0])).to_be_visible()
    return person.page


async def switched(person: Person, environment: Json) -> list[str]:
    """Return the names of the flags that were switched, the last one first."""
    changes = (await person.api.get(f"/api{environment_page(environment)}/changes")).json()["items"]
    return [change["after"]["name"] for change in changes if change["action"] == "flag.updated"]


@pytest.mark.parametrize("place", ["heading", "link"])
async def test_space_switches_no_flag_once_the_focus_has_left_its_row(
    ada: Person, production: Json, place: str
) -> None:
    page = await open_list(ada, production)
    await page.keyboard.press("j")
    await expect(link(page, "Experiment 47 search")).to_be_focused()
    await page.get_by_role("checkbox", name="Choose Experiment 46 menu").check()
    if place == "heading":
        await page.get_by_role("heading", name="Flags", exact=True).click()
    else:
        await page.get_by_role("navigation").get_by_role("link", name="Segments").focus()
    await page.keyboard.press("Space")
    # The server gets the switches of an environment in their order, so that this one proves that there was none before.
    await link(page, "Experiment 45 cart").focus()
    await page.keyboard.press("Space")
    await ada.sees("Experiment 45 cart was turned off.")
    assert await switched(ada, production) == ["Experiment 45 cart"]


async def test_a_row_that_was_clicked_between_its_controls_has_no_keys(ada: Person, production: Json) -> None:
    page = await open_list(ada, production)
    await page.get_by_role("row", name="Experiment 46 menu").get_by_text("Everyone").click()
    await page.keyboard.press("Space")
    await link(page, "Experiment 45 cart").focus()
    await page.keyboard.press("Space")
    await ada.sees("Experiment 45 cart was turned off.")
    assert await switched(ada, production) == ["Experiment 45 cart"]


async def test_space_switches_the_flag_with_the_focus_although_a_colleague_has_created_one_above(
    ada: Person, production: Json
) -> None:
    page = await open_list(ada, production)
    await page.keyboard.press("j")
    await expect(link(page, "Experiment 47 search")).to_be_focused()
    await create(ada, production, "Experiment 48 login")
    await expect(switch(page, "Experiment 48 login")).to_be_checked()
    await expect(link(page, "Experiment 47 search")).to_be_focused()
    await page.keyboard.press("Space")
    await ada.sees("Experiment 47 search was turned off.")
    await expect(switch(page, "Experiment 47 search")).not_to_be_checked()
    await expect(switch(page, "Experiment 48 login")).to_be_checked()
    assert await switched(ada, production) == ["Experiment 47 search"]
    await page.keyboard.press("j")
    await expect(link(page, "Experiment 46 menu")).to_be_focused()


async def test_after_a_flag_has_left_the_list_space_switches_none_and_j_goes_on_from_its_place(
    ada: Person, production: Json
) -> None:
    page = await open_list(ada, production, "?state=on")
    await page.keyboard.press("j")
    await page.keyboard.press("j")
    await expect(link(page, "Experiment 46 menu")).to_be_focused()
    await page.keyboard.press("Space")
    await expect(link(page, "Experiment 46 menu")).to_have_count(0)
    await ada.sees("Experiment 46 menu was turned off.")
    await page.keyboard.press("Space")
    await page.keyboard.press("j")
    await expect(link(page, "Experiment 45 cart")).to_be_focused()
    await page.keyboard.press("Space")
    await ada.sees("Experiment 45 cart was turned off.")
    await page.keyboard.press("k")
    await expect(link(page, "Experiment 47 search")).to_be_focused()
    assert await switched(ada, production) == ["Experiment 45 cart", "Experiment 46 menu"]


async def test_a_held_space_switches_once(ada: Person) -> None:
    staging = await ada.api.get_environment(await ada.api.create_project(), "staging")  # where turning on never asks
    for name in NAMES:
        await create(ada, staging, name)
    page = await open_list(ada, staging)
    await link(page, "Experiment 46 menu").focus()
    for _ in range(4):
        await page.keyboard.down("Space")  # repeated by the keyboard from the second time on
    await page.keyboard.up("Space")
    await expect(switch(page, "Experiment 46 menu")).not_to_be_checked()
    await link(page, "Experiment 45 cart").focus()
    await page.keyboard.press("Space")
    await ada.sees("Experiment 45 cart was turned off.")
    assert await switched(ada, staging) == ["Experiment 45 cart", "Experiment 46 menu"]


async def nothing_but_palette(ada: Person, production: Json, page: Page) -> None:
    """Press each single key in a row of the list, and check that none of them does anything."""
    await link(page, "Experiment 46 menu").focus()
    for key in ("/", "j", "k", "?", "Space"):
        await page.keyboard.press(key)
        await expect(link(page, "Experiment 46 menu")).to_be_focused()
    await page.keyboard.press("ControlOrMeta+k")
    await expect(page.get_by_label("Command palette").last).to_be_focused()
    await page.keyboard.type("shortcuts")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    assert await switched(ada, production) == []


async def test_single_keys_can_be_turned_off_in_the_dialog_and_in_the_account(ada: Person, production: Json) -> None:
    page = await open_list(ada, production)
    dialog = page.get_by_role("dialog", name="Keyboard shortcuts")
    single = page.get_by_role("switch", name="Single-key shortcuts")
    await expect(page.get_by_role("main")).to_contain_text("J and K to move")
    await page.keyboard.press("?")
    await dialog.get_by_role("switch", name="Single-key shortcuts").press("Space")
    await expect(single).not_to_be_checked()
    await page.keyboard.press("Escape")
    await expect(dialog).to_have_count(0)
    await expect(page.get_by_role("main")).not_to_contain_text("J and K to move")
    await nothing_but_palette(ada, production, page)
    await page.reload()  # it is remembered
    await expect(link(page, "Experiment 46 menu")).to_be_visible()
    await nothing_but_palette(ada, production, page)

    other = await page.context.new_page()  # of the same browser, which follows at once
    await other.goto(f"{ada.url}/account")
    in_account = other.get_by_role("region", name="Keyboard shortcuts").get_by_role("switch")
    await expect(in_account).not_to_be_checked()
    await in_account.click()
    await expect(in_account).to_be_checked()
    await expect(single).to_be_checked()
    await other.close()
    await page.keyboard.press("Escape")
    await expect(dialog).to_have_count(0)
    await page.keyboard.press("/")
    await expect(page.get_by_role("searchbox")).to_be_focused()
    await page.get_by_role("heading", name="Flags", exact=True).click()
    await page.keyboard.press("?")
    await expect(dialog).to_be_visible()
