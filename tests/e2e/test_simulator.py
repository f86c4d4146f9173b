"""Trying a flag for a user: the result and every step to it, including with unsaved changes."""

import asyncio

import pytest_asyncio
from playwright.async_api import Locator, Route, expect

from tests.e2e.people import Person, environment_page, flag_page, load_all
from tests.support.api import Json

TYPED = [
    {"attribute": "age", "operator": "gte", "values": ["18"]},
    {"attribute": "beta", "operator": "in", "values": ["true"]},
    {"attribute": "roles", "operator": "in", "values": ["owner"]},
]


@pytest_asyncio.fixture(loop_scope="session")
async def environment(ada: Person) -> Json:
    """The production of a new project."""
    return await ada.api.get_environment(await ada.api.create_project())


def simulator(ada: Person) -> Locator:
    """Return the simulator on a flag's page."""
    return ada.page.get_by_role("region", name="Try it", exact=True)


def unsaved(ada: Person) -> Locator:
    """Return the simulator in a dialog."""
    return ada.page.get_by_role("dialog").get_by_role("region", name="Try this change")


async def evaluate(where: Locator, *lines: str) -> None:
    """Evaluate, and find these texts among the steps."""
    await where.get_by_role("button", name="Evaluate").click()
    for line in lines:
        await expect(where.get_by_role("list", name="Why")).to_contain_text(line)


async def add_attribute(where: Locator, number: int, name: str, kind: str, value: str) -> None:
    """Add an attribute of a type to the user."""
    await where.get_by_role("button", name="Add attribute").click()
    await where.get_by_label(f"Name of attribute {number}").fill(name)
    await where.get_by_label(f"Type of attribute {number}").select_option(kind)
    field = where.get_by_label(f"Value of attribute {number}")
    await (field.select_option(value) if kind == "boolean" else field.fill(value))


async def test_a_number_that_is_not_one_is_refused_at_its_field(ada: Person, environment: Json) -> None:
    await ada.page.goto(flag_page(await ada.api.create_flag(environment)))
    await add_attribute(simulator(ada), 1, "age", "number", "many")
    await simulator(ada).get_by_role("button", name="Evaluate").click()
    value = simulator(ada).get_by_label("Value of attribute 1")
    await expect(value).to_have_attribute("aria-invalid", "true")
    await expect(value).to_be_focused()
    await expect(simulator(ada)).to_contain_text("Must be a number, such as 42 or -0.5")
    await value.fill("42")
    await expect(value).not_to_have_attribute("aria-invalid", "true")
    await evaluate(simulator(ada), "The flag is on")


async def test_a_flag_that_is_off_shows_that_nothing_else_is_checked(ada: Person, environment: Json) -> None:
    flag = await ada.api.create_flag(environment, enabled=False)
    await ada.api.create_rule(flag)
    await ada.page.goto(flag_page(flag))
    await evaluate(simulator(ada), "The flag is off, so nothing else is checked")
    await expect(simulator(ada).get_by_role("status")).to_contain_text("Flag is globally disabled")
    await expect(simulator(ada).get_by_role("list", name="Why").get_by_role("listitem")).to_have_count(1)


async def test_attributes_are_sent_as_their_types_and_shown_at_each_condition(ada: Person, environment: Json) -> None:
    flag = await ada.api.create_flag(environment, fallthrough="off")
    await ada.api.create_rule(flag, rule_type="attributes", rule_value=None, conditions=TYPED, name="Adults")
    await ada.page.goto(flag_page(flag))
    where = simulator(ada)
    await add_attribute(where, 1, "age", "number", "17.5")
    await add_attribute(where, 2, "beta", "boolean", "true")
    await add_attribute(where, 3, "roles", "list", "editor\nowner")
    await evaluate(
        where,
        "Not met: age is at least 18Actual: 17.5",
        "Met: beta is trueActual: true",
        'Met: roles is ownerActual: ["editor","owner"]',
        "No rule matches: off for everyone else",
    )
    await where.get_by_label("Value of attribute 1").fill("18")
    await evaluate(where, "Met: Adults", "Matches and decides", "Actual: 18", "Everyone else: not reached")
    await expect(where.get_by_role("status")).to_contain_text("Matched attributes targeting rule")
    await expect(where.get_by_role("status")).to_contain_text("age: 18, beta: true, roles: editor,owner")
    await where.get_by_role("button", name="Remove attribute 3").click()
    await expect(where.get_by_label("Name of attribute 3")).to_have_count(0)
    await evaluate(where, "roles is ownerMissing")


