"""One flag in all environments: the strip on its page, its page in another environment, and the flags side by side."""

import re
from typing import Any

import pytest_asyncio
from playwright.async_api import Locator, Route, expect

from tests.e2e.people import Person, environment_page, evaluate_and_record, flag_page
from tests.support.api import Json


@pytest_asyncio.fixture(loop_scope="session")
async def project(ada: Person) -> Json:
    """A project with a flag that differs between its environments, one that does not, and one in production only."""
    project = await ada.api.create_project()
    for key in ("production", "staging"):
        environment = project[key] = await ada.api.get_environment(project, key)
        flag = await ada.api.create_flag(environment, enabled=key == "staging", rollout_percentage=25)
        project[f"{key}_flag"] = flag
        await ada.api.create_flag(environment, key="gift-cards", name="Gift cards")
    await ada.api.create_rule(project["staging_flag"])
    await ada.api.create_flag(project["production"], key="dark-mode", name="Dark mode", description="At night")
    return project


def page_of(project: Json) -> str:
    return f"/projects/{project['id']}/flags"


def names(ada: Person) -> Locator:
    return ada.page.get_by_role("rowheader").get_by_role("link")


def strip(ada: Person) -> Locator:
    return ada.page.get_by_role("navigation", name="This flag in all environments")


async def is_on(ada: Person, flag: Json) -> bool:
    enabled: bool = (await ada.api.get(f"/api{flag_page(flag)}")).json()["enabled"]
    return enabled


async def follow(ada: Person, here: str, there: str) -> None:
    """Choose this environment in the header."""
    await ada.press(f"Environment {here}, switch environment")
    await ada.page.get_by_role("menuitem", name=there).click()


async def test_flags_stand_side_by_side_and_are_switched_in_their_environment(ada: Person, project: Json) -> None:
    page = ada.page
    await page.goto(page_of(project))
    await ada.sees_heading("Flags in all environments")
    await expect(page.get_by_role("columnheader")).to_have_text(["Flag", "Production", "Staging"])
    await expect(names(ada)).to_have_text(["Dark mode", "Gift cards", "New checkout"])
    row = page.get_by_role("row").filter(has_text="new-checkout")
    await expect(row).to_contain_text("Differs: state, rules")
    await expect(row.get_by_role("cell")).to_have_text(["Off25% of users", "On1 rule, then 25%"])
    switch = page.get_by_role("switch", name="New checkout in Production")
    await expect(switch).not_to_be_checked()
    await ada.turn_on(switch)
    await expect(switch).to_be_checked()
    await ada.sees("New checkout was turned on in Production.")
    await expect(row).to_contain_text("Differs: rules")
    assert await is_on(ada, project["production_flag"])
    await ada.press("Undo")
    await expect(switch).not_to_be_checked()
    assert not await is_on(ada, project["production_flag"])
    await expect(page.get_by_role("switch", name="New checkout in Staging")).to_be_checked()


async def test_a_refused_switch_is_reverted_and_shows_the_reason(ada: Person, project: Json) -> None:
    async def refuse(route: Route) -> None:
        problem: Any = {"type": "x", "title": "x", "status": 503, "detail": "The database is away.", "request_id": "1"}
        await route.fulfill(status=503, json=problem, content_type="application/problem+json")

    await ada.page.goto(page_of(project))
    switch = ada.page.get_by_role("switch", name="New checkout in Staging")
    await expect(switch).to_be_checked()
    await ada.page.route("**/environments/*/flags/*", refuse)
    await switch.click()
    await ada.sees("New checkout could not be turned off in Staging")
    await ada.sees("The database is away.")
    await expect(switch).to_be_checked()


async def test_filters_are_in_the_url_and_survive_a_reload(ada: Person, project: Json) -> None:
    page = ada.page
    await page.goto(page_of(project))
    await page.get_by_label("Only flags that differ between environments").check()
    await expect(names(ada)).to_have_text(["Dark mode", "New checkout"])
    await page.get_by_role("searchbox").fill("CHECK")
    await expect(names(ada)).to_have_text(["New checkout"])
    await expect(page).to_have_url(re.compile(r"\?q=CHECK&differs=true$|\?differs=true&q=CHECK$"))
    await page.reload()
    await expect(names(ada)).to_have_text(["New checkout"])
    await expect(page.get_by_label("Only flags that differ between environments")).to_be_checked()
    await page.get_by_role("searchbox").fill("gift")
    await ada.sees_heading("No matching flags")
    await ada.press("Clear filters")
    await expect(names(ada)).to_have_count(3)


