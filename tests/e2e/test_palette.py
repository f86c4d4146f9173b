"""The command palette: its first result is selected, it acts on flags and pages, and `?` shows the keys."""

import asyncio
import re
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Locator, Route, expect

from tests.e2e.accessibility import AXE, check_in_both_schemes, stays_within
from tests.e2e.people import Person, environment_page, flag_page
from tests.support.api import Json, flag_path


@pytest.fixture
def options() -> dict[str, Any]:
    """The options of a browser that shows motion, such as dialogs that fade in."""
    return {"reduced_motion": "no-preference"}


@pytest_asyncio.fixture(loop_scope="session")
async def staging(ada: Person) -> Json:
    """The staging environment of a project, with a flag that production has as well."""
    project = await ada.api.create_project()
    staging = await ada.api.get_environment(project, "staging")
    await ada.api.create_flag(staging, enabled=False)
    return staging


@pytest_asyncio.fixture(loop_scope="session")
async def production_flag(ada: Person, staging: Json) -> Json:
    """The flag in production, which is on."""
    production = await ada.api.get_environment({"id": staging["project_id"]})
    return await ada.api.create_flag(production)


def field(person: Person) -> Locator:
    """Return the field of the palette."""
    return person.page.get_by_label("Command palette").last


def selected(person: Person) -> Locator:
    """Return the selected result."""
    return person.page.locator("[data-action][data-selected]")


async def open_palette(person: Person, text: str = "") -> None:
    await person.page.keyboard.press("ControlOrMeta+k")
    await expect(field(person)).to_be_focused()
    await person.page.keyboard.type(text)


async def test_the_first_result_is_always_selected(ada: Person, staging: Json) -> None:
    await ada.page.goto(environment_page(staging))
    await ada.sees_heading("Flags")
    first = ada.page.locator("[data-action]").first
    await open_palette(ada)
    for text in ("", "e", "n", "v"):
        await ada.page.keyboard.type(text)
        await expect(selected(ada)).to_have_count(1)
        await expect(first).to_have_attribute("data-selected", "true")
    await ada.page.keyboard.press("ArrowDown")
    await expect(first).not_to_have_attribute("data-selected", "true")
    await field(ada).fill("new-check")
    await expect(selected(ada)).to_contain_text("New checkout")
    await ada.page.keyboard.press("Enter")
    await ada.sees_heading("New checkout")
    await open_palette(ada)  # the same after it is opened again
    await expect(first).to_have_attribute("data-selected", "true")


async def test_a_flag_of_another_environment_is_turned_off_without_a_question_and_on_after_one(
    ada: Person, staging: Json, production_flag: Json
) -> None:
    page = ada.page
    await page.goto(environment_page(staging))
    await ada.sees_heading("Flags")
    await open_palette(ada, "turn off new-checkout in prod")
    await expect(selected(ada)).to_have_text("Turn off New checkout in Productionnew-checkout")
    if AXE.is_file():
        await check_in_both_schemes(ada, "turning off")
    await page.keyboard.press("Enter")
    await ada.sees("New checkout was turned off in Production.")
    assert (await ada.api.get(flag_path(production_flag))).json()["enabled"] is False

    await open_palette(ada, "turn on new checkout")
    results = page.locator("[data-action]")
    await expect(results).to_have_text([re.compile("in Staging"), re.compile("in Production")])
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("Enter")
    question = page.get_by_role("dialog", name="Turn on New checkout in Production?")
    await expect(question.get_by_role("button", name="Cancel")).to_be_focused()
    assert (await ada.api.get(flag_path(production_flag))).json()["enabled"] is False
    await ada.confirm_turning_on()
    await ada.sees("New checkout was turned on in Production.")
    assert (await ada.api.get(flag_path(production_flag))).json()["enabled"] is True


async def test_a_flag_that_is_already_off_says_so_and_opens(ada: Person, staging: Json, production_flag: Json) -> None:
    (await ada.api.put(flag_path(production_flag), json={"enabled": False})).raise_for_status()
    await ada.page.goto(environment_page(staging))
    await ada.sees_heading("Flags")
    await open_palette(ada, "turn off new-checkout in prod")
    await expect(selected(ada)).to_have_text("New checkout is already off in Productionnew-checkout")
    await ada.page.keyboard.press("Enter")
    await ada.sees_heading("New checkout")
    assert ada.page.url.endswith(flag_page(production_flag))


