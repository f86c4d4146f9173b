"""The playground: pasting users, and showing, comparing and saving the results of flags in several environments."""

import csv
import io
import re
from pathlib import Path

import pytest_asyncio
from playwright.async_api import Page, expect

from tests.e2e.accessibility import UNBROKEN, check, check_in_both_schemes, stays_within
from tests.e2e.people import Person, environment_page
from tests.support.api import Json

VARIANTS = [{"key": key, "weight": 1, "value": key} for key in ("red", "blue")]
GOLD = {"attribute": "plan", "operator": "in", "values": ["gold"]}
TABLE = 'user_id,email,plan\nada,,"gold"\nbob,bob@example.com,free\n,=grace@example.com,\n'
# The URL, which is written to logs, and what the browser stores.
TOLD = "location.href + JSON.stringify(sessionStorage) + JSON.stringify(localStorage)"


@pytest_asyncio.fixture(loop_scope="session")
async def project(ada: Person) -> Json:
    """A project with a flag that is on for gold users only in staging, and another flag in staging only."""
    project: Json = await ada.api.create_project()
    staging, production = [await ada.api.get_environment(project, key) for key in ("staging", "production")]
    ruled = await ada.api.create_flag(staging, fallthrough="off")
    await ada.api.create_rule(ruled, rule_type="attributes", rule_value=None, conditions=[GOLD], name="Gold only")
    await ada.api.create_flag(production)
    for environment in (staging, production):
        await ada.api.create_flag(environment, key="colour", name="Colour", variants=VARIANTS[:1])
    await ada.api.create_flag(staging, key="added", name="Added", enabled=False)
    return project | {"page": f"/projects/{project['id']}/playground", "production": production}


async def ask(page: Page, text: str) -> None:
    """Paste users, and request their results."""
    await page.get_by_label("Users", exact=True).fill(text)
    await page.get_by_role("button", name="Show results").click()


async def test_users_are_pasted_and_their_answers_shown_compared_and_saved(
    ada: Person, project: Json, tmp_path: Path
) -> None:
    page = ada.page
    await page.goto(environment_page({**project["production"], "project_id": project["id"]}))
    await page.get_by_role("link", name="Playground").click()
    await ada.sees_heading("Playground")
    await ask(page, "user_id,plan\nada\nbob,free,x\n")
    await expect(page.get_by_role("alert")).to_contain_text("Line 2 has 1 field, but the header has 2.")
    await check_in_both_schemes(ada, "users that cannot be read")

    await ask(page, TABLE)
    await ada.sees("3 users, 3 flags, 2 environments")
    grid = page.get_by_role("grid")
    await expect(grid.get_by_role("row", name="ada")).to_contain_text("No flag Off On redOn redOn On")
    await expect(grid.get_by_role("row", name="bob")).to_contain_text("No flag Off On redOn redOn Off")
    await check_in_both_schemes(ada, "the answers")

    first = grid.get_by_role("gridcell").first
    await first.focus()
    for key in ("End", "ArrowDown"):
        await page.keyboard.press(key)
    cell = grid.get_by_role("row", name="bob").get_by_role("gridcell").last
    await expect(cell).to_be_focused()
    details = page.get_by_role("region", name="Details")
    await expect(details).to_contain_text("No targeting rule matched")
    await page.keyboard.press("ArrowUp")
    await expect(details).to_contain_text("Gold only")

    await page.get_by_text("Differences", exact=True).click()
    await ada.sees("5 of 9 results differ: 3 users, 2 flags")
    await expect(grid.get_by_role("row", name="ada")).to_contain_text("No flag Off")
    await expect(grid.get_by_role("gridcell", name="same")).to_have_count(2)
    await expect(grid.get_by_role("row", name="bob")).to_contain_text("No flag Off On Off")
    await check(ada, "the differences")
    async with page.expect_download() as saving:
        await ada.press("Export as CSV")
    await (await saving.value).save_as(tmp_path / "playground.csv")
    rows = list(csv.DictReader(io.StringIO((tmp_path / "playground.csv").read_text())))
    assert len(rows) == 10
    assert rows[-1]["user"] == "'=grace@example.com"
    assert [row["state"] for row in rows if row["user"] == "ada"] == ["no flag", "off"]
    assert "bob@" not in await page.evaluate(TOLD)

    await details.scroll_into_view_if_needed()
    await cell.click()
    await details.get_by_role("link", name="More about this user").click()
    await ada.sees_heading("User bob")


async def test_chosen_flags_and_environments_are_in_the_address_and_long_lists_come_in_parts(
    ada: Person, project: Json
) -> None:
    page = ada.page
    await page.goto(project["page"])
    await ask(page, "\n".join(f"user-{number}" for number in range(200)))
    await ada.sees("Users 1 to 25 of 200")
    flags = page.get_by_role("combobox", name="Flags")
    await flags.fill("checkout")
    await page.get_by_role("option", name="new-checkout").click()
    await page.keyboard.press("Escape")
    await page.get_by_role("button", name="Show results").click()
    await ada.sees("200 users, 1 flag, 2 environments")
    await ada.press("Next users")
    await ada.sees("Users 26 to 50 of 200")
    await expect(page.get_by_role("row", name="user-25")).to_be_visible()
    await expect(page.get_by_role("row", name="user-24")).to_have_count(0)
    assert "flags=new-checkout" in page.url
    await page.reload()
    await ask(page, f"{UNBROKEN}@example.com")
    await ada.sees("1 user, 1 flag, 2 environments")
    for width in (390, 320):
        await page.set_viewport_size({"width": width, "height": 800})
        await stays_within(ada)
    await check(ada, "the playground on a phone")


async def test_the_cell_to_which_tab_leads_belongs_to_a_user_and_not_to_a_place(ada: Person, project: Json) -> None:
    page = ada.page
    await page.goto(project["page"])
    await ask(page, "\n".join(f"user-{number}" for number in range(30)))
    grid = page.get_by_role("grid")
    stop = grid.locator("tr:has([tabindex='0'])")
    await grid.get_by_role("row", name=re.compile("^user-4 ")).get_by_role("gridcell").last.focus()
    await expect(stop).to_have_accessible_name(re.compile("^user-4 "))
    await ada.press("Next users")
    await expect(stop).to_have_accessible_name(re.compile("^user-25 "))  # the first one
    await ada.press("Previous users")
    await expect(stop).to_have_accessible_name(re.compile("^user-4 "))