async def test_prerequisites_percentages_segments_and_variants_are_explained(ada: Person, environment: Json) -> None:
    project = {"id": environment["project_id"]}
    await ada.api.create_segment(project, conditions=[{"attribute": "plan", "operator": "in", "values": ["pro"]}])
    payment = await ada.api.create_flag(environment, key="payment", name="Payment", enabled=False)
    variants = [{"key": "blue", "weight": 900, "value": 1}, {"key": "red", "weight": 100, "value": 2}]
    flag = await ada.api.create_flag(
        environment, prerequisites=[{"flag_key": "payment"}], variants=variants, rollout_percentage=25
    )
    await ada.api.create_rule(flag, rule_type="segment", rule_value="beta", rollout_percentage=1)
    await ada.page.goto(flag_page(flag))
    where = simulator(ada)
    await where.get_by_label("User id").fill("ada")
    await evaluate(where, "Not met: payment is onIt is off.", "The rules are not checked")
    await expect(where.get_by_role("status")).to_contain_text("Prerequisite payment is not met")

    await ada.api.put(f"/api{flag_page(payment)}", json={"enabled": True})
    await add_attribute(where, 1, "plan", "text", "pro")
    await evaluate(
        where,
        "Met: payment is on",
        "Met: The user is in the segment Beta testers",
        "Matches, but the user is outside its percentage",
        "25% rollout",
        "Hashed: new-checkout:ada",
    )
    # The page learns of the change, and removes the result of the flag as it was before.
    async with ada.page.expect_response(lambda answer: answer.url.endswith(f"/flags/{flag['id']}")):
        await ada.api.put(f"/api{flag_page(flag)}", json={"rollout_percentage": 100})
    await expect(where.get_by_role("list", name="Why")).to_have_count(0)
    await evaluate(where, "The variant is ", "of 1,000 is in its range")
    await where.get_by_label("User id").fill("")
    await evaluate(where, "The user has no identifier, and gets the first variant with a weight.")


async def test_a_result_stays_when_the_rules_of_the_flag_arrive_after_it(ada: Person, environment: Json) -> None:
    flag = await ada.api.create_flag(environment)
    await ada.api.create_rule(flag, rule_value="ada")
    asked: asyncio.Future[Route] = asyncio.get_running_loop().create_future()
    await ada.page.route(f"**/api{flag_page(flag)}/rules", lambda route: asked.set_result(route), times=1)  # noqa: PLW0108 -- not a builtin
    await ada.page.goto(flag_page(flag))
    await simulator(ada).get_by_label("User id").fill("ada")
    await evaluate(simulator(ada), "Met: If the user id is ada")
    await (await asked).continue_()
    await expect(ada.page.get_by_role("switch", name="Rule: If the user id is ada")).to_be_visible()
    await expect(simulator(ada).get_by_role("list", name="Why")).to_contain_text("Met: If the user id is ada")


async def test_a_message_that_appears_during_a_press_does_not_take_it(ada: Person) -> None:
    staging = await ada.api.get_environment(await ada.api.create_project(), "staging")
    flag = await ada.api.create_flag(staging, enabled=False)
    page = ada.page
    await page.emulate_media(reduced_motion="no-preference")
    await page.goto(flag_page(flag))
    button = simulator(ada).get_by_role("button", name="Evaluate")
    await load_all(page)  # otherwise the button would still move
    box = await button.bounding_box()
    assert box is not None
    # The message appears above the button, and its animation takes longer than this test.
    await page.set_viewport_size({"width": 1280, "height": round(box["y"] + box["height"] + 30)})
    await page.evaluate(
        "document.styleSheets[0].insertRule('.mantine-Notification-root { animation-duration: 60s !important }')"
    )
    asked: asyncio.Queue[Route] = asyncio.Queue()
    await page.route(
        f"**/api{flag_page(flag)}",
        lambda route: asked.put_nowait(route) if route.request.method == "PUT" else route.continue_(),
    )
    await page.get_by_role("region", name="State").get_by_role("switch").click()
    switching = await asyncio.wait_for(asked.get(), 60)
    await button.hover(position={"x": box["width"] - 30, "y": box["height"] / 2})  # wherever it is by now
    await page.mouse.down()
    await switching.continue_()
    message = page.get_by_role("status").filter(has_text="New checkout was turned on.")
    await expect(message).to_be_in_viewport(ratio=1)
    await page.mouse.up()
    await expect(simulator(ada).get_by_role("list", name="Why")).to_contain_text("The flag is on")


