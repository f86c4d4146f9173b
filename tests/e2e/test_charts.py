"""Charts of the history: zoomed, compared, split, with a link, and pinned to the project's home."""

import re

import pytest
import pytest_asyncio
from playwright.async_api import Locator, expect

from tests.e2e.accessibility import check_in_both_schemes, stays_within
from tests.e2e.people import Person, environment_page, evaluate_and_record, flag_page, load_all, point_at
from tests.support.api import Json

BLUE, RED = ({"key": key, "weight": 500, "value": key} for key in ("blue", "red"))
USERS = [{"user_id": f"user-{number}"} for number in range(8)]


@pytest_asyncio.fixture(loop_scope="session")
async def environment(ada: Person) -> Json:
    """The production of a new project."""
    return await ada.api.get_environment(await ada.api.create_project())


@pytest_asyncio.fixture(loop_scope="session")
async def flag(ada: Person, environment: Json) -> Json:
    """A flag with two variants in production, evaluated for eight users there and for two in staging."""
    staging = await ada.api.get_environment({"id": environment["project_id"]}, "staging")
    flag = await ada.api.create_flag(environment, variants=[BLUE, RED])
    await ada.api.create_flag(staging, enabled=False)
    await evaluate_and_record(ada, staging, *USERS[:2])
    await evaluate_and_record(ada, environment, *USERS)
    return flag


def history(flag: Json) -> str:
    return f"{flag_page(flag)}?tab=history"


def chart(ada: Person) -> Locator:
    return ada.page.get_by_role("region", name="Results over time")


def bars(ada: Person) -> Locator:
    return chart(ada).get_by_role("slider", name="Bars of the chart")


def table(ada: Person) -> Locator:
    """Return the table of the chart's numbers for screen readers."""
    return chart(ada).get_by_role("table", name="Results over time")


async def dragging_over_a_part_zooms_into_it_and_reset_leads_back(ada: Person, flag: Json) -> None:
    await expect(bars(ada)).to_be_visible()
    await load_all(ada.page)  # otherwise the chart would still move
    await point_at(bars(ada), 0.8, 20)
    await ada.page.mouse.down()
    await point_at(bars(ada), 0.9, 20, is_pressed=True)
    await expect(chart(ada)).to_contain_text("Zoom to ")
    await point_at(bars(ada), 0.998, 20, is_pressed=True)
    await ada.page.mouse.up()
    await expect(ada.page).to_have_url(re.compile(r"since=2.*until=2"))
    await expect(ada.page.get_by_label("Period", exact=True).locator("option:checked")).to_have_text(re.compile(" to "))
    await expect(table(ada)).to_contain_text("8 on, 0 off")
    await expect(ada.page.get_by_role("main").get_by_role("row").filter(has_text="user-3")).to_have_count(1)
    await ada.press("Reset")
    await expect(ada.page).not_to_have_url(re.compile("since="))
    await expect(ada.page.get_by_label("Period", exact=True)).to_have_value("day")


async def the_keyboard_reads_bars_and_zooms_into_a_choice(ada: Person, flag: Json) -> None:
    await bars(ada).focus()
    await ada.page.keyboard.press("Home")
    await expect(bars(ada)).to_have_attribute("aria-valuetext", re.compile("0 on, 0 off$"))
    await expect(bars(ada)).to_have_attribute("aria-valuenow", "0")
    row = table(ada).get_by_role("row").last
    when = await row.get_by_role("rowheader").text_content()
    words = await row.get_by_role("cell").text_content()
    await ada.page.keyboard.press("End")
    if await bars(ada).get_attribute("aria-valuetext") != f"{when}: {words}":  # another hour has begun in the meantime
        await ada.page.keyboard.press("ArrowLeft")
    await expect(bars(ada)).to_have_attribute("aria-valuetext", f"{when}: {words}")
    await ada.page.keyboard.press("Shift+ArrowLeft")
    await expect(bars(ada)).to_have_attribute("aria-valuetext", re.compile("^Zoom to "))
    await ada.page.keyboard.press("Enter")
    await expect(ada.page).to_have_url(re.compile("since="))
    before = ada.page.url
    await bars(ada).focus()
    await ada.page.keyboard.press("-")
    await expect(ada.page).not_to_have_url(before)
    await ada.press("Reset")
    await expect(ada.page).not_to_have_url(re.compile("since="))


async def buttons_zoom_and_move_and_an_empty_time_can_be_left(ada: Person, flag: Json) -> None:
    await expect(ada.page.get_by_role("button", name="Later")).to_have_attribute("aria-disabled", "true")
    for button in ("Zoom in", "Earlier", "Earlier"):
        before = ada.page.url
        await ada.press(button)
        await expect(ada.page).not_to_have_url(before)
    await ada.sees("No evaluations in this period")
    await ada.press("Zoom out")
    await ada.press("Later")
    await ada.press("Reset")
    await expect(chart(ada)).to_contain_text("8 results")


