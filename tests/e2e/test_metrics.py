"""Metrics in the dashboard: creating, explaining, changing and deleting them, and unknown ones that events name."""

import asyncio

from playwright.async_api import Locator, expect

from tests.e2e.accessibility import check_in_both_schemes, stays_within
from tests.e2e.people import POLL_SECONDS, Person
from tests.e2e.releases import create_metric, create_release, report
from tests.support.api import Json, project_path

WAIT_SECONDS = 60


def page_of(project: Json) -> str:
    """Return the path of the page."""
    return f"/projects/{project['id']}/metrics"


def metric(ada: Person, name: str) -> Locator:
    """Return a metric's row in the list."""
    return ada.page.get_by_role("list", name="Metrics", exact=True).get_by_role("listitem").filter(has_text=name)


async def test_a_key_that_is_already_used_is_refused_at_its_field(ada: Person) -> None:
    project = await ada.api.create_project()
    await create_metric(ada, project)
    dialog = ada.page.get_by_role("dialog")
    await ada.page.goto(page_of(project))
    await ada.press("New metric")
    await dialog.get_by_label("Name").fill("Checkout failed")
    await dialog.get_by_role("button", name="Create metric").click()
    await expect(dialog.get_by_label("Key")).to_have_attribute("aria-invalid", "true")
    await check_in_both_schemes(ada, "a metric that is refused")


async def test_a_metric_that_an_open_release_watches_cannot_be_deleted(ada: Person) -> None:
    project = await ada.api.create_project()
    await create_metric(ada, project)
    flag = await ada.api.create_flag(await ada.api.get_environment(project))
    await create_release(ada, flag, guards=[{"metric": "checkout-failed", "action": "pause"}])
    dialog = ada.page.get_by_role("dialog")
    await ada.page.goto(page_of(project))
    await ada.press("Actions for Checkout failed")
    await ada.page.get_by_role("menuitem", name="Delete").click()
    await dialog.get_by_role("textbox").fill("Checkout failed")
    await dialog.get_by_role("button", name="Delete", exact=True).click()
    await expect(dialog.get_by_role("alert")).to_be_visible()
    await ada.page.keyboard.press("Escape")
    await expect(metric(ada, "Checkout failed")).to_be_visible()


async def test_a_metric_is_made_explained_changed_and_deleted(ada: Person) -> None:
    project = await ada.api.create_project()
    dialog = ada.page.get_by_role("dialog")
    await ada.page.goto(page_of(project))
    await ada.sees_heading("No metrics yet")
    await ada.press("New metric")
    await dialog.get_by_label("Name").fill("Latency")
    await expect(dialog.get_by_label("Key")).to_have_value("latency")
    await dialog.get_by_label("Kind").select_option("value")
    await expect(dialog).to_contain_text("Releases compare the mean of the numbers.")
    await dialog.get_by_label("Unit").fill("ms")
    await dialog.get_by_role("button", name="Create metric").click()
    await expect(metric(ada, "Latency")).to_contain_text("Lower is better · ms")
    events = ada.page.get_by_role("region", name="Send events")
    await expect(events).to_contain_text('"metric":"latency","user_id":"user-42","value":12.5')
    await events.get_by_text("Python", exact=True).click()
    await expect(events).to_contain_text("/sdk/v1/events")
    await check_in_both_schemes(ada, "metrics")

    await ada.press("Actions for Latency")
    await ada.page.get_by_role("menuitem", name="Edit").click()
    await expect(dialog.get_by_label("Kind")).to_have_count(0)
    await dialog.get_by_label("Name").fill("Response time")
    await dialog.get_by_role("button", name="Save").click()
    await expect(metric(ada, "Response time")).to_contain_text("latency")
    await ada.page.set_viewport_size({"width": 360, "height": 740})
    await stays_within(ada)
    await ada.press("Actions for Response time")
    await ada.page.get_by_role("menuitem", name="Delete").click()
    await dialog.get_by_role("textbox").fill("Response time")
    await dialog.get_by_role("button", name="Delete", exact=True).click()
    await ada.sees("Response time was deleted.")
    await ada.sees_heading("No metrics yet")


async def test_a_key_that_events_named_becomes_a_metric(ada: Person) -> None:
    project = await ada.api.create_project()
    await report(ada, project, "refunds", ["user-1", "user-2"])
    async with asyncio.timeout(WAIT_SECONDS):
        while not (await ada.api.get(f"{project_path(project)}/unknown-metrics")).json():
            await asyncio.sleep(POLL_SECONDS)
    dialog = ada.page.get_by_role("dialog")
    await ada.page.goto(page_of(project))
    unknown = ada.page.get_by_role("region", name="Unknown metrics")
    await expect(unknown.get_by_role("row").filter(has_text="refunds")).to_contain_text("Production2")
    await check_in_both_schemes(ada, "unknown metrics")
    await ada.press("Create the metric refunds")
    await dialog.get_by_label("Name").fill("Refunds")
    await expect(dialog.get_by_label("Key")).to_have_value("refunds")
    await dialog.get_by_label("Kind").select_option("count")
    await dialog.get_by_role("button", name="Create metric").click()
    await expect(metric(ada, "Refunds")).to_contain_text("Count Lower is better")