async def test_a_flag_is_turned_off_in_all_environments_after_one_question_that_names_them(
    ada: Person, staging: Json, production_flag: Json
) -> None:
    page, flags = ada.page, (await ada.api.get(f"/api{environment_page(staging)}/flags")).json()
    (staging_flag,) = (each for each in flags if each["key"] == "new-checkout")
    both = (production_flag, staging_flag)
    for flag in both:
        (await ada.api.put(flag_path(flag), json={"enabled": True})).raise_for_status()
    await page.goto(environment_page(staging))
    await ada.sees_heading("Flags")
    await open_palette(ada, "turn off new-checkout in all environments")
    await expect(page.locator("[data-action]")).to_have_text(["Turn off New checkout in all environments…new-checkout"])
    await page.keyboard.press("Enter")
    question = page.get_by_role("dialog", name="Turn off New checkout in all environments?")
    await expect(question).to_contain_text("It is turned off in Production and Staging. Its rules are kept.")
    await expect(question.get_by_role("button", name="Cancel")).to_be_focused()
    await question.get_by_role("button", name="Turn off").click()
    await ada.sees("New checkout was turned off in ")  # one message after the other
    async with asyncio.timeout(30):
        while any([(await ada.api.get(flag_path(flag))).json()["enabled"] for flag in both]):
            await asyncio.sleep(0.05)

    await page.goto(flag_page(production_flag))  # and from its page
    await ada.press("Actions")
    await page.get_by_role("menuitem", name="Turn off everywhere…").click()
    await expect(question).to_contain_text("It is off in all environments that you may change.")


async def test_the_flag_of_the_page_is_turned_off_by_name_of_the_action_alone(
    ada: Person, production_flag: Json
) -> None:
    await ada.page.goto(flag_page(production_flag))
    await ada.sees_heading("New checkout")
    await open_palette(ada, "turn off")
    await expect(selected(ada)).to_contain_text("Turn off New checkout in Production")
    await ada.page.keyboard.press("Enter")
    await ada.sees("New checkout was turned off in Production.")


async def test_results_for_an_earlier_text_are_not_acted_upon(
    ada: Person, staging: Json, production_flag: Json
) -> None:
    asked: asyncio.Future[Route] = asyncio.get_running_loop().create_future()
    await ada.page.goto(environment_page(staging))
    await ada.sees_heading("Flags")
    await open_palette(ada, "turn off new")
    await expect(selected(ada)).to_contain_text("in Production")
    await ada.page.route("**/flags?q=news*", lambda route: asked.set_result(route))  # noqa: PLW0108 -- not a builtin
    await ada.page.keyboard.type("s")
    await expect(ada.page.locator("[data-action]")).to_have_count(0)
    await ada.page.keyboard.press("Enter")
    await (await asked).continue_()
    await ada.sees("Nothing found")
    assert (await ada.api.get(flag_path(production_flag))).json()["enabled"] is True


async def test_a_chosen_result_stays_chosen_when_somebody_else_changes_the_others_and_is_not_replaced(
    ada: Person, staging: Json
) -> None:
    flags = [await ada.api.create_flag(staging, key=f"pay-{name}", name=f"Pay {name}") for name in ("a", "b", "c")]
    await ada.page.goto(environment_page(staging))
    await ada.sees_heading("Flags")
    await open_palette(ada, "turn off pay- in staging")
    results = ada.page.locator("[data-action]")
    await expect(results).to_have_count(3)
    first, last = [await results.nth(place).inner_text() for place in (0, 2)]
    await ada.page.keyboard.press("ArrowUp")
    await expect(selected(ada)).to_have_text(last, use_inner_text=True)
    (above,) = [flag for flag in flags if flag["key"] in first]
    (chosen,) = [flag for flag in flags if flag["key"] in last]
    (await ada.api.post(f"{flag_path(above)}/toggle")).raise_for_status()
    await expect(results).to_have_count(2)
    await expect(selected(ada)).to_have_text(last, use_inner_text=True)
    (await ada.api.post(f"{flag_path(chosen)}/toggle")).raise_for_status()
    await expect(results).to_have_count(1)
    await expect(selected(ada)).to_have_count(0)
    await ada.page.keyboard.press("Enter")
    await ada.page.keyboard.press("ArrowDown")  # the palette is still open
    await expect(selected(ada)).to_have_text(re.compile("Turn off Pay"))
    states = [(await ada.api.get(flag_path(flag))).json()["enabled"] for flag in flags]
    assert states.count(True) == 1


