"""The narrowest phones: no page scrolls sideways, however long the words are."""

from contextlib import AsyncExitStack
from typing import Any

import pytest_asyncio
from playwright.async_api import expect

from tests.e2e.accessibility import UNBROKEN, VARIANTS, stays_within
from tests.e2e.contexts import Contexts
from tests.e2e.people import Person, environment_page, evaluate_and_record, flag_page, load_all
from tests.support.server import ServerProcess


@pytest_asyncio.fixture(loop_scope="session")
async def person(contexts: Contexts, server: ServerProcess, people: AsyncExitStack) -> Person:
    """A person with a narrow phone."""
    narrow: Any = {"viewport": {"width": 320, "height": 640}, "reduced_motion": "reduce"}
    return await people.enter_async_context(Person(contexts, server.url, **narrow))


async def test_no_page_before_the_sign_in_scrolls_sideways_on_the_narrowest_phone(person: Person) -> None:
    await person.page.goto("/sign-in")
    for path in ("/sign-in", "/register", "/forgot-password", "/reset-password"):
        await person.turn_to(path)
        await stays_within(person)
    await stays_within(person, "/reset-password?token=x")


async def test_no_page_scrolls_sideways_on_the_narrowest_phone(person: Person) -> None:
    await person.sign_up()
    await stays_within(person, "/")
    project = await person.api.create_project(name=UNBROKEN, description=UNBROKEN)
    environment = await person.api.create_environment(project, name=UNBROKEN, key=UNBROKEN.lower())
    environment["project_id"] = project["id"]
    here = environment_page(environment)
    for path in (here, f"{here}/history", f"{here}/changes"):
        await person.turn_to(path)
        await stays_within(person)
    flag = await person.api.create_flag(
        environment, name=UNBROKEN, key=UNBROKEN.lower(), description=UNBROKEN, rollout_percentage=25
    )
    for _ in range(2):
        await person.api.create_rule(flag, rule_value=UNBROKEN)
    await person.api.evaluate(project["sdk_key"], environment["key"], {"user_id": UNBROKEN})
    tabs = [f"{flag_page(flag)}?tab={tab}" for tab in ("overview", "releases", "history", "changes", "code")]
    of_project = [f"/projects/{project['id']}/{page}" for page in ("flags", "settings", "erasures")]
    missing = environment_page({**await person.api.get_environment(project), "project_id": project["id"]})
    of_project.append(f"{missing}/flags/by-key/{flag['key']}")
    await person.page.goto("/")
    for path in ("/", here, f"{here}/history", f"{here}/changes", *of_project, *tabs):
        await person.turn_to(path)
        await stays_within(person)
    await person.turn_to(flag_page(flag))
    await person.press("Set the rollout")
    await stays_within(person)
    await person.press("Add rule")
    await stays_within(person)
    conditions = [{"attribute": UNBROKEN, "operator": "in", "values": [UNBROKEN, "x"]}]
    await person.api.create_segment(project, key=UNBROKEN.lower(), name=UNBROKEN, conditions=conditions)
    await person.api.create_rule(
        flag, rule_type="segment", rule_value=UNBROKEN.lower(), name=UNBROKEN, conditions=conditions
    )
    changed = {
        "tags": [UNBROKEN[:50]],
        "stickiness": UNBROKEN,
        "bucketing_key": UNBROKEN,
        "fallthrough": "off",
        "variants": [{**each, "key": f"{UNBROKEN}-{each['key']}"} for each in VARIANTS],
    }
    await person.api.put(f"/api{flag_page(flag)}", json=changed)
    await person.page.goto("/")
    for path in (here, f"{here}/changes", flag_page(flag), f"/projects/{project['id']}/segments"):
        await person.turn_to(path)
        await stays_within(person)
    await person.press("New segment")
    await stays_within(person)
    await person.turn_to(flag_page(flag))
    # Content that loads later would move the button, and a menu whose button leaves the window is hidden.
    await load_all(person.page)
    await person.press("Add attribute")
    await expect(person.page.get_by_label("Name of attribute 1")).to_be_focused()  # which scrolls there
    await person.press(f"Actions for: {UNBROKEN}")
    await person.page.get_by_role("menuitem", name="Edit").click()
    await expect(person.page.get_by_role("dialog").get_by_label("Attribute")).to_have_value(UNBROKEN)
    await stays_within(person)
    await person.page.keyboard.press("Escape")
    await person.press("Edit variants")
    await stays_within(person)
    needing = await person.api.create_flag(environment, prerequisites=[{"flag_key": flag["key"]}])
    await person.page.goto(flag_page(needing))
    await expect(
        person.page.get_by_role("region", name="Prerequisites", exact=True).get_by_role("link", name=flag["key"])
    ).to_be_visible()
    await stays_within(person)
    await person.press("Edit prerequisites")
    await stays_within(person)


async def test_no_trace_is_wider_than_the_narrowest_phone(person: Person) -> None:
    await person.sign_up()
    environment = await person.api.get_environment(await person.api.create_project())
    variants = [{**each, "key": f"{UNBROKEN}-{each['key']}"} for each in VARIANTS]
    flag = await person.api.create_flag(environment, variants=variants)
    conditions = [{"attribute": UNBROKEN, "operator": "in", "values": [UNBROKEN, "x"], "negate": True}]
    await person.api.create_rule(flag, rule_type="attributes", rule_value=None, conditions=conditions)
    context = {"user_id": UNBROKEN, "custom_attributes": {UNBROKEN: UNBROKEN}}
    await evaluate_and_record(person, environment, context)
    page, dialog = person.page, person.page.get_by_role("dialog")
    await stays_within(person, f"{flag_page(flag)}?tab=history")
    await person.turn_to(flag_page(flag))
    await stays_within(person)
    await page.get_by_label("User id").fill(UNBROKEN)
    await person.press("Add attribute")
    await page.get_by_label("Value of attribute 1").fill(UNBROKEN)
    await person.press("Evaluate")
    await expect(page.get_by_role("list", name="Why")).to_be_visible()
    await stays_within(person)
    await person.press("Edit variants")
    await dialog.get_by_role("button", name="Try this change").click()
    await dialog.get_by_role("button", name="Evaluate").click()
    await expect(dialog.get_by_role("list", name="Why")).to_be_visible()
    await stays_within(person)
