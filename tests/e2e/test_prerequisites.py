"""Prerequisites: choosing the flags that a flag needs, and the graph of what it needs and what needs it."""

import pytest_asyncio
from playwright.async_api import Locator, expect

from tests.e2e.keyboard import NEXT_TURN
from tests.e2e.people import Person, flag_page
from tests.support.api import Json

COLOURS = [{"key": key, "weight": 1, "value": key} for key in ("blue", "green", "red")]


@pytest_asyncio.fixture(loop_scope="session")
async def environment(ada: Person) -> Json:
    """The production of a new project."""
    return await ada.api.get_environment(await ada.api.create_project())


async def create_flag(ada: Person, environment: Json, key: str, *needed: str, **values: object) -> Json:
    """Create a flag that needs others."""
    prerequisites = [{"flag_key": each} for each in needed]
    return await ada.api.create_flag(environment, key=key, name=key.capitalize(), prerequisites=prerequisites, **values)


def prerequisite(ada: Person, number: int) -> Locator:
    """Return a prerequisite in the open dialog."""
    return ada.page.get_by_role("dialog").get_by_role("group", name=f"Prerequisite {number}")


def graph(ada: Person) -> Locator:
    """Return the graph on the flag's page."""
    return ada.page.get_by_role("region", name="Flags that this flag needs, and flags that need it")


async def choose(ada: Person, number: int, name: str) -> None:
    """Choose the flag of a prerequisite by typing a part of its name."""
    await prerequisite(ada, number).get_by_role("combobox", name="Flag").fill(name)
    await ada.page.get_by_role("option", name=name).click()


async def open_dialog(ada: Person, flag: Json, button: str = "Add prerequisites") -> Locator:
    """Open a flag's page and its dialog for prerequisites."""
    await ada.page.goto(flag_page(flag))
    await ada.press(button)
    return ada.page.get_by_role("dialog")


async def test_a_cycle_is_refused_at_the_flag_that_closes_it(ada: Person, environment: Json) -> None:
    flag = await create_flag(ada, environment, "base")
    await create_flag(ada, environment, "free")
    await create_flag(ada, environment, "middle", "base")
    await create_flag(ada, environment, "last", "middle")
    dialog = await open_dialog(ada, flag)
    await choose(ada, 1, "Free")
    await dialog.get_by_role("button", name="Add flag").click()
    await choose(ada, 2, "Last")
    await dialog.get_by_role("button", name="Save").click()
    second = prerequisite(ada, 2)
    await expect(second).to_contain_text("Would form a cycle: base needs last needs middle needs base")
    await expect(second.get_by_role("combobox", name="Flag")).to_be_focused()
    await expect(prerequisite(ada, 1).locator("[aria-invalid=true]")).to_have_count(0)
    assert (await ada.api.get(f"/api{flag_page(flag)}")).json()["prerequisites"] == []


async def test_a_flag_that_was_deleted_meanwhile_or_not_chosen_is_refused_at_its_field(
    ada: Person, environment: Json
) -> None:
    flag = await create_flag(ada, environment, "needing")
    other = await create_flag(ada, environment, "other")
    dialog = await open_dialog(ada, flag)
    await choose(ada, 1, "Other")
    await ada.api.delete(f"/api{flag_page(other)}")
    await dialog.get_by_role("button", name="Save").click()
    await expect(prerequisite(ada, 1)).to_contain_text("Must be the key of a flag of this environment")
    await dialog.get_by_role("button", name="Add flag").click()
    await dialog.get_by_role("button", name="Save").click()
    await expect(prerequisite(ada, 2).get_by_role("combobox", name="Flag")).to_have_attribute("aria-invalid", "true")


async def test_enter_chooses_the_highlighted_flag_although_somebody_else_has_created_one_above(
    ada: Person, environment: Json
) -> None:
    flag = await create_flag(ada, environment, "needing")
    for key in ("first", "second", "third"):
        await create_flag(ada, environment, key)
    await open_dialog(ada, flag)
    field = prerequisite(ada, 1).get_by_role("combobox", name="Flag")
    await field.fill("ir")  # which is in two names
    await expect(options(ada)).to_have_text(["Third (third)", "First (first)"])
    await highlight(ada, "First (first)")
    await create_flag(ada, environment, "bird")
    await expect(options(ada)).to_have_text(["Bird (bird)", "Third (third)", "First (first)"])
    await ada.page.keyboard.press("Enter")
    await expect(field).to_have_value("First (first)")


async def test_enter_chooses_no_flag_if_the_highlighted_one_is_gone(ada: Person, environment: Json) -> None:
    flag = await create_flag(ada, environment, "needing")
    flags = [await create_flag(ada, environment, key) for key in ("first", "third", "bird")]
    await open_dialog(ada, flag)
    field = prerequisite(ada, 1).get_by_role("combobox", name="Flag")
    await field.fill("ir")
    await expect(options(ada)).to_have_text(["Bird (bird)", "Third (third)", "First (first)"])
    await highlight(ada, "Third (third)")
    await ada.api.delete(f"/api{flag_page(flags[1])}")
    await expect(options(ada)).to_have_text(["Bird (bird)", "First (first)"])
    await ada.page.keyboard.press("Enter")
    await expect(field).to_have_value("ir")
    await highlight(ada, "Bird (bird)")
    await ada.page.keyboard.press("Enter")
    await expect(field).to_have_value("Bird (bird)")


