"""Rules with conditions: describing, editing and trying them, and the result for everyone else."""

import re

import pytest_asyncio
from playwright.async_api import Locator, Route, expect

from tests.e2e.people import Person, environment_page, flag_page
from tests.support.api import Json, flag_path

PLAN = {"attribute": "plan", "operator": "in", "values": ["pro", "team"]}
NETWORKS = ("192.0.2.0/24", "198.51.100.7", "203.0.113.0/33")


@pytest_asyncio.fixture(loop_scope="session")
async def flag(ada: Person) -> Json:
    """A flag that is on only for users who match a rule, without rules."""
    return await ada.api.create_flag(fallthrough="off")


def condition(ada: Person, number: int) -> Locator:
    """Return a condition in the open dialog."""
    return ada.page.get_by_role("dialog").get_by_role("group", name=f"Condition {number}")


async def start_rule(ada: Person, flag: Json, rule_type: str) -> Locator:
    """Open the dialog for a new rule of this type."""
    await ada.page.goto(flag_page(flag))
    await ada.press("Add rule")
    dialog = ada.page.get_by_role("dialog")
    await dialog.get_by_label("Match by").select_option(rule_type)
    return dialog


async def test_a_value_that_cannot_be_compared_is_refused_at_its_condition_and_place(ada: Person, flag: Json) -> None:
    dialog = await start_rule(ada, flag, "attributes")
    await condition(ada, 1).get_by_label("Attribute").fill("plan")
    await condition(ada, 1).get_by_label("Values").fill("pro")
    await dialog.get_by_role("button", name="Add condition").click()
    second = condition(ada, 2)
    await second.get_by_label("Attribute").fill("ip")
    await second.get_by_label("Comparison").select_option("in_network")
    await second.get_by_label("Values").fill("\n".join(NETWORKS))
    await dialog.get_by_role("button", name="Add rule").click()
    await expect(second).to_contain_text("Value 3 must be an IP address or a range of them")
    await expect(second.get_by_label("Values")).to_be_focused()
    await expect(second.get_by_label("Values")).to_have_attribute("aria-invalid", "true")
    assert (await ada.api.get(f"/api{flag_page(flag)}/rules")).json() == []
    await second.get_by_label("Values").fill(NETWORKS[0])
    await expect(second.get_by_label("Values")).not_to_have_attribute("aria-invalid", "true")


async def test_an_attribute_without_a_name_is_refused_at_its_field(ada: Person, flag: Json) -> None:
    dialog = await start_rule(ada, flag, "attributes")
    await dialog.get_by_role("button", name="Add rule").click()
    await expect(condition(ada, 1).get_by_label("Attribute")).to_be_focused()
    await expect(condition(ada, 1).get_by_label("Attribute")).to_have_attribute("aria-invalid", "true")


async def test_a_rule_for_no_segment_is_refused(ada: Person, flag: Json) -> None:
    dialog = await start_rule(ada, flag, "segment")
    await expect(dialog).to_contain_text("This project has no segments yet.")
    await dialog.get_by_role("button", name="Add rule").click()
    await expect(dialog.get_by_label("Segment")).to_have_attribute("aria-invalid", "true")


async def test_a_refused_choice_for_everyone_else_is_reverted(ada: Person, flag: Json) -> None:
    async def refuse(route: Route) -> None:
        await route.fulfill(
            status=503, json={"detail": "The database cannot be reached."}, content_type="application/problem+json"
        )

    await ada.page.goto(flag_page(flag))
    await ada.sees("The flag is off for everyone")
    await ada.page.route("**/flags/*", refuse)
    await ada.page.get_by_text("Rollout", exact=True).click()
    await ada.sees("What happens to everyone else could not be changed")
    await expect(ada.page.get_by_role("radio", name="Off")).to_be_checked()


