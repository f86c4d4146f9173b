"""The flag page says how the results of SDKs that evaluate the flag in the application differ, and why."""

from playwright.async_api import Locator, expect

from tests.e2e.accessibility import AXE, check_in_both_schemes, stays_within
from tests.e2e.people import Person, flag_page

REGULAR_EXPRESSION = {"attribute": "plan", "operator": "matches", "values": ["^g"]}


def differences(ada: Person) -> Locator:
    """Return the part of the page about differences."""
    return ada.page.get_by_role("region", name="Differences in local SDKs")


async def test_a_flag_without_differences_says_nothing(ada: Person) -> None:
    flag = await ada.api.create_flag(name="New checkout")
    async with ada.page.expect_response("**/sdk-differences"):
        await ada.page.goto(flag_page(flag))
    await ada.sees_heading("New checkout")
    await expect(differences(ada)).to_have_count(0)


async def test_each_difference_is_shown_with_its_reason_and_disappears_with_its_rule(ada: Person) -> None:
    flag = await ada.api.create_flag(fallthrough="off")
    conditions = {"rule_type": "attributes", "rule_value": None, "conditions": [REGULAR_EXPRESSION]}
    await ada.api.create_rule(flag, name="Gold", **conditions)
    await ada.page.goto(flag_page(flag))
    reason = differences(ada).get_by_text("The rule Gold is left out: SDKs disagree on regular expressions.")
    await expect(differences(ada)).to_contain_text("Off for some users")
    await expect(reason).to_have_count(0)
    await differences(ada).get_by_role("button").press("Enter")
    await expect(reason).to_be_visible()
    address = f"{ada.url}/docs#/SDKs/list_sdk_differences"
    await expect(differences(ada).get_by_role("link")).to_have_attribute("href", address)
    if AXE.is_file():
        await check_in_both_schemes(ada, "differences")
    await ada.page.set_viewport_size({"width": 320, "height": 700})
    await stays_within(ada)
    await ada.page.get_by_role("button", name="Actions for: Gold").click()
    await ada.page.get_by_role("menuitem", name="Delete").click()
    await ada.page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    await expect(differences(ada)).to_have_count(0)


async def test_those_for_unusual_values_are_told_apart(ada: Person) -> None:
    flag = await ada.api.create_flag(rollout_percentage=25)
    await ada.page.goto(flag_page(flag))
    await expect(differences(ada)).to_contain_text("for unusual values")