def options(ada: Person) -> Locator:
    """Return the flags that a field offers."""
    return ada.page.get_by_role("listbox").get_by_role("option")


async def highlight(ada: Person, name: str) -> None:
    """Go to an option with the arrow key, so that Enter chooses it."""
    highlighted = ada.page.locator("[data-combobox-selected]")
    for _ in range(await options(ada).count()):
        await ada.page.keyboard.press("ArrowDown")
        await ada.page.evaluate(NEXT_TURN)
        await expect(highlighted).to_have_count(1)
        if await highlighted.inner_text() == name:
            return
    raise AssertionError(f"never highlighted: {name}")


async def test_at_least_one_variant_must_be_chosen(ada: Person, environment: Json) -> None:
    flag = await create_flag(ada, environment, "needing")
    await create_flag(ada, environment, "plain")
    await create_flag(ada, environment, "coloured", variants=COLOURS)
    dialog = await open_dialog(ada, flag)
    await choose(ada, 1, "Plain")
    await prerequisite(ada, 1).get_by_label("Must be").select_option("variants")
    await expect(prerequisite(ada, 1)).to_contain_text("This flag has no variants.")
    await choose(ada, 1, "Coloured")
    await dialog.get_by_role("button", name="Save").click()
    await expect(prerequisite(ada, 1)).to_contain_text("Must contain at least one variant")
    assert (await ada.api.get(f"/api{flag_page(flag)}")).json()["prerequisites"] == []


async def test_prerequisites_are_chosen_changed_and_removed(ada: Person, environment: Json) -> None:
    flag = await create_flag(ada, environment, "needing")
    await create_flag(ada, environment, "coloured", variants=COLOURS)
    await create_flag(ada, environment, "banner", enabled=False)
    await ada.page.goto(flag_page(flag))
    await ada.sees("This flag has no prerequisites.")
    await expect(graph(ada)).to_have_count(0)
    dialog = await open_dialog(ada, flag)
    await expect(prerequisite(ada, 1).get_by_role("combobox", name="Flag")).to_be_focused()
    await choose(ada, 1, "Coloured")
    await prerequisite(ada, 1).get_by_label("Must be").select_option("variants")
    for colour in ("green", "red"):
        await prerequisite(ada, 1).get_by_label(colour).check()
    await dialog.get_by_role("button", name="Add flag").click()
    await choose(ada, 2, "Banner")
    await prerequisite(ada, 2).get_by_label("Must be").select_option("off")
    await dialog.get_by_role("button", name="Save").click()
    await expect(graph(ada).get_by_role("listitem").filter(has_text="needing")).to_contain_text(
        "Requires that coloured is on with green or red and banner is off."
    )
    await expect(ada.page.get_by_role("region", name="State")).to_contain_text(
        "It also requires that coloured is on with green or red and banner is off."
    )
    assert (await ada.api.get(f"/api{flag_page(flag)}")).json()["prerequisites"] == [
        {"flag_key": "coloured", "enabled": True, "variants": ["green", "red"]},
        {"flag_key": "banner", "enabled": False, "variants": []},
    ]
    await ada.press("Edit prerequisites")
    await expect(prerequisite(ada, 1).get_by_label("red")).to_be_checked()
    await dialog.get_by_role("button", name="Remove prerequisite 1").click()
    await prerequisite(ada, 1).get_by_label("Must be").select_option("on")
    await dialog.get_by_role("button", name="Save").click()
    await expect(ada.page.get_by_role("region", name="State")).to_contain_text("It also requires that banner is on.")
    await expect(graph(ada).get_by_role("listitem")).to_have_count(2)


async def test_the_graph_shows_what_is_needed_transitively_and_by_whom_and_leads_there(
    ada: Person, environment: Json
) -> None:
    await create_flag(ada, environment, "base", enabled=False)
    await create_flag(ada, environment, "unrelated", "base")
    await create_flag(ada, environment, "middle", "base")
    flag = await create_flag(ada, environment, "needing", "middle", "base")
    await create_flag(ada, environment, "last", "needing")
    await ada.page.goto(flag_page(flag))
    nodes = graph(ada).get_by_role("listitem")
    await expect(nodes).to_have_text(
        [
            "base(Off)",
            "middle(On)Requires that base is on.",
            "needing(On)Requires that middle is on and base is on.",
            "last(On)Requires that needing is on.",
        ]
    )
    await graph(ada).get_by_role("link", name="base (Off)").click()
    await ada.sees_heading("Base")
    await ada.sees("This flag has no prerequisites, but other flags need it.")
    await expect(nodes.last).to_contain_text("last")
    await expect(graph(ada).get_by_role("link", name="base")).to_have_count(0)