async def test_it_creates_a_flag_copies_the_link_and_switches_the_environment(ada: Person, staging: Json) -> None:
    page = ada.page
    await page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await page.goto(environment_page(staging) + "?sort=name")
    await ada.sees_heading("Flags")
    await open_palette(ada, "new flag")
    await page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="New flag")
    await expect(dialog.get_by_label("Name")).to_be_focused()
    await page.keyboard.type("Gift cards")
    await page.keyboard.press("Enter")
    await ada.sees_heading("Gift cards")

    await open_palette(ada, "copy link")
    await page.keyboard.press("Enter")
    await ada.sees("The link was copied.")
    assert await page.evaluate("navigator.clipboard.readText()") == page.url
    assert "/flags/" in page.url

    await open_palette(ada, "switch to prod")
    await page.keyboard.press("Enter")
    await ada.sees_heading("gift-cards does not exist in Production")


async def test_all_projects_are_found_from_any_page(ada: Person, staging: Json) -> None:
    other = await ada.api.create_project(name="Warehouse")
    await ada.page.goto(environment_page(staging))
    await ada.sees_heading("Flags")
    await open_palette(ada, "wareh")
    await expect(selected(ada)).to_have_text("Warehouse")
    await ada.page.keyboard.press("Enter")
    await expect(ada.page).to_have_url(re.compile(other["id"]))


async def test_no_user_is_looked_up_in_place_of_a_project_that_is_still_being_loaded(
    ada: Person, staging: Json
) -> None:
    other = await ada.api.create_project(name="Warehouse")
    asked: asyncio.Future[Route] = asyncio.get_running_loop().create_future()
    await ada.page.route("**/api/projects", lambda route: asked.set_result(route))  # noqa: PLW0108 -- not a builtin
    await ada.page.goto(environment_page(staging))
    await ada.sees_heading("Flags")
    await open_palette(ada, "wareh")
    projects = await asked
    await ada.sees("Nothing found")
    await ada.page.keyboard.press("Enter")
    await projects.continue_()
    await expect(selected(ada)).to_have_text("Warehouse")
    await ada.page.keyboard.press("Enter")
    await expect(ada.page).to_have_url(re.compile(other["id"]))


async def test_a_question_mark_shows_the_keys_but_not_in_a_field(ada: Person, staging: Json) -> None:
    page = ada.page
    keys = page.get_by_role("dialog", name="Keyboard shortcuts")
    await page.goto(environment_page(staging))
    await ada.sees_heading("Flags")
    await page.get_by_role("searchbox").fill("")
    await page.keyboard.type("?")
    await expect(page.get_by_role("searchbox")).to_have_value("?")
    await expect(keys).to_have_count(0)
    await page.keyboard.press("Escape")
    await page.keyboard.press("Escape")
    await page.keyboard.press("?")
    await expect(keys).to_contain_text("Go to the next or the previous flag")
    if AXE.is_file():
        await check_in_both_schemes(ada, "the keys")
    await page.set_viewport_size({"width": 320, "height": 700})
    await stays_within(ada)
    await page.keyboard.press("Escape")
    await expect(keys).to_have_count(0)
    await open_palette(ada, "?")
    await page.keyboard.press("Enter")
    await expect(keys).to_be_visible()


async def test_what_is_typed_before_the_palette_shows_reaches_no_key_of_the_page(ada: Person, staging: Json) -> None:
    page = ada.page
    await page.goto(environment_page(staging))
    await page.get_by_role("link", name="New checkout").focus()
    asked: asyncio.Future[Route] = asyncio.get_running_loop().create_future()
    await page.route("**/assets/Palette-*.js", lambda route: asked.set_result(route))  # noqa: PLW0108 -- not a builtin
    await page.keyboard.press("ControlOrMeta+k")
    loading = await asked
    await page.keyboard.type("jx")
    await page.keyboard.press("Backspace")
    await page.keyboard.type(" k/?")
    await loading.continue_()
    await expect(field(ada)).to_have_value("j k/?")
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("switch", name="New checkout")).not_to_be_checked()
    await expect(page.get_by_role("dialog")).to_have_count(0)