async def test_everyone_else_gets_the_rollout_or_nothing(ada: Person) -> None:
    flag = await ada.api.create_flag(rollout_percentage=25)
    await ada.api.create_rule(flag)
    state = ada.page.get_by_role("region", name="State")
    await ada.page.goto(flag_page(flag))
    await expect(state).to_contain_text("On for users who match a rule, and for 25% of all others.")
    await ada.page.get_by_role("radiogroup", name="Everyone else").get_by_text("Off").click()
    await expect(state).to_contain_text("On only for users who match a rule. It is off for everyone else.")
    await ada.sees("Otherwise: the flag is off")
    await ada.sees("The rollout of 25% is not used.")
    saved = (await ada.api.get(f"/api{flag_page(flag)}")).json()
    assert (saved["fallthrough"], saved["rollout_percentage"]) == ("off", 25)
    await ada.page.goto(environment_page({"project_id": flag["project_id"], "id": flag["environment_id"]}))
    await expect(ada.page.get_by_role("cell", name="1 rule only")).to_be_visible()


async def test_a_rule_is_built_from_conditions_and_tried_with_attributes(ada: Person, flag: Json) -> None:
    dialog = await start_rule(ada, flag, "attributes")
    first = condition(ada, 1)
    await first.get_by_label("Attribute").fill("plan")
    await first.get_by_label("Values").fill("pro\nteam")
    await first.get_by_label("Ignore case").check()
    await expect(first).to_contain_text("Met if plan is one of pro, team (ignoring case).")
    await dialog.get_by_role("button", name="Add condition").click()
    second = condition(ada, 2)
    await expect(second.get_by_label("Attribute")).to_be_focused()
    await second.get_by_label("Attribute").fill("app_version")
    await second.get_by_label("Comparison").select_option("semver_lt")
    await second.get_by_label("Value", exact=True).fill("2.0.0")
    await second.get_by_label("Negate").check()
    await dialog.get_by_label("Name").fill("Paying")
    await dialog.get_by_role("button", name="Add rule").click()
    rule = ada.page.get_by_role("region", name="Targeting").get_by_role("listitem")
    await expect(rule).to_contain_text(
        "PayingIf plan is one of pro, team (ignoring case) and app_version is not older than version 2.0.0, "
        "the flag is on"
    )
    (saved,) = (await ada.api.get(f"/api{flag_page(flag)}/rules")).json()
    assert [each["values"] for each in saved["conditions"]] == [["pro", "team"], ["2.0.0"]]

    simulator = ada.page.get_by_role("region", name="Try it")
    for number, value in ((1, "2.1.0"), (2, "PRO")):
        await simulator.get_by_role("button", name="Add attribute").click()
        await simulator.get_by_label(f"Value of attribute {number}").fill(value)
    await simulator.get_by_role("button", name="Evaluate").click()
    await expect(simulator.get_by_role("status")).to_contain_text("Matched attributes targeting rule")
    await expect(simulator.get_by_role("status")).to_contain_text("app_version: 2.1.0, plan: PRO")
    await simulator.get_by_role("button", name="Remove attribute 1").click()
    await simulator.get_by_role("button", name="Evaluate").click()
    await expect(simulator.get_by_role("status")).to_contain_text("No targeting rule matched")


async def test_the_values_of_a_pasted_list_are_looked_at_before_they_are_taken(ada: Person, flag: Json) -> None:
    await ada.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await start_rule(ada, flag, "attributes")
    values = condition(ada, 1).get_by_role("textbox", name="Values")

    async def paste(text: str) -> None:
        await ada.page.evaluate("text => navigator.clipboard.writeText(text)", text)
        await values.focus()
        await ada.page.keyboard.press("ControlOrMeta+v")

    async def choose(button: str) -> None:
        await condition(ada, 1).get_by_role("button", name=button, exact=True).click()

    for text in ("PT, ES,FR", "PT;ES; FR", "PT\tES\tFR\n", "PT,\nES,\nFR"):
        await paste(text)
        look = condition(ada, 1).get_by_role("group", name="Split into 3 values?")
        await expect(look.get_by_role("code")).to_have_text(["PT", "ES", "FR"])
        await expect(values).to_have_value("")
        await choose("Take 3 values")
        await expect(values).to_have_value("PT\nES\nFR")
        await values.fill("")
    await paste("Lisbon, Portugal")
    await choose("Discard")
    await expect(values).to_have_value("")
    await paste("Lisbon, Portugal")
    await choose("Paste as it is")
    await expect(values).to_have_value("Lisbon, Portugal")
    await values.fill("DE")
    await values.press("End")
    await paste("PT\nES")
    await expect(values).to_have_value("DEPT\nES")
    await paste(", FR, IT")
    await choose("Take 2 values")
    await expect(condition(ada, 1)).to_contain_text("4 values.")
    await expect(values).to_have_value("DEPT\nES\nFR\nIT")