async def a_zoomed_chart_says_why_it_cannot_be_pinned(ada: Person, flag: Json) -> None:
    await ada.press("Zoom in")
    pin = ada.page.get_by_role("button", name="Pin to the project's home")
    await expect(pin).to_have_attribute("aria-description", re.compile("Reset the time of the chart first"))
    await ada.press("Reset")
    await expect(pin).not_to_have_attribute("aria-disabled", "true")


async def periods_and_environments_are_compared_in_one_chart_with_words_and_a_table(ada: Person, flag: Json) -> None:
    compare = chart(ada).get_by_label("Compare with")
    await compare.select_option("The period before")
    await expect(ada.page).to_have_url(re.compile("compare=before"))
    await expect(chart(ada).get_by_role("listitem").filter(has_text="The period before")).to_contain_text("0 results")
    await compare.select_option("Staging")
    await expect(ada.page).to_have_url(re.compile("with=staging"))
    await expect(ada.page).not_to_have_url(re.compile("compare="))
    legend = chart(ada).get_by_role("listitem")
    await expect(legend.filter(has_text="Staging")).to_contain_text("2 results, 0 on, 2 off")
    await expect(legend.filter(has_text="Production")).to_contain_text("8 results, 8 on, 0 off")
    await expect(table(ada).get_by_role("columnheader")).to_have_text(["Time", "Production", "Staging"])
    await expect(table(ada)).to_contain_text("8 on, 0 off")
    await expect(table(ada)).to_contain_text("0 on, 2 off")
    await chart(ada).get_by_label("Show").select_option("Percent")
    await expect(legend.filter(has_text="Staging")).to_contain_text("2 off (100%)")
    await check_in_both_schemes(ada, "a chart that compares environments")
    await stays_within(ada, history(flag))


async def results_are_split_by_variant_and_by_reason(ada: Person, flag: Json) -> None:
    split = chart(ada).get_by_label("Split by")
    await split.select_option("Variant")
    await expect(chart(ada).locator("figcaption")).to_contain_text("blue")
    await expect(chart(ada).locator("figcaption")).to_contain_text("red")
    said = " ".join(await table(ada).get_by_role("cell").all_text_contents())
    assert sum(map(int, re.findall(r"(?:blue|red) (\d+)", said))) == len(USERS), said
    await split.select_option("Reason")
    await expect(table(ada)).to_contain_text("Flag enabled globally 8")
    await expect(chart(ada).locator("figcaption")).to_contain_text("Flag enabled globally")
    here = environment_page({"project_id": flag["project_id"], "id": flag["environment_id"]})
    await ada.turn_to(f"{here}/history")
    await expect(split).to_be_disabled()


async def test_a_flags_chart_is_zoomed_compared_and_split(ada: Person, flag: Json) -> None:
    await ada.page.goto(history(flag))
    for step in (
        dragging_over_a_part_zooms_into_it_and_reset_leads_back,
        the_keyboard_reads_bars_and_zooms_into_a_choice,
        buttons_zoom_and_move_and_an_empty_time_can_be_left,
        a_zoomed_chart_says_why_it_cannot_be_pinned,
        periods_and_environments_are_compared_in_one_chart_with_words_and_a_table,
        results_are_split_by_variant_and_by_reason,
    ):
        await step(ada, flag)


async def test_a_bar_that_is_read_or_chosen_is_known_by_its_time_while_the_chart_moves_on(
    ada: Person, flag: Json
) -> None:
    await ada.clock.install()
    await ada.page.goto(history(flag))
    await bars(ada).focus()
    await ada.page.keyboard.press("End")
    for _ in range(6):
        await ada.page.keyboard.press("ArrowLeft")
    place = int(await bars(ada).get_attribute("aria-valuenow") or "")
    read = await bars(ada).get_attribute("aria-valuetext") or ""
    await ada.clock.fast_forward("02:00:00")  # the chart shows the last day
    await expect(bars(ada)).not_to_have_attribute("aria-valuenow", str(place))
    await expect(bars(ada)).to_have_attribute("aria-valuetext", read)
    await ada.page.keyboard.press("Shift+ArrowLeft")
    chosen = await bars(ada).get_attribute("aria-valuetext") or ""
    place = int(await bars(ada).get_attribute("aria-valuenow") or "")
    await ada.clock.fast_forward("02:00:00")
    await expect(bars(ada)).not_to_have_attribute("aria-valuenow", str(place))
    await expect(bars(ada)).to_have_attribute("aria-valuetext", chosen)


