"""A flag with a thousand rules: only those near the window exist, and its switch waits for none of them."""

from uuid import UUID

import pytest_asyncio
from playwright.async_api import Locator, expect

from flagstaff.database.database import Database
from tests.e2e.people import Person, flag_page
from tests.support.api import Json, flag_path
from tests.support.builders import make_rule, store_all
from tests.support.stores import Store

RULES = 1_000
ELEMENTS_MAX = 3_000


@pytest_asyncio.fixture(loop_scope="session")
async def flag(ada: Person, sqlite: Store) -> Json:
    """A flag that is off, with a rule for each of a thousand users, of whom the last comes first."""
    flag = await ada.api.create_flag(enabled=False)
    database = Database(sqlite.database_url, sqlite.data_directory)
    rules = [
        make_rule(flag_id=UUID(flag["id"]), rule_value=f"user-{number}", priority=number)
        for number in range(1, RULES + 1)
    ]
    try:
        await store_all(database, *rules)
    finally:
        await database.close()
    return flag


def rules(ada: Person) -> Locator:
    """The rules that exist in the page."""
    return ada.page.get_by_role("region", name="Targeting", exact=True).get_by_role("listitem")


async def a_page_with_a_thousand_rules_has_few_elements_and_a_switch_that_acts(ada: Person, flag: Json) -> None:
    switch = ada.page.get_by_role("switch", name=flag["name"], exact=True)
    await expect(rules(ada).first).to_contain_text(f"user-{RULES}")
    assert await ada.page.evaluate("document.querySelectorAll('*').length") <= ELEMENTS_MAX
    async with ada.page.expect_response(lambda each: each.request.method == "PUT") as answered:
        await switch.click()
        await ada.page.get_by_role("dialog").get_by_role("button", name="Turn on").click()
    assert (await answered.value).status == 200
    assert (await ada.api.get(flag_path(flag))).json()["enabled"] is True
    await expect(switch).to_be_checked()


async def the_last_of_a_thousand_rules_is_reached_by_scrolling(ada: Person, flag: Json) -> None:
    await expect(rules(ada).first).to_have_attribute("aria-setsize", str(RULES))
    last = ada.page.get_by_role("switch", name="Rule: If the user id is user-1", exact=True)
    await expect(last).to_have_count(0)
    await ada.page.get_by_role("radiogroup", name="Everyone else").scroll_into_view_if_needed()
    await expect(last).to_be_visible()


async def a_rule_is_found_by_its_words_then_edited_and_deleted(ada: Person, flag: Json) -> None:
    page, dialog = ada.page, ada.page.get_by_role("dialog")
    search = page.get_by_role("searchbox", name="Find a rule")
    await search.fill("no such words")
    await ada.sees("No rule has these words.")
    await search.fill("USER-777")
    await expect(rules(ada)).to_have_count(1)
    await expect(rules(ada)).to_contain_text(str(RULES - 776))  # its place among all
    actions = rules(ada).get_by_role("button", name="Actions")
    await actions.click()
    await page.get_by_role("menuitem", name="Edit").click()
    await dialog.get_by_label("Value").fill("user-777-b")
    await dialog.get_by_role("button", name="Save").click()
    await expect(dialog).to_have_count(0)
    await expect(rules(ada)).to_contain_text("user-777-b")
    await actions.click()
    await page.get_by_role("menuitem", name="Delete").click()
    await dialog.get_by_role("button", name="Delete").click()
    await expect(dialog).to_have_count(0)
    await ada.sees("No rule has these words.")
    await expect(page.get_by_role("button", name="Add rule")).to_be_focused()
    left = (await ada.api.get(f"{flag_path(flag)}/rules")).json()
    assert len(left) == RULES - 1


async def test_a_flag_with_a_thousand_rules_is_used_as_one_with_few(ada: Person, flag: Json) -> None:
    await ada.page.goto(flag_page(flag))
    await a_page_with_a_thousand_rules_has_few_elements_and_a_switch_that_acts(ada, flag)
    await the_last_of_a_thousand_rules_is_reached_by_scrolling(ada, flag)
    await a_rule_is_found_by_its_words_then_edited_and_deleted(ada, flag)
