"""The list of flags: switches, search and filters in the URL, keys, and five thousand rows."""

import asyncio
import re
from uuid import UUID

import pytest_asyncio
from playwright.async_api import Locator, Page, Route, expect

from flagstaff.database.database import Database
from tests.e2e.accessibility import AXE, check_in_both_schemes, stays_within
from tests.e2e.people import Person, environment_page, evaluate_and_record, flag_page, load_all
from tests.support.api import Json, flag_path
from tests.support.builders import make_environment, make_flag, store_all
from tests.support.releases import create_release
from tests.support.stores import Store

MIDDLES = """(elements) => elements.map((element) => {
  const { top, bottom } = element.getBoundingClientRect();
  return Math.round((top + bottom) / 2);
})"""
NAMES = ("Gift cards", "Express payment", "New checkout")
NAME = re.compile("^(?!.*: latest changes$)")  # each row also has a link to the flag's changes


@pytest_asyncio.fixture(loop_scope="session")
async def environment(ada: Person) -> Json:
    """An environment that is not critical, with three flags, the newest of which has a rollout."""
    environment = await ada.api.get_environment(await ada.api.create_project(), "staging")
    for name in NAMES:
        key = name.lower().replace(" ", "-")
        rollout = 25 if name == "New checkout" else 0
        await ada.api.create_flag(environment, name=name, key=key, enabled=False, rollout_percentage=rollout)
    return environment


async def test_a_refused_switch_is_reverted_and_shows_the_reason(ada: Person, environment: Json) -> None:
    async def refuse(route: Route) -> None:
        problem = {
            "type": "x",
            "title": "x",
            "status": 503,
            "detail": "The database cannot be reached.",
            "request_id": "1",
        }
        await route.fulfill(status=503, json=problem, content_type="application/problem+json")

    await ada.page.goto(environment_page(environment))
    switch = ada.page.get_by_role("switch", name="New checkout")
    await expect(switch).not_to_be_checked()
    await ada.page.route("**/flags/*", refuse)
    await switch.click()
    await ada.sees("New checkout could not be turned on")
    await ada.sees("The database cannot be reached.")
    await expect(switch).not_to_be_checked()


async def test_a_switch_changes_before_the_server_responds_and_stays_changed(ada: Person, environment: Json) -> None:
    answering = asyncio.Event()

    async def wait(route: Route) -> None:
        await answering.wait()
        await route.continue_()

    await ada.without_events()
    await ada.page.goto(environment_page(environment))
    switch = ada.page.get_by_role("switch", name="New checkout")
    await ada.page.route("**/flags/*", wait)
    await switch.click()
    await expect(switch).to_be_checked()
    await switch.click()
    await expect(switch).not_to_be_checked()
    await switch.click()
    await expect(switch).to_be_checked()
    answering.set()
    listed = (await ada.api.get(f"/api{environment_page(environment)}/flags")).json()
    (flag,) = (each for each in listed if each["key"] == "new-checkout")
    changes = f"/api{environment_page(environment)}/changes?flag_id={flag['id']}"
    async with asyncio.timeout(60):  # the page shows changes before the server has made them
        while len((await ada.api.get(changes)).json()["items"]) < 1 + 3:
            await asyncio.sleep(0.02)
    assert (await ada.api.get(flag_path(flag))).json()["enabled"] is True


async def test_a_flag_that_someone_else_switched_is_not_flipped_back(ada: Person, environment: Json) -> None:
    await ada.without_events()
    await ada.page.goto(environment_page(environment))
    switch = ada.page.get_by_role("switch", name="New checkout")
    await expect(switch).not_to_be_checked()
    flag = (await ada.api.get(f"/api{environment_page(environment)}/flags")).json()[0]
    await ada.api.post(f"/api{environment_page(environment)}/flags/{flag['id']}/toggle")
    async with ada.page.expect_response(lambda answer: answer.request.method == "PUT"):
        await switch.click()  # the switch still shows off, so this click turns the flag on
    await expect(switch).to_be_checked()
    assert (await ada.api.get(f"/api{environment_page(environment)}/flags/{flag['id']}")).json()["enabled"] is True


async def test_a_list_that_cannot_be_loaded_shows_the_reason_and_can_be_retried(ada: Person, environment: Json) -> None:
    async def fail(route: Route) -> None:
        await route.abort()

    page = ada.page
    await page.route("**/flags", fail)
    await page.goto(environment_page(environment))
    await expect(page.locator(".mantine-Skeleton-root").first).to_be_visible()
    await ada.sees("The server cannot be reached.")
    await page.unroute("**/flags")
    await ada.press("Try again")
    await expect(names(page)).to_have_count(3)
    await expect(page.locator(".mantine-Skeleton-root")).to_have_count(0)


