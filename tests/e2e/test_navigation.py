"""The navigation: a group for each level, beside the page or, on a phone, in a menu."""

from playwright.async_api import Locator, expect

from tests.e2e.accessibility import UNBROKEN, check_in_both_schemes, stays_within
from tests.e2e.people import Person, environment_page, flag_page

OF_ENVIRONMENT = ["Flags", "Releases", "History", "Changes", "Applications", "Clean up"]
OF_PROJECT = ["Overview", "All environments", "Compare environments", "Segments", "Metrics", "Users", "Playground"]
SETTINGS = ["Members", "SDK keys", "Tokens", "Webhooks", "All changes", "Settings"]


def navigation(person: Person) -> Locator:
    return person.page.get_by_role("navigation", name="Sections")


def group(person: Person, name: str) -> Locator:
    """Return the links of a level."""
    return navigation(person).get_by_role("group", name=name, exact=True).get_by_role("link")


async def test_each_page_stands_with_its_level(ada: Person) -> None:
    flag = await ada.api.create_flag()
    project = (await ada.api.get(f"/api/projects/{flag['project_id']}")).json()
    here = environment_page({"project_id": project["id"], "id": flag["environment_id"]})
    await ada.page.goto(here)
    await expect(group(ada, "Environment Production")).to_have_text(OF_ENVIRONMENT)
    await expect(group(ada, f"Project {project['name']}")).to_have_text([*OF_PROJECT, *SETTINGS])
    for name in ("All projects", "Your account", "Your access tokens"):
        await expect(group(ada, "Instance").filter(has_text=name)).to_be_visible()
    await check_in_both_schemes(ada, "the navigation")
    current = navigation(ada).locator("[aria-current=page]")
    for name in (*OF_ENVIRONMENT, *OF_PROJECT, *SETTINGS, "Your account", "Your access tokens"):
        await navigation(ada).get_by_role("link", name=name, exact=True).click()
        await expect(current).to_have_text([name])
        await expect(ada.page.get_by_role("heading", level=1)).to_be_visible()
        if name == "Your account":
            await expect(group(ada, "Environment Production")).to_have_count(0)
    await ada.page.goto(flag_page(flag))
    await expect(navigation(ada).locator("[data-current]")).to_have_text("Flags")


async def test_a_page_of_the_project_leads_back_to_the_environment_that_was_opened_last(ada: Person) -> None:
    project = await ada.api.create_project()
    staging = await ada.api.get_environment(project, "staging")
    await ada.page.goto(environment_page(staging))
    await ada.sees_heading("No flags in Staging yet")
    await navigation(ada).get_by_role("link", name="Overview").click()
    await ada.sees_heading("Overview")
    await expect(group(ada, "Environment Staging").first).to_be_visible()
    await navigation(ada).get_by_role("link", name="Flags", exact=True).click()
    await ada.sees_heading("No flags in Staging yet")


async def test_on_a_phone_the_navigation_is_a_menu_for_the_keyboard_and_the_finger(ada: Person) -> None:
    page = ada.page
    await page.set_viewport_size({"width": 390, "height": 844})
    project = await ada.api.create_project(name=UNBROKEN)
    environment = await ada.api.create_environment(project, name=UNBROKEN, key="long")
    await page.goto(environment_page({**environment, "project_id": project["id"]}))
    menu = page.get_by_role("button", name="Menu", exact=True)
    await expect(navigation(ada)).to_be_hidden()
    await menu.press("Enter")
    await expect(navigation(ada)).to_be_visible()
    await page.keyboard.press("Tab")
    await expect(navigation(ada).get_by_role("link").first).to_be_focused()
    await check_in_both_schemes(ada, "the navigation on a phone")
    await stays_within(ada)
    await page.keyboard.press("Escape")
    await expect(navigation(ada)).to_be_hidden()
    await expect(menu).to_be_focused()
    await menu.click()
    await navigation(ada).get_by_role("link", name="Settings").click()
    await ada.sees_heading("Project settings")
    await expect(navigation(ada)).to_be_hidden()
    await stays_within(ada)
    for name in (UNBROKEN, f"Environment {UNBROKEN}"):  # the current project and environment are always visible
        await expect(page.get_by_role("banner").get_by_role("button", name=name).first).to_be_in_viewport()