async def test_more_flags_are_shown_on_demand(ada: Person, project: Json) -> None:
    for number in range(51):
        await ada.api.create_flag(project["staging"], key=f"x-{number:02}", name=f"Experiment {number}")
    await ada.page.goto(page_of(project))
    await expect(names(ada)).to_have_count(50)
    await ada.press("Show more flags")
    await expect(names(ada)).to_have_count(54)
    await ada.sees("There are no more entries.")


async def test_the_page_is_reached_from_the_sections_and_the_palette(ada: Person, project: Json) -> None:
    page = ada.page
    await page.goto(environment_page(project["staging"]))
    sections = page.get_by_role("navigation", name="Sections")
    await sections.get_by_role("link", name="All environments").click()
    await ada.sees_heading("Flags in all environments")
    await expect(sections.get_by_role("link", name="All environments")).to_have_attribute("aria-current", "page")
    await page.get_by_role("link", name="No flag: dark-mode in Staging").click()
    await ada.sees_heading("dark-mode does not exist in Staging")
    await page.keyboard.press("ControlOrMeta+k")
    await page.get_by_role("textbox", name="Command palette").or_(page.get_by_role("searchbox")).first.fill("all env")
    await page.keyboard.press("Enter")
    await ada.sees_heading("Flags in all environments")


async def test_a_flags_page_shows_it_in_all_environments_and_leads_there(ada: Person, project: Json) -> None:
    page = ada.page
    await evaluate_and_record(ada, project["staging"], {"user_id": "ada"}, {"user_id": "grace"})
    await page.goto(flag_page(project["production_flag"]))
    tiles = strip(ada).get_by_role("link")
    await expect(tiles).to_have_count(2)
    await expect(tiles.nth(0)).to_contain_text("When on: 25% of users")
    await expect(tiles.nth(0)).to_contain_text("Not evaluated in 24 hours")
    await expect(tiles.nth(0)).to_have_attribute("aria-current", "page")
    await expect(tiles.nth(1)).to_contain_text("1 rule, then 25%")
    await expect(tiles.nth(1)).to_contain_text("2 in 24 hours")
    await ada.turn_on(page.get_by_role("region", name="State").get_by_role("switch"))
    await expect(tiles.nth(0)).to_contain_text("On")
    await tiles.nth(1).click()
    await expect(page).to_have_url(re.compile(flag_page(project["staging_flag"]) + "$"))
    await expect(tiles.nth(1)).to_have_attribute("aria-current", "page")


async def test_another_environment_shows_the_flag_with_the_same_key(ada: Person, project: Json) -> None:
    page = ada.page
    await page.goto(f"{flag_page(project['production_flag'])}?tab=changes")
    await ada.sees_heading("New checkout")
    await follow(ada, "Production", "Staging")
    await expect(page).to_have_url(re.compile(flag_page(project["staging_flag"]) + r"\?tab=changes$"))
    await expect(page.get_by_role("tab", name="Changes")).to_have_attribute("aria-selected", "true")
    await page.go_back()
    await expect(page).to_have_url(re.compile(flag_page(project["production_flag"])))


async def test_a_flag_that_is_not_in_the_other_environment_can_be_created_there(ada: Person, project: Json) -> None:
    page = ada.page
    flags = (await ada.api.get(f"/api{environment_page(project['production'])}/flags")).json()
    dark_mode = next(each for each in flags if each["key"] == "dark-mode")
    owned = {"owner": "payments", "keep": True}
    (await ada.api.put(f"/api{flag_page(dark_mode)}", json=owned)).raise_for_status()
    await page.goto(flag_page(dark_mode))
    await expect(strip(ada).get_by_role("link").nth(1)).to_contain_text("No flag")
    await follow(ada, "Production", "Staging")
    await ada.sees_heading("dark-mode does not exist in Staging")
    await ada.press("Create it here")
    await ada.sees_heading("Dark mode")
    await expect(page).to_have_url(re.compile(environment_page(project["staging"]) + "/flags/"))
    created = (await ada.api.get(f"/api{environment_page(project['staging'])}/flags")).json()[0]
    assert (created["key"], created["description"], created["enabled"]) == ("dark-mode", "At night", False)
    assert {name: created[name] for name in owned} == owned
    await expect(strip(ada).get_by_role("link").nth(1)).not_to_contain_text("No flag")


async def test_a_key_that_no_environment_has_is_named(ada: Person, project: Json) -> None:
    await ada.page.goto(f"{environment_page(project['staging'])}/flags/by-key/never")
    await ada.sees_heading("never does not exist in Staging")
    await ada.sees_heading("It exists in no environment of this project")
    await ada.page.get_by_role("link", name="All flags in Staging").click()
    await ada.sees_heading("Flags")