async def test_a_row_shows_the_audience_and_the_last_day_of_a_flag(ada: Person, environment: Json) -> None:
    project = (await ada.api.get(f"/api/projects/{environment['project_id']}")).json()
    base = f"/api{environment_page(environment)}/flags"
    express = (await ada.api.get(base)).json()[1]
    await ada.api.put(f"{base}/{express['id']}", json={"enabled": True})
    await ada.api.create_rule(express)
    await ada.api.evaluate(project["sdk_key"], environment["key"])
    evaluations = f"/api{environment_page(environment)}/evaluations"
    async with asyncio.timeout(60):
        while not (await ada.api.get(evaluations)).json()["items"]:
            await asyncio.sleep(0.02)
    await ada.page.goto(environment_page(environment))
    row = ada.page.get_by_role("row").filter(has_text="Express payment")
    await expect(row).to_contain_text("1 rule, then everyone")
    await expect(row).to_contain_text("1 · 100% on")
    await expect(row).to_contain_text("evaluated this hour")
    await expect(ada.page.get_by_role("row").filter(has_text="New checkout")).to_contain_text("25% of users")


async def test_search_and_filters_are_in_the_url_and_survive_a_reload(ada: Person, environment: Json) -> None:
    page = ada.page
    await page.goto(environment_page(environment))
    await page.get_by_role("searchbox").fill("express")
    await expect(names(page)).to_have_text(["Express payment"])
    await expect(page).to_have_url(re.compile(r"\?q=express$"))
    await page.reload()
    await expect(names(page)).to_have_text(["Express payment"])
    await page.get_by_role("searchbox").fill("")
    await ada.press("Filters")
    await page.get_by_label("Audience").select_option("rollout")
    await expect(names(page)).to_have_text(["New checkout"])
    await page.get_by_label("Audience").select_option("any")
    await page.get_by_label("Sort").select_option("name")
    await expect(names(page)).to_have_text(["Express payment", "Gift cards", "New checkout"])
    await page.get_by_role("radiogroup", name="State").get_by_text("On", exact=True).click()
    await ada.sees_heading("No matching flags")
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("button", name="Filters 1 active")).to_be_focused()
    await page.get_by_role("button", name="Clear filters").last.click()
    await expect(names(page)).to_have_count(3)


async def test_keys_search_move_switch_and_open(ada: Person, environment: Json) -> None:
    page = ada.page
    await page.goto(environment_page(environment))
    await expect(names(page)).to_have_count(3)
    await page.keyboard.press("/")
    await expect(page.get_by_role("searchbox")).to_be_focused()
    await page.keyboard.type("j")
    await expect(page.get_by_role("searchbox")).to_have_value("j")
    await ada.sees_heading("No matching flags")
    await page.keyboard.press("Escape")
    await expect(names(page)).to_have_count(3)
    await page.keyboard.press("Escape")
    await page.keyboard.press("j")
    await expect(page.get_by_role("link", name="New checkout")).to_be_focused()
    await page.keyboard.press("j")
    await page.keyboard.press("j")
    await page.keyboard.press("k")
    await expect(page.get_by_role("link", name="Express payment")).to_be_focused()
    await page.keyboard.press("Space")
    await expect(page.get_by_role("switch", name="Express payment")).to_be_checked()
    await page.keyboard.press("Enter")
    await ada.sees_heading("Express payment")


async def test_a_flag_of_production_is_not_turned_on_by_keys_unasked(ada: Person) -> None:
    production = await ada.api.get_environment(await ada.api.create_project())
    for number in (1, 2):
        await ada.api.create_flag(production, key=f"flag-{number}", name=f"Flag {number}", enabled=False)
    await evaluate_and_record(ada, production, {"user_id": "ada"}, {"user_id": "grace"})
    flags = f"/api{environment_page(production)}/flags"
    page, dialog = ada.page, ada.page.get_by_role("dialog", name="Turn on Flag 1 in Production?")
    switch = page.get_by_role("switch", name="Flag 1")
    await page.goto(environment_page(production))
    await expect(names(page)).to_have_count(2)
    for key in ("j", "j", "Space"):
        await page.keyboard.press(key)
    await expect(dialog).to_contain_text(
        "Would change the result for 2 of 2 users seen in the last 24 hours: 2 turned on."
    )
    if AXE.is_file():
        await check_in_both_schemes(ada, "the question")
    await expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    await page.keyboard.press("Space")
    await expect(dialog).to_have_count(0)
    await expect(page.get_by_role("link", name="Flag 1")).to_be_focused()
    assert [flag["enabled"] for flag in (await ada.api.get(flags)).json()] == [False, False]

    await page.keyboard.press("Space")
    await ada.confirm_turning_on()
    await expect(switch).to_be_checked()
    await ada.sees("Flag 1 was turned on.")
    await expect(dialog).to_have_count(0)
    await page.keyboard.press("Space")  # turning off never asks
    await expect(switch).not_to_be_checked()
    await expect(dialog).to_have_count(0)
    await ada.sees("Flag 1 was turned off.")
    assert [flag["enabled"] for flag in (await ada.api.get(flags)).json()] == [False, False]