async def test_nothing_is_recorded_and_the_user_is_kept_for_the_next_flag(ada: Person, environment: Json) -> None:
    other = await ada.api.create_flag(environment, key="other", name="Other")
    await ada.page.goto(flag_page(await ada.api.create_flag(environment)))
    await simulator(ada).get_by_label("Email").fill("ada@acme.com")
    await evaluate(simulator(ada), "No rule matches, and no percentage is set: on for everyone")
    assert (await ada.api.get(f"/api{environment_page(environment)}/evaluations")).json()["items"] == []
    await ada.page.get_by_role("link", name="Flags", exact=True).click()
    await ada.page.get_by_role("link", name=other["name"]).click()
    await expect(simulator(ada).get_by_label("Email")).to_have_value("ada@acme.com")


async def test_a_rule_is_tried_before_it_is_saved(ada: Person, environment: Json) -> None:
    flag = await ada.api.create_flag(environment, fallthrough="off")
    await ada.page.goto(flag_page(flag))
    await ada.press("Add rule")
    dialog = ada.page.get_by_role("dialog")
    await dialog.get_by_role("button", name="Try this change").click()
    await unsaved(ada).get_by_label("User id").fill("ada")
    await unsaved(ada).get_by_role("button", name="Evaluate").click()
    await expect(dialog.get_by_label("Value", exact=True)).to_have_attribute("aria-invalid", "true")
    await expect(dialog.get_by_label("Value", exact=True)).to_be_focused()
    await expect(unsaved(ada).get_by_role("alert")).to_contain_text("The change is not valid yet.")
    await dialog.get_by_label("Match by").select_option("user_id")
    await dialog.get_by_label("Value", exact=True).fill("ada")
    await evaluate(unsaved(ada), "Met: If the user id is ada", "Matches and decides")
    await expect(unsaved(ada).get_by_role("status")).to_contain_text("On")
    assert (await ada.api.get(f"/api{flag_page(flag)}/rules")).json() == []
    await dialog.get_by_role("button", name="Add rule").click()
    await expect(dialog).to_have_count(0)
    assert len((await ada.api.get(f"/api{flag_page(flag)}/rules")).json()) == 1


async def test_enter_in_the_simulator_of_a_dialog_evaluates_and_does_not_save(ada: Person, environment: Json) -> None:
    flag = await ada.api.create_flag(environment)
    rule = await ada.api.create_rule(flag, rule_value="ada")
    await ada.page.goto(flag_page(flag))
    await ada.press("Actions for: If the user id is ada")
    await ada.page.get_by_role("menuitem", name="Edit").click()
    dialog = ada.page.get_by_role("dialog")
    await dialog.get_by_label("Value", exact=True).fill("grace")
    await dialog.get_by_role("button", name="Try this change").click()
    await unsaved(ada).get_by_label("User id").fill("grace")
    await ada.page.keyboard.press("Enter")
    await expect(unsaved(ada).get_by_role("list", name="Why")).to_contain_text("Met: If the user id is grace")
    assert (await ada.api.get(f"/api{flag_page(flag)}/rules/{rule['id']}")).json()["rule_value"] == "ada"


async def test_variants_and_prerequisites_are_tried_before_they_are_saved(ada: Person, environment: Json) -> None:
    await ada.api.create_flag(environment, key="payment", name="Payment", enabled=False)
    flag = await ada.api.create_flag(environment)
    dialog = ada.page.get_by_role("dialog")
    await ada.page.goto(flag_page(flag))
    await ada.press("Add variants")
    await dialog.get_by_label("Type of the values").select_option("number")
    for number, key in ((1, "small"), (2, "large")):
        await dialog.get_by_role("group", name=f"Variant {number}").get_by_label("Key").fill(key)
    await dialog.get_by_role("button", name="Try this change").click()
    await unsaved(ada).get_by_role("button", name="Evaluate").click()
    first = dialog.get_by_role("group", name="Variant 1").get_by_label("Value")
    await expect(first).to_have_attribute("aria-invalid", "true")
    for number in (1, 2):
        await dialog.get_by_role("group", name=f"Variant {number}").get_by_label("Value").fill(f"{number}0")
    await evaluate(unsaved(ada), "The variant is small")
    await expect(unsaved(ada).get_by_role("status")).to_contain_text("Variant small, value 10")
    await ada.page.keyboard.press("Escape")
    await expect(dialog).to_have_count(0)

    await ada.press("Add prerequisites")
    await dialog.get_by_role("combobox", name="Flag").fill("Payment")
    await ada.page.get_by_role("option", name="Payment").click()
    await dialog.get_by_role("button", name="Try this change").click()
    await evaluate(unsaved(ada), "Not met: payment is onIt is off.")
    saved = (await ada.api.get(f"/api{flag_page(flag)}")).json()
    assert (saved["variants"], saved["prerequisites"]) == ([], [])
