"""The preview of a change: how many recorded users get another result, before the change is saved."""

import pytest_asyncio
from playwright.async_api import Locator, Route, expect

from tests.e2e.people import Person, evaluate_and_record, flag_page
from tests.support.api import Json

USERS = [{"user_id": user, "custom_attributes": {"plan": "pro"}} for user in ("ada", "grace", "linus")]


@pytest_asyncio.fixture(loop_scope="session")
async def environment(ada: Person) -> Json:
    """The production of a new project."""
    return await ada.api.get_environment(await ada.api.create_project())


async def open_dialog(ada: Person, flag: Json, button: str) -> Locator:
    """Open a flag's page and one of its dialogs."""
    await ada.page.goto(flag_page(flag))
    await ada.press(button)
    return ada.page.get_by_role("dialog")


async def test_a_change_that_is_not_complete_is_not_counted(ada: Person, environment: Json) -> None:
    dialog = await open_dialog(ada, await ada.api.create_flag(environment), "Add rule")
    await expect(dialog.get_by_label("Value")).to_be_focused()
    await expect(dialog).not_to_contain_text("in the last 24 hours")
    await dialog.get_by_label("Match by").select_option("email_domain")
    await expect(dialog).to_contain_text("Complete the change to see how many users it affects.")
    await expect(dialog.locator("[aria-invalid=true]")).to_have_count(0)


async def test_without_recorded_users_nothing_is_claimed(ada: Person, environment: Json) -> None:
    dialog = await open_dialog(ada, await ada.api.create_flag(environment, fallthrough="off"), "Add rule")
    await dialog.get_by_label("Match by").select_option("user_id")
    await dialog.get_by_label("Value").fill("ada")
    await expect(dialog).to_contain_text("No user was seen in the last 24 hours, so it is not known")


async def test_an_unavailable_server_is_not_mistaken_for_an_incomplete_change(ada: Person, environment: Json) -> None:
    async def refuse(route: Route) -> None:
        await route.fulfill(
            status=503, json={"detail": "The database cannot be reached."}, content_type="application/problem+json"
        )

    await ada.page.route("**/impact", refuse)
    dialog = await open_dialog(ada, await ada.api.create_flag(environment), "Add rule")
    await dialog.get_by_label("Value").fill("ada@acme.com")
    await expect(dialog).to_contain_text("The database cannot be reached.")


async def test_the_users_of_a_rule_are_counted_before_it_is_saved(ada: Person, environment: Json) -> None:
    flag = await ada.api.create_flag(environment, fallthrough="off")
    await evaluate_and_record(ada, environment, *USERS)
    dialog = await open_dialog(ada, flag, "Add rule")
    await dialog.get_by_label("Match by").select_option("user_id")
    await dialog.get_by_label("Value").fill("grace")
    await expect(dialog).to_contain_text(
        "Would change the result for 1 of 3 users seen in the last 24 hours: 1 turned on."
    )
    await dialog.get_by_label("Value").fill("nobody")
    await expect(dialog).to_contain_text(
        "Would not change the result for any of the 3 users seen in the last 24 hours."
    )
    assert (await ada.api.get(f"/api{flag_page(flag)}/rules")).json() == []


async def test_users_whose_attributes_were_not_recorded_are_counted_apart(ada: Person, environment: Json) -> None:
    flag = await ada.api.create_flag(environment, fallthrough="off")
    await evaluate_and_record(ada, environment, *USERS)  # no rule uses their plan, so it is not recorded
    dialog = await open_dialog(ada, flag, "Add rule")
    await dialog.get_by_label("Match by").select_option("attributes")
    await dialog.get_by_label("Attribute").fill("plan")
    await dialog.get_by_label("Values").fill("pro")
    await expect(dialog).to_contain_text("Unknown: plan was not recorded for any of 3 users seen in the last 24 hours.")


async def test_a_change_to_variants_or_prerequisites_is_counted(ada: Person, environment: Json) -> None:
    await ada.api.create_flag(environment, key="payment", name="Payment", enabled=False)
    variants = [{"key": "blue", "weight": 1000, "value": "#00f"}, {"key": "red", "weight": 0, "value": "#f00"}]
    flag = await ada.api.create_flag(environment, variants=variants)
    await evaluate_and_record(ada, environment, *USERS)
    dialog = await open_dialog(ada, flag, "Edit variants")
    await dialog.get_by_role("group", name="Variant 1").get_by_label("Value").fill("#00e")
    await expect(dialog).to_contain_text("3 with another variant or value.")
    await ada.page.keyboard.press("Escape")
    await expect(dialog).to_have_count(0)

    await ada.press("Add prerequisites")
    await dialog.get_by_role("combobox", name="Flag").fill("Payment")
    await ada.page.get_by_role("option", name="Payment").click()
    await expect(dialog).to_contain_text("3 turned off.")
    saved = (await ada.api.get(f"/api{flag_page(flag)}")).json()
    assert (saved["prerequisites"], saved["variants"][0]["value"]) == ([], "#00f")