async def test_a_new_flag_that_is_on_at_once_asks_in_production_only(ada: Person) -> None:
    project = await ada.api.create_project()
    form = ada.page.get_by_role("dialog", name="New flag")
    staging = await ada.api.get_environment(project, "staging")
    flags = f"/api{environment_page(staging)}/flags"
    await ada.page.goto(environment_page(staging))
    await ada.press("New flag")
    await form.get_by_label("Name").fill("Dark mode")
    await form.get_by_label("Turn on immediately").check()
    await form.get_by_label("Production").check()  # the flag is created there as well
    await form.get_by_role("button", name="Create flag").click()
    await expect(form.get_by_role("alert")).to_contain_text("This turns on a flag in Production")
    await expect(form.get_by_role("button", name="Create and turn on")).to_be_visible()
    assert (await ada.api.get(flags)).json() == []
    await form.get_by_label("Production").uncheck()
    await expect(form.get_by_role("alert")).to_have_count(0)
    await form.get_by_role("button", name="Create flag").click()
    await ada.sees_heading("Dark mode")
    assert [flag["enabled"] for flag in (await ada.api.get(flags)).json()] == [True]


async def test_a_flag_is_turned_on_even_if_its_users_cannot_be_counted(ada: Person) -> None:
    async def refuse(route: Route) -> None:
        problem = {"type": "x", "title": "x", "status": 503, "detail": "The database is away.", "request_id": "1"}
        await route.fulfill(status=503, json=problem, content_type="application/problem+json")

    flag = await ada.api.create_flag(enabled=False)
    await ada.page.route("**/impact", refuse)
    await ada.page.goto(flag_page(flag))
    switch = ada.page.get_by_role("switch", name="New checkout")
    await switch.click()
    await expect(ada.page.get_by_role("dialog")).to_contain_text(
        "The affected users could not be counted: The database is away."
    )
    await ada.confirm_turning_on()
    await expect(switch).to_be_checked()


async def test_five_thousand_flags_scroll_and_filter_with_few_rows_in_the_document(ada: Person, sqlite: Store) -> None:
    environment = await ada.api.get_environment(await ada.api.create_project(), "staging")
    await add_flags(sqlite, environment, 5000)
    page = ada.page
    await page.goto(environment_page(environment))
    await ada.sees("5,000 flags")
    assert await page.evaluate(SCROLL) < 60, "rows out of sight do not exist"
    await page.wait_for_function(f"() => Math.min(...({SHOWN_FLAGS})()) < 100")  # the page scrolled to other rows
    await page.evaluate("window.scrollTo(0, document.body.scrollHeight)")
    await expect(page.get_by_role("link", name="Flag 0", exact=True)).to_be_visible()
    await page.keyboard.press("/")
    await expect(page.get_by_role("searchbox")).to_be_focused()
    await page.keyboard.type("flag 4711")
    await expect(names(page)).to_have_text(["Flag 4711"])
    await page.get_by_role("switch", name="Flag 4711").click()
    await expect(page.get_by_role("switch", name="Flag 4711")).to_be_checked()


async def are_in_one_row(controls: list[Locator]) -> None:
    """Wait for these controls, and compare their positions at one time, because content loaded above moves them."""
    for each in controls:
        await expect(each).to_be_visible()
    elements = [await each.element_handle() for each in controls]
    middles = await controls[0].page.evaluate(MIDDLES, elements)
    assert len(set(middles)) == 1, middles


async def test_the_filters_are_one_row_below_the_search_on_a_phone_and_fold(ada: Person, environment: Json) -> None:
    page = ada.page
    await page.set_viewport_size({"width": 360, "height": 800})
    await page.goto(f"{environment_page(environment)}?state=off&audience=rollout")
    await expect(names(page)).to_have_text(["New checkout"])
    opener = page.get_by_role("button", name="Filters 2 active")
    await are_in_one_row(
        [page.get_by_role("button", name="Subscribe"), page.get_by_role("button", name="Views"), opener]
    )
    search = await page.get_by_role("searchbox").bounding_box()
    assert search is not None
    assert search["width"] > 300
    await opener.click()
    await expect(page.get_by_label("Audience")).to_have_value("rollout")
    await expect(page.get_by_label("Sort")).to_be_in_viewport(ratio=1)
    await check_in_both_schemes(ada, "the filters of the flag list")
    await stays_within(ada)
    await ada.press("Clear filters")
    await expect(names(page)).to_have_count(3)
    await expect(page.get_by_label("Audience")).to_have_count(0)


