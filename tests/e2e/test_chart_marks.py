"""Marks on charts at the times of changes, and links from a change to the chart of the time around it."""

import re

import pytest_asyncio
from playwright.async_api import expect

from tests.e2e.accessibility import check_in_both_schemes, stays_within
from tests.e2e.people import Person, environment_page, evaluate_and_record, flag_page
from tests.support.api import Json, flag_path


@pytest_asyncio.fixture(loop_scope="session")
async def flag(ada: Person) -> Json:
    """A flag that was changed and evaluated."""
    environment = await ada.api.get_environment(await ada.api.create_project())
    flag = await ada.api.create_flag(environment)
    await ada.api.post(f"{flag_path(flag)}/toggle")
    await evaluate_and_record(ada, environment, {"user_id": "user-42"})
    return flag


async def test_a_mark_on_a_flags_chart_leads_to_its_changes_with_the_keyboard(ada: Person, flag: Json) -> None:
    await ada.page.goto(f"{flag_page(flag)}?tab=history")
    marks = ada.page.get_by_role("list", name="Changes in this period").get_by_role("link")
    await expect(marks.last).to_have_accessible_name(
        re.compile("^2 changes between|: ada-.* (switched|added a rule to) ")
    )
    await marks.last.focus()
    await ada.page.keyboard.press("Enter")
    await ada.sees_heading("Changes")
    await expect(ada.page.get_by_label("Flag key")).to_have_value(flag["key"])
    await expect(ada.page.get_by_role("main").get_by_role("listitem").first).to_contain_text("turned off")


async def test_a_change_leads_to_the_chart_around_it(ada: Person, flag: Json) -> None:
    await ada.page.goto(f"{flag_page(flag)}?tab=changes")
    await ada.page.get_by_role("link", name="Chart around: ").first.click()
    period = ada.page.get_by_label("Period", exact=True)
    await expect(period.locator("option:checked")).to_have_text(re.compile("^Around "))
    await expect(ada.page.get_by_role("list", name="Changes in this period").get_by_role("link").first).to_be_visible()
    await ada.page.reload()
    await expect(period.locator("option:checked")).to_have_text(re.compile("^Around "))
    await period.select_option("week")
    await expect(ada.page).not_to_have_url(re.compile("at="))


async def test_an_environments_chart_marks_the_changes_of_segments_and_fits_on_a_phone(ada: Person, flag: Json) -> None:
    await ada.api.create_segment({"id": flag["project_id"]})
    page = environment_page({"project_id": flag["project_id"], "id": flag["environment_id"]}) + "/history"
    await ada.page.goto(page)
    marks = ada.page.get_by_role("list", name="Changes in this period").get_by_role("link")
    await expect(marks.last).to_be_visible()
    await check_in_both_schemes(ada, "a chart with marks")
    await ada.page.set_viewport_size({"width": 320, "height": 640})
    await stays_within(ada, page)
    await marks.last.click()
    await expect(ada.page.get_by_role("main").get_by_role("listitem").first).to_contain_text("Beta testers")
    await ada.page.get_by_role("link", name="Chart around: ").first.click()
    await ada.sees_heading("Evaluation history")


async def test_a_change_of_a_deleted_flag_leads_to_the_environments_chart_and_its_name_to_what_is_left(
    ada: Person, flag: Json
) -> None:
    await ada.api.post(f"{flag_path(flag)}/archive")
    await ada.page.goto(f"{flag_page(flag)}?tab=changes")
    await ada.sees("turned off New checkout")
    await ada.api.delete(flag_path(flag))
    await ada.page.goto(f"/projects/{flag['project_id']}/audit?action=flag.toggled")
    await ada.page.get_by_role("link", name="Chart around: ").click()
    await ada.sees_heading("Evaluation history")
    await expect(ada.page).to_have_url(re.compile("flag=new-checkout"))
    await ada.page.go_back()
    await ada.page.get_by_role("main").get_by_role("listitem").get_by_role("link", name="New checkout").first.click()
    await ada.sees("It exists in no environment of this project")
