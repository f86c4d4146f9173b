"""The evaluation history of flags: by user, variant and rule, with attributes, and the number of distinct users."""

import re

import pytest_asyncio
from playwright.async_api import Locator, expect

from tests.e2e.people import Person, environment_page, evaluate_and_record, flag_page
from tests.support.api import Json

PLAN = {"attribute": "plan", "operator": "in", "values": ["pro"]}
BLUE, RED = ({"key": key, "weight": 500, "value": key} for key in ("blue", "red"))
PRO = {"user_id": "ada", "custom_attributes": {"plan": "pro"}}
FREE = {"user_id": "grace", "custom_attributes": {"plan": "free"}}


@pytest_asyncio.fixture(loop_scope="session")
async def environment(ada: Person) -> Json:
    """The production of a new project."""
    return await ada.api.get_environment(await ada.api.create_project())


@pytest_asyncio.fixture(loop_scope="session")
async def flag(ada: Person, environment: Json) -> Json:
    """A flag that returns red for paying users and is off for others, evaluated for one user of each kind."""
    flag = await ada.api.create_flag(environment, variants=[BLUE, RED], fallthrough="off")
    await ada.api.create_rule(flag, rule_type="attributes", rule_value=None, conditions=[PLAN], variant="red")
    await evaluate_and_record(ada, environment, PRO, FREE)
    return flag


def rows(ada: Person) -> Locator:
    """Return the listed evaluations."""
    return ada.page.get_by_role("main").get_by_role("row").filter(has=ada.page.get_by_role("cell"))


async def test_a_deleted_rule_and_an_unknown_variant_can_still_be_filtered_by(ada: Person, flag: Json) -> None:
    (rule,) = (await ada.api.get(f"/api{flag_page(flag)}/rules")).json()
    await ada.api.delete(f"/api{flag_page(flag)}/rules/{rule['id']}")
    await ada.page.goto(f"{flag_page(flag)}?tab=history&rule={rule['id']}")
    await expect(rows(ada).filter(has_text="ada")).to_have_count(1)
    await expect(rows(ada).filter(has_text="grace")).to_have_count(0)
    chosen = ada.page.get_by_label("Rule").locator("option:checked")
    await expect(chosen).to_have_text(f"Deleted rule {rule['id']}")
    await ada.turn_to(f"{flag_page(flag)}?tab=history&variant=green")
    await ada.sees_heading("No evaluations match these filters")
    await expect(ada.page.get_by_label("Variant")).to_have_value("green")


async def test_a_flag_whose_rules_are_not_recorded_says_so(ada: Person, environment: Json) -> None:
    flag = await ada.api.create_flag(environment)
    await ada.api.create_rule(flag)
    await ada.page.goto(f"{flag_page(flag)}?tab=history")
    await expect(ada.page.get_by_label("Rule")).to_be_disabled()
    await expect(ada.page.get_by_label("Rule")).to_have_attribute("title", re.compile("Rules are recorded only for"))


async def test_a_flags_history_is_filtered_by_variant_and_by_the_sentence_of_a_rule(ada: Person, flag: Json) -> None:
    await ada.page.goto(f"{flag_page(flag)}?tab=history")
    await expect(rows(ada).filter(has_text="ada")).to_contain_text("plan: pro")
    await expect(rows(ada).filter(has_text="grace")).to_contain_text("plan: free")
    await ada.page.get_by_label("Variant").select_option("red")
    await expect(rows(ada).filter(has_text="grace")).to_have_count(0)
    await expect(rows(ada).filter(has_text="ada")).to_contain_text("variant red")
    await ada.page.get_by_label("Variant").select_option("Any variant")
    await expect(rows(ada).filter(has_text="grace")).to_have_count(1)
    await ada.page.get_by_label("Rule").select_option("If plan is pro")
    await expect(rows(ada).filter(has_text="grace")).to_have_count(0)
    await ada.page.reload()
    await expect(ada.page.get_by_label("Rule").locator("option:checked")).to_have_text("If plan is pro")
    await expect(rows(ada).filter(has_text="ada")).to_have_count(1)


async def an_environments_history_is_filtered_by_a_flags_variant_and_rule(ada: Person, flag: Json) -> None:
    await expect(rows(ada).filter(has_text="grace")).to_have_count(1)
    await expect(ada.page.get_by_label("Variant")).to_have_count(0)
    await ada.page.get_by_role("combobox", name="Flag").fill(flag["key"])
    await ada.page.get_by_label("Variant").select_option("red")
    await expect(rows(ada).filter(has_text="grace")).to_have_count(0)
    await ada.page.get_by_role("combobox", name="Flag").fill("")
    await expect(ada.page.get_by_label("Variant")).to_have_count(0)
    await expect(rows(ada).filter(has_text="grace")).to_have_count(1)


async def the_results_of_all_flags_load_when_a_row_is_opened(ada: Person, flag: Json) -> None:
    row = rows(ada).filter(has_text="ada")
    await expect(row).to_contain_text("1 on, 0 off")
    await expect(row.get_by_text(flag["key"])).to_have_count(0)
    async with ada.page.expect_response(re.compile(r"/evaluations/[0-9a-f-]{36}$")):
        await row.get_by_text("1 on, 0 off").click()
    await expect(row).to_contain_text(flag["key"])
    await row.get_by_role("link", name="Open this evaluation").click()
    await ada.sees_heading("Recorded evaluation")


async def test_an_environments_history_is_filtered_and_opened(ada: Person, environment: Json, flag: Json) -> None:
    await ada.page.goto(f"{environment_page(environment)}/history")
    await an_environments_history_is_filtered_by_a_flags_variant_and_rule(ada, flag)
    await the_results_of_all_flags_load_when_a_row_is_opened(ada, flag)


async def test_many_attributes_are_folded(ada: Person, environment: Json) -> None:
    names = [f"attribute-{number}" for number in range(12)]
    conditions = [{"attribute": name, "operator": "in", "values": ["x"]} for name in names]
    flag = await ada.api.create_flag(environment)
    await ada.api.create_rule(flag, rule_type="attributes", rule_value=None, conditions=conditions)
    await evaluate_and_record(ada, environment, {"user_id": "ada", "custom_attributes": dict.fromkeys(names, "value")})
    await ada.page.goto(f"{flag_page(flag)}?tab=history")
    await expect(rows(ada).get_by_text("attribute-11: value")).to_be_hidden()
    await rows(ada).get_by_text("12 attributes").click()
    await expect(rows(ada).get_by_text("attribute-11: value")).to_be_visible()


async def test_the_users_of_the_last_days_are_counted_on_the_flags_page(
    ada: Person, environment: Json, flag: Json
) -> None:
    users = ada.page.get_by_role("region", name="Users")
    await ada.page.goto(flag_page(flag))
    await expect(users).to_contain_text("Users in the last 7 days: 1 had this flag on, and 1 had it off.")
    await expect(users).to_contain_text("The numbers are exact.")
    by_day = users.get_by_role("table").first.get_by_role("row")
    await expect(by_day).to_have_count(8)
    await expect(by_day.nth(1).get_by_role("cell")).to_have_text(["1", "1"])
    await expect(users.get_by_role("table", name="By variant").get_by_role("row").nth(1)).to_have_text("red1")
    await expect(users.get_by_role("table", name="By rule").get_by_role("row").nth(1)).to_have_text("If plan is pro1")
    await expect(users).to_contain_text("by days in UTC")
    unused = await ada.api.create_flag(environment, key="unused", name="Unused")
    await ada.turn_to(flag_page(unused))
    await expect(users).to_contain_text("No user was recorded in the last 7 days.")