# The widths of the cells of names, and whether something in a row covers what stands beside it.
CELLS = """() => [...document.querySelectorAll("[role=row]:not([aria-rowindex='1'])")].map((row) => {
  const cells = [...row.querySelectorAll(":scope > [role=cell]")].filter((cell) => cell.offsetParent !== null);
  const name = cells[2].getBoundingClientRect();
  const shown = [...cells[2].querySelectorAll("a, code, button")].filter((each) => !each.closest("ul")); // tags are cut
  const ends = shown.map((each) => each.getBoundingClientRect().right);
  return [Math.floor(name.width), Math.max(...ends) <= name.right + 1];
})"""


async def test_a_flags_name_has_240_pixels_in_a_window_of_any_width(ada: Person, environment: Json) -> None:
    page, name = ada.page, "A flag with a name that is as long as people make them when a ticket's title is copied"
    flag = await ada.api.create_flag(environment, name=name, key="a" * 100, tags=["checkout", "payments"])
    await create_release(ada.api, flag, {"after_seconds": 3600, "changes": {"rollout_percentage": 25}})
    await page.goto(environment_page(environment))
    await expect(page.get_by_role("row").get_by_role("link", name=f"{name}: ")).to_have_count(1)  # the release
    for width in (769, 834, 960, 961, 1024, 1100, 1150, 1280, 1440):
        await page.set_viewport_size({"width": width, "height": 800})
        cells = await page.evaluate(CELLS)
        assert all(pixels >= 240 and is_inside for pixels, is_inside in cells), (width, cells)
        await stays_within(ada)


async def test_fourteen_flags_are_seen_without_scrolling(ada: Person, sqlite: Store) -> None:
    environment = await ada.api.get_environment(await ada.api.create_project())
    await add_flags(sqlite, environment, 20)
    page = ada.page
    await page.set_viewport_size({"width": 1440, "height": 900})
    await page.goto(environment_page(environment))
    await ada.sees("20 flags")
    controls = [page.get_by_role("searchbox"), page.get_by_role("button", name="Views")]
    controls.append(page.get_by_role("button", name="Filters"))
    await are_in_one_row(controls)
    await load_all(page)
    bottoms = await page.get_by_role("row").evaluate_all(
        "rows => rows.map((row) => row.getBoundingClientRect().bottom)"
    )
    assert sum(bottom <= 900 for bottom in bottoms[1:]) >= 14


# The numbers of the flags whose rows exist.
SHOWN_FLAGS = """() => [...document.querySelectorAll("[role=row] a:not([aria-label])")]
  .map((link) => Number(link.textContent.slice(5)))"""
# Scrolls through the page. Returns the largest number of rows at a time.
SCROLL = f"""() => new Promise((resolve) => {{
  let most = 0;
  const frame = () => {{
    most = Math.max(most, ({SHOWN_FLAGS})().length);
    const before = window.scrollY;
    window.scrollBy(0, 2500);
    if (window.scrollY > before) requestAnimationFrame(frame);
    else requestAnimationFrame(() => resolve(most));
  }};
  requestAnimationFrame(frame);
}})"""


def names(page: Page) -> Locator:
    """Return the names of the visible flags."""
    return page.get_by_role("row").get_by_role("link", name=NAME)


async def add_flags(store: Store, environment: Json, count: int) -> None:
    """Store flags without the API, which would compile the environment again for each flag."""
    where = make_environment(UUID(environment["project_id"]), id=UUID(environment["id"]))
    database = Database(store.database_url, store.data_directory)
    flags = [make_flag(where, name=f"Flag {number}", key=f"flag-{number}", enabled=False) for number in range(count)]
    try:
        await store_all(database, *flags)
    finally:
        await database.close()


async def test_the_list_tells_who_changed_a_flag_last_and_leads_to_its_changes(ada: Person, environment: Json) -> None:
    page = ada.page
    await page.goto(environment_page(environment))
    changed = page.get_by_role("row", name="Express payment").get_by_role("link", name="latest changes")
    await changed.focus()
    await expect(page.get_by_role("tooltip")).to_contain_text(
        re.compile(r"^ada-\w+@example\.com created Express payment, .* UTC$")
    )
    await changed.click()
    await expect(page).to_have_url(re.compile("tab=changes"))
    await expect(page.get_by_role("main").get_by_role("listitem").first).to_contain_text("created Express payment")
