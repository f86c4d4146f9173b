"""The page of an environment's applications: which have the present state, what they report and what they request."""

import asyncio

from playwright.async_api import Locator, expect

from tests.e2e.accessibility import AXE, UNBROKEN, check, stays_within
from tests.e2e.people import POLL_SECONDS, Person, environment_page
from tests.support.api import Json
from tests.support.clients import open_client
from tests.support.sdk_keys import create_key

METRICS = {
    "appName": "shop",
    "instanceId": "one",
    "bucket": {
        "start": "2026-11-22T10:00:00Z",
        "stop": "2026-11-22T10:01:00Z",
        "toggles": {"new-checkout": {"yes": 1200, "no": 34}, "gone-for-good": {"yes": 0, "no": 7}},
    },
}


def page_of(environment: Json) -> str:
    """Return the path of the page."""
    return f"{environment_page(environment)}/applications"


def table(ada: Person, name: str) -> Locator:
    """Return the rows of a table, without its head."""
    return ada.page.get_by_role("region", name=name).locator("tbody tr")


async def speak(ada: Person, key: str) -> None:
    """Request all flags and report counts, as an SDK of Unleash does, and request a flag that does not exist."""
    headers = {
        "authorization": key,
        "unleash-appname": "shop",
        "unleash-instanceid": "one",
        "unleash-sdk": "unleash-client-python:6.9.1",
        "unleash-interval": "600000",  # longer than the test takes
    }
    async with open_client(base_url=ada.url, timeout=30) as client:
        answers = [
            await client.get("/unleash/api/client/features", headers=headers),
            await client.post("/unleash/api/client/metrics", headers=headers, json=METRICS),
            await client.post("/ofrep/v1/evaluate/flags/typo", headers={"x-api-key": key}, json={}),
        ]
    assert [answer.status_code for answer in answers] == [200, 202, 404]


async def until_stored(ada: Person, environment: Json) -> None:
    """Wait until the API returns all of that, which takes a second or two."""
    path = f"/api{environment_page(environment)}"
    async with asyncio.timeout(60):
        while not (
            (await ada.api.get(f"{path}/connections")).json()["connections"]
            and (await ada.api.get(f"{path}/reports")).json()["flags"]
            and len((await ada.api.get(f"{path}/usage")).json()["missing"]) > 1
        ):
            await asyncio.sleep(POLL_SECONDS)


async def test_without_applications_it_says_what_to_do(ada: Person) -> None:
    flag = await ada.api.create_flag(key="quiet")
    environment = {"project_id": flag["project_id"], "id": flag["environment_id"]}
    await ada.page.goto(page_of(environment))
    await ada.sees_heading("Applications")
    await expect(ada.page.get_by_text("No application has requested flags yet")).to_be_visible()
    await expect(ada.page.get_by_text("Every flag that was requested exists.")).to_be_visible()
    await expect(ada.page.get_by_text("quiet", exact=True)).to_be_visible()


async def test_the_first_application_shows_by_itself(ada: Person) -> None:
    flag = await ada.api.create_flag()
    environment = {"project_id": flag["project_id"], "id": flag["environment_id"]}
    await ada.clock.install()
    await ada.page.goto(page_of(environment))
    await ada.sees("No application has requested flags yet")
    await speak(ada, (await create_key(ada.api, {"id": flag["project_id"]}))["key"])
    await until_stored(ada, environment)
    await ada.clock.fast_forward("00:16")
    await expect(table(ada, "Instances")).to_contain_text("unleash-client-python:6.9.1")


async def test_it_lists_who_has_the_present_state_and_what_was_reported(ada: Person) -> None:
    flag = await ada.api.create_flag(key="new-checkout")
    environment = {"project_id": flag["project_id"], "id": flag["environment_id"]}
    await speak(ada, (await create_key(ada.api, {"id": flag["project_id"]}))["key"])
    await until_stored(ada, environment)
    await ada.page.goto(page_of(environment))
    await ada.sees_heading("Applications")
    instance = table(ada, "Instances")
    await expect(instance).to_contain_text("unleash-client-python:6.9.1")
    await expect(instance).to_contain_text("Up to date, next check within")
    reported = table(ada, "Reported in the last 24 hours").filter(has_text="new-checkout")
    await expect(reported).to_contain_text("1,200")
    missing = table(ada, "Requested but missing")
    await expect(missing.filter(has_text="gone-for-good")).to_contain_text("shop, 7 times")
    await expect(missing.filter(has_text="typo")).to_contain_text("the API, 1 time")
    await expect(ada.page.get_by_text("Every flag was requested by name")).to_be_visible()
    if AXE.is_file():
        for scheme in ("light", "dark"):
            await ada.page.emulate_media(color_scheme=scheme)
            await check(ada, f"the page of applications, {scheme}")
    await ada.page.set_viewport_size({"width": 320, "height": 700})
    await stays_within(ada)


async def test_it_lists_who_asks_by_last_use_rate_and_key(ada: Person) -> None:
    flag = await ada.api.create_flag()
    project = {"id": flag["project_id"]}
    environment = {"project_id": flag["project_id"], "id": flag["environment_id"]}
    shop, web = [await create_key(ada.api, project, name=name) for name in ("Shop", "Web")]
    for key, agent, times in ((shop, "checkout/2.1", 3), (web, UNBROKEN, 1)):
        for _ in range(times):
            answer = await ada.api.post(
                "/sdk/v1/evaluate",
                json={"environment": "production", "context": {"user_id": "ada"}},
                headers={"x-sdk-key": key["key"], "user-agent": agent},
            )
            assert answer.status_code == 200
    await ada.page.goto(page_of(environment))
    callers = table(ada, "Callers")
    await expect(callers.filter(has_text="checkout/2.1")).to_contain_text("Evaluate")
    await expect(callers.filter(has_text="checkout/2.1")).to_contain_text("127.0.0.0/24")
    await expect(callers.filter(has_text="checkout/2.1")).to_contain_text(f"Shop (…{shop['hint']})")
    await expect(callers.filter(has_text="checkout/2.1")).to_contain_text("just now")
    await ada.page.get_by_label("Sort by").select_option("Requests in 24 hours")
    await expect(callers.nth(0)).to_contain_text("checkout/2.1")
    await ada.page.get_by_label("SDK key").select_option(f"Web (…{web['hint']})")
    await expect(callers.filter(has_text="checkout/2.1")).to_have_count(0)
    await expect(callers.filter(has_text=UNBROKEN)).to_have_count(1)
    if AXE.is_file():
        for scheme in ("light", "dark"):
            await ada.page.emulate_media(color_scheme=scheme)
            await check(ada, f"the callers, {scheme}")
    await ada.page.set_viewport_size({"width": 320, "height": 700})
    await stays_within(ada)


async def test_a_link_leads_there_by_keyboard(ada: Person) -> None:
    flag = await ada.api.create_flag()
    await ada.page.goto(environment_page({"project_id": flag["project_id"], "id": flag["environment_id"]}))
    await ada.sees_heading("Flags")
    await ada.page.get_by_role("link", name="Applications").press("Enter")
    await ada.sees_heading("Applications")
