"""Request metrics that applications report, and thresholds of releases on them, in the dashboard."""

import asyncio
import re

from playwright.async_api import expect

from tests.e2e.accessibility import check_in_both_schemes, stays_within
from tests.e2e.people import POLL_SECONDS, Person, environment_page, flag_page, load_all, point_at
from tests.support.api import Json, created, flag_path
from tests.support.clients import open_client
from tests.support.sdk_keys import create_key

ERRORS: Json = {
    "name": "checkout_errors",
    "help": "Failed checkouts",
    "type": "counter",
    "samples": [
        {"labels": {"appName": "shop", "new-checkout": "enabled"}, "value": 9},
        {"labels": {"appName": "shop", "new-checkout": "disabled"}, "value": 2},
    ],
}
SECONDS: Json = {
    "name": "response_seconds",
    "help": "Response times",
    "type": "histogram",
    "samples": [{"count": 10, "sum": 2.5, "buckets": [{"le": 0.5, "count": 10}, {"le": "+Inf", "count": 10}]}],
}


async def report(ada: Person, flag: Json, *metrics: Json) -> None:
    """Report measurements, as an SDK of Unleash does, and wait until the API returns them."""
    key = (await create_key(ada.api, {"id": flag["project_id"]}))["key"]
    async with open_client(base_url=ada.url, timeout=30) as client:
        answer = await client.post(
            "/unleash/api/client/metrics",
            headers={"authorization": key},
            json={"appName": "shop", "instanceId": "one", "bucket": None, "impactMetrics": list(metrics)},
        )
    assert answer.status_code == 202, answer.text
    path = f"/api{environment_page(place_of(flag))}/request-metrics"
    async with asyncio.timeout(60):
        while len((await ada.api.get(path)).json()) < len(metrics):
            await asyncio.sleep(POLL_SECONDS)


def place_of(flag: Json) -> Json:
    """Return the environment of a flag."""
    return {"project_id": flag["project_id"], "id": flag["environment_id"]}


async def test_what_applications_measure_is_shown_by_variant(ada: Person) -> None:
    flag = await ada.api.create_flag()
    await ada.page.goto(f"{environment_page(place_of(flag))}/applications")
    await ada.sees("No application has reported a request metric in the last seven days.")
    await report(ada, flag, ERRORS, SECONDS)
    await ada.page.reload()
    listed = ada.page.get_by_role("region", name="Request metrics").locator("tbody tr")
    await expect(listed).to_have_count(2)
    await expect(listed.first).to_contain_text("checkout_errors Failed checkouts")
    await expect(listed.first).to_contain_text("appName, new-checkout")

    chart = ada.page.locator("figure").filter(has=ada.page.locator("table"))
    await expect(chart.get_by_role("table")).to_contain_text("11")
    await ada.page.get_by_role("combobox", name="Group by").click()
    await ada.page.get_by_role("option", name="new-checkout").click()
    await expect(chart.get_by_role("columnheader", name="enabled", exact=True)).to_be_attached()
    await expect(chart.get_by_role("table")).to_contain_text("9")

    await ada.page.get_by_role("combobox", name="Request metric").click()
    await ada.page.get_by_role("option", name="response_seconds").click()
    await ada.page.get_by_role("combobox", name="Measure").click()
    await ada.page.get_by_role("option", name="95th percentile").click()
    await expect(chart.get_by_role("table")).to_contain_text("0.475")
    await ada.page.reload()  # the URL contains the choices
    await expect(chart.get_by_role("table")).to_contain_text("0.475")
    await load_all(ada.page)  # otherwise the chart would still move
    plot = chart.locator("svg").first
    await point_at(plot, 0.5, 20)
    await ada.page.mouse.down()
    await point_at(plot, 0.9, 20, is_pressed=True)
    await ada.page.mouse.up()
    await expect(ada.page).to_have_url(re.compile("since=.*until="))
    await ada.press("Reset")
    await expect(ada.page).not_to_have_url(re.compile("since="))
    await ada.press("Earlier")
    await expect(ada.page).to_have_url(re.compile("since=.*until="))
    await ada.press("Reset")
    await expect(chart.get_by_role("table")).to_contain_text("0.475")
    await check_in_both_schemes(ada, "request metrics")
    await ada.page.set_viewport_size({"width": 360, "height": 740})
    await stays_within(ada)


async def test_a_release_shows_its_thresholds_against_what_is_measured(ada: Person) -> None:
    flag = await ada.api.create_flag()
    await report(ada, flag, ERRORS)
    threshold = {
        "request_metric": "checkout_errors",
        "measure": "per_minute",
        "labels": {"new-checkout": "enabled"},
        "above": 50,
        "action": "turn_off",
    }
    steps = [
        {"after_seconds": 0, "changes": {"rollout_percentage": 50}},
        {"after_seconds": 3600, "changes": {"rollout_percentage": 100}, "least_users": 20},
    ]
    body = {"name": "Slow start", "steps": steps, "thresholds": [threshold]}
    created(await ada.api.post(f"{flag_path(flag)}/releases", json=body))
    await ada.page.goto(f"{flag_page(flag)}?tab=releases")
    release = ada.page.get_by_role("article", name="Slow start")
    await expect(release).to_contain_text("The next step waits until this one has enough users.")
    shown = release.get_by_role("region", name="Thresholds", exact=True)
    await expect(shown).to_contain_text(
        "checkout_errors (new-checkout: enabled), per minute, over 5 minutes, above 50. "
        "Turns the flag off when it is passed."
    )
    await expect(shown).to_contain_text("Within the limit")
    await expect(shown.get_by_role("table")).to_contain_text("9")
    await check_in_both_schemes(ada, "a release with a threshold")
    await ada.page.set_viewport_size({"width": 360, "height": 740})
    await stays_within(ada)