async def test_a_condition_without_values_is_refused_at_its_field(ada: Person, flag: Json) -> None:
    dialog = await start_rule(ada, flag, "attributes")
    await condition(ada, 1).get_by_label("Attribute").fill("plan")
    await dialog.get_by_role("button", name="Add rule").click()
    await expect(condition(ada, 1)).to_contain_text("Must contain at least one value")
    await expect(condition(ada, 1)).not_to_contain_text("Met if")
    await expect(condition(ada, 1).get_by_label("Values")).to_be_focused()


async def test_long_lists_of_values_are_folded(ada: Person, flag: Json) -> None:
    users = [f"user-{number}" for number in range(214)]
    conditions = [{"attribute": "user_id", "operator": "in", "values": users, "negate": True}]
    await ada.api.create_rule(flag, rule_type="attributes", rule_value=None, conditions=conditions)
    await ada.page.goto(flag_page(flag))
    rule = ada.page.get_by_role("region", name="Targeting").get_by_role("listitem")
    await expect(rule).to_contain_text("If the user id is given and none of 214 values")
    await expect(rule.get_by_text("user-213")).to_be_hidden()
    await rule.get_by_text("214 values", exact=True).click()
    await expect(rule.get_by_text("user-213")).to_be_visible()


async def test_a_rules_percentage_is_shown_with_the_call_that_sets_it(ada: Person, flag: Json) -> None:
    rule = await ada.api.create_rule(flag, rollout_percentage=20)
    await ada.page.goto(flag_page(flag))
    await ada.sees(", the flag is on for 20% of them")
    await ada.sees("On only for users who match a rule and are in its percentage.")
    await ada.press("Actions for: If the user id is ada")
    await ada.page.get_by_role("menuitem", name="Edit").click()
    dialog = ada.page.get_by_role("dialog")
    await dialog.get_by_role("button", name="Set the percentage").click()
    await dialog.get_by_label("Percentage to set").fill("60")
    await expect(dialog).to_contain_text(f"rules/{rule['id']}")
    await expect(dialog).to_contain_text('{"rollout_percentage": 60}')
    await dialog.get_by_role("button", name="Save").click()
    await expect(dialog).to_have_count(0)
    (saved,) = (await ada.api.get(f"/api{flag_page(flag)}/rules")).json()
    assert saved["rollout_percentage"] == 20


async def test_a_flags_tags_stickiness_and_bucketing_key_are_edited(ada: Person) -> None:
    flag = await ada.api.create_flag(rollout_percentage=25)
    await ada.page.goto(flag_page(flag))
    await ada.press("Actions")
    await ada.page.get_by_role("menuitem", name="Edit").click()
    dialog = ada.page.get_by_role("dialog")
    await dialog.get_by_label("Tags").fill("search")
    await ada.page.keyboard.press("Enter")
    await dialog.get_by_label("Tags").fill("q4")
    await dialog.get_by_label("Stickiness").fill(" ")
    await dialog.get_by_role("button", name="Save").click()
    await expect(dialog.get_by_label("Stickiness")).to_have_attribute("aria-invalid", "true")
    await dialog.get_by_label("Stickiness").fill("company")
    await dialog.get_by_label("Bucketing key").fill("search")
    await dialog.get_by_role("button", name="Save").click()
    await expect(dialog).to_have_count(0)
    await expect(ada.page.get_by_role("list", name="Tags")).to_have_text("searchq4")
    await ada.sees("On for 25% of users, chosen by company.")
    await ada.sees("Users are chosen with the key search instead of the flag's key.")
    saved = (await ada.api.get(f"/api{flag_page(flag)}")).json()
    assert (saved["tags"], saved["stickiness"], saved["bucketing_key"]) == (["search", "q4"], "company", "search")
    await ada.page.goto(environment_page({"project_id": flag["project_id"], "id": flag["environment_id"]}))
    await ada.page.get_by_role("searchbox").fill("q4")
    await expect(ada.page.get_by_role("link", name="New checkout")).to_be_visible()