@pytest.mark.parametrize("options", [{"timezone_id": "Australia/Eucla"}])
async def test_a_chart_has_the_days_of_the_browsers_time_zone_or_of_utc_if_that_is_chosen(
    ada: Person, flag: Json
) -> None:
    async with ada.page.expect_request(lambda request: "tz=Australia%2FEucla" in request.url):
        await ada.page.goto(f"{history(flag)}&period=month")
    zone = chart(ada).get_by_label("Time zone")
    await expect(zone.locator("option")).to_have_text(["Australia/Eucla", "UTC"])
    await expect(chart(ada)).to_contain_text("Times in Australia/Eucla")
    await expect(table(ada).get_by_role("rowheader").last).to_have_text(re.compile(", 00:00:00 UTC[+]08:45$"))
    await expect(table(ada)).to_contain_text("8 on, 0 off")
    await expect(bars(ada)).to_have_attribute("aria-valuemax", "29")
    await zone.select_option("UTC")
    await expect(table(ada).get_by_role("rowheader").last).to_have_text(re.compile(", 00:00:00 UTC$"))
    await expect(table(ada)).to_contain_text("8 on, 0 off")
    await ada.page.reload()
    await expect(zone).to_have_value("UTC")
    await expect(ada.page.get_by_role("table", name="Results over time, in UTC")).to_be_attached()


async def test_a_link_shows_a_colleague_the_same(ada: Person, flag: Json) -> None:
    await ada.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await ada.page.goto(history(flag))
    await chart(ada).get_by_label("Split by").select_option("Variant")
    await chart(ada).get_by_label("Compare with").select_option("Staging")
    await ada.press("Zoom in")
    await expect(ada.page).to_have_url(re.compile("since="))
    copied = await ada.copy(ada.page.get_by_role("button", name="Copy link", exact=True))
    assert copied == ada.page.url
    await ada.page.goto("about:blank")
    await ada.page.goto(copied)
    await expect(chart(ada).get_by_label("Split by")).to_have_value("variant")
    await expect(chart(ada).get_by_label("Compare with").locator("option:checked")).to_have_text("Staging")
    await expect(ada.page.get_by_role("button", name="Reset")).to_be_visible()


async def test_a_chart_is_pinned_seen_renamed_and_removed(ada: Person, environment: Json, flag: Json) -> None:
    home = f"/projects/{environment['project_id']}"
    await ada.page.goto(home)
    await ada.sees("No pinned charts yet")
    await ada.page.goto(f"{history(flag)}&period=week&with=staging&split=variant")
    await ada.press("Pin to the project's home")
    dialog = ada.page.get_by_role("dialog")
    await expect(dialog.get_by_label("Name")).to_have_value("New checkout in Production")
    await dialog.get_by_label("Name").fill("Checkout this week")
    await dialog.get_by_role("button", name="Pin chart").click()
    await ada.sees("Checkout this week is pinned to the project's home.")
    await ada.page.goto(home)
    card = ada.page.get_by_role("region", name="Pinned charts").get_by_role("listitem").filter(has_text="this week")
    await expect(card).to_contain_text("last 7 days, by variant, compared with Staging")
    await expect(card.get_by_role("listitem").filter(has_text="Staging")).to_contain_text("2 results")
    await check_in_both_schemes(ada, "pinned charts")
    await card.get_by_role("button", name="Actions for Checkout this week").click()
    await ada.page.get_by_role("menuitem", name="Rename").click()
    await dialog.get_by_label("Name").fill("Weekly")
    await dialog.get_by_role("button", name="Save").click()
    await ada.page.get_by_role("link", name="Weekly").click()
    await expect(chart(ada).get_by_label("Split by")).to_have_value("variant")
    await expect(ada.page.get_by_label("Period", exact=True)).to_have_value("week")
    await expect(ada.page).to_have_url(re.compile("tab=history"))
    await ada.page.goto(home)
    await ada.press("Actions for Weekly")
    await ada.page.get_by_role("menuitem", name="Remove").click()
    await dialog.get_by_role("button", name="Remove").click()
    await ada.sees("No pinned charts yet")


async def test_a_chart_and_its_choices_fit_on_a_phone(ada: Person, flag: Json) -> None:
    await ada.page.set_viewport_size({"width": 320, "height": 640})
    await ada.page.goto(f"{history(flag)}&compare=before&split=reason")
    await expect(chart(ada)).to_be_visible()
    await stays_within(ada, history(flag))


async def test_a_flag_under_the_key_of_a_deleted_one_begins_at_0_and_leads_to_that_one(ada: Person, flag: Json) -> None:
    path = f"/api/projects/{flag['project_id']}/environments/{flag['environment_id']}/flags"
    await ada.api.delete(f"{path}/{flag['id']}")
    environment = {"id": flag["environment_id"], "project_id": flag["project_id"], "key": "production"}
    again = await ada.api.create_flag(environment, key=flag["key"], enabled=False)
    await evaluate_and_record(ada, environment, *USERS[:3])
    await ada.page.goto(history(again))
    await expect(chart(ada)).to_contain_text("A deleted flag had this key before: 8 results")
    await expect(table(ada)).to_contain_text("0 on, 3 off")
    await chart(ada).get_by_role("link", name="Show that flag").click()
    await expect(chart(ada)).to_contain_text(f"This is a deleted flag that had the key {flag['key']}.")
    await expect(table(ada)).to_contain_text("8 on, 0 off")
    await expect(ada.page.get_by_role("main").get_by_role("row").filter(has_text="user-7")).to_have_count(1)