async def test_changes_and_reasons_are_shown_in_words(ada: Person, flag: Json) -> None:
    project = (await ada.api.get(f"/api/projects/{flag['project_id']}")).json()
    rule = await ada.api.create_rule(flag, rule_type="attributes", rule_value=None, name="Paying", conditions=[PLAN])
    await ada.api.put(f"/api{flag_page(flag)}/rules/{rule['id']}", json={"conditions": [{**PLAN, "values": ["pro"]}]})
    await ada.api.put(f"/api{flag_page(flag)}", json={"fallthrough": "rollout", "tags": ["beta"]})
    await ada.page.goto(f"{flag_page(flag)}?tab=changes")
    changes = ada.page.get_by_role("tabpanel").get_by_role("listitem")
    await expect(changes.nth(0)).to_contain_text("Everyone elseBefore Off → After Rollout")
    await expect(changes.nth(0)).to_contain_text("TagsAfter beta")
    await expect(changes.nth(1)).to_contain_text("removed team from a rule of New checkout")
    await expect(changes.nth(1)).to_contain_text("Before plan is one of pro, team → After plan is pro")

    await ada.api.put(f"/api{flag_page(flag)}", json={"fallthrough": "off"})
    for plan in ("pro", "free"):
        await ada.api.evaluate(project["sdk_key"], context={"custom_attributes": {"plan": plan}})
    await ada.page.goto(f"{flag_page(flag)}?tab=history")
    await expect(ada.page.get_by_role("row").filter(has_text="Matched attributes targeting rule")).to_contain_text("On")
    await expect(ada.page.get_by_role("row").filter(has_text="No targeting rule matched")).to_contain_text("Off")
    reasons = ada.page.get_by_role("tabpanel").get_by_role("listitem")
    await expect(reasons.filter(has_text="No targeting rule matched")).to_have_attribute("data-off", "true")


async def test_prerequisites_and_variants_are_shown_in_words(ada: Person) -> None:
    environment = await ada.api.get_environment(await ada.api.create_project())
    await ada.api.create_flag(environment, key="payment", name="Payment", enabled=False)
    variants = [{"key": "blue", "weight": 500, "value": "#00f"}, {"key": "red", "weight": 500, "value": "#f00"}]
    flag = await ada.api.create_flag(environment, prerequisites=[{"flag_key": "payment"}], variants=variants)
    await ada.api.create_rule(flag, variant="red")
    await ada.page.goto(flag_page(flag))
    await ada.sees("It also requires that payment is on.")
    await ada.sees(", the flag is on with the variant red")
    await ada.press("Evaluate")
    await ada.sees("Prerequisite payment is not met")
    listed = (await ada.api.get(f"/api{environment_page(environment)}/flags")).json()
    payment = next(each for each in listed if each["key"] == "payment")
    await ada.api.put(f"/api{flag_page(payment)}", json={"enabled": True})
    await ada.page.get_by_role("region", name="Try it").get_by_label("User id").fill("ada")
    await ada.press("Evaluate")
    await ada.sees('Variant red, value "#f00"')


async def test_a_rule_is_placed_among_the_others_in_its_form(ada: Person) -> None:
    flag = await ada.api.create_flag()
    first, second = [await ada.api.create_rule(flag, rule_value=value) for value in ("ada", "bob")]
    dialog = await start_rule(ada, flag, "user_id")
    await dialog.get_by_role("textbox").first.fill("eve")
    checked = dialog.get_by_label("Position", exact=True)
    await expect(checked.locator("option")).to_have_text(["first", re.compile("^after: .* bob$")])
    await checked.select_option("first")
    await dialog.get_by_role("button", name="Add rule").click()
    await expect(dialog).to_have_count(0)
    rules = (await ada.api.get(f"{flag_path(flag)}/rules")).json()
    assert [each["rule_value"] for each in rules] == ["eve", first["rule_value"], second["rule_value"]]
