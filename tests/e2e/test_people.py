"""A user of the applications: their results now, what changed, and the link to a recorded result."""

import re

import pytest_asyncio
from playwright.async_api import expect

from tests.e2e.accessibility import check_in_both_schemes, stays_within
from tests.e2e.people import Person, environment_page, evaluate_and_record
from tests.support.api import Json, flag_path

GOLD = {"attribute": "plan", "operator": "in", "values": ["gold"]}
ADA = {"user_id": "user-42", "user_email": "ada@acme.com", "custom_attributes": {"plan": "gold"}}


@pytest_asyncio.fixture(loop_scope="session")
async def flag(ada: Person) -> Json:
    """A flag for gold users in production. One of them evaluated it before and after it was turned off."""
    project = await ada.api.create_project()
    environment = await ada.api.get_environment(project)
    flag = await ada.api.create_flag(environment, fallthrough="off")
    await ada.api.create_rule(flag, rule_type="attributes", rule_value=None, conditions=[GOLD], name="Gold members")
    await ada.api.create_flag(environment, key="other", name="Other")
    await ada.api.create_flag(await ada.api.get_environment(project, "staging"), enabled=False)
    await evaluate_and_record(ada, environment, ADA)
    await ada.api.post(f"{flag_path(flag)}/toggle")
    await evaluate_and_record(ada, environment, ADA, {"user_id": "user-7"})
    await ada.api.post(f"{flag_path(flag)}/toggle")
    return flag


def user_page(flag: Json, query: str) -> str:
    return f"/projects/{flag['project_id']}/user?{query}"


async def test_a_recorded_answer_is_three_clicks_away_and_can_be_shared(ada: Person, flag: Json) -> None:
    page = ada.page
    await page.goto(environment_page({"project_id": flag["project_id"], "id": flag["environment_id"]}))
    await ada.sees_heading("Flags")
    await page.keyboard.press("Control+k")
    await page.get_by_placeholder("Go to a flag").fill("user-42")
    await page.get_by_role("button", name="Look up the user user-42").click()
    await ada.sees_heading("User user-42")
    await ada.press("Today")
    await page.get_by_role("region", name="Evaluations").get_by_role("link").last.click()
    await ada.sees_heading("Recorded evaluation")
    await expect(page.get_by_role("row", name="new-checkout")).to_contain_text("Matched attributes targeting rule")
    await page.get_by_label("Search flags by key").fill("new-checkout")
    await ada.sees("new-checkout was on for user-42.")
    await expect(page).to_have_url(re.compile("flag=new-checkout"))
    await page.goto(page.url)
    await ada.sees("new-checkout was on for user-42.")
    await expect(page.get_by_role("main")).to_contain_text("plan: gold")
    await page.get_by_role("link", name="Changes to this flag before").click()
    await ada.sees_heading("Changes")
    await page.go_back()
    await page.get_by_role("link", name="More about this user").click()
    await ada.sees_heading("User user-42")


async def a_users_page_shows_each_flag_now_and_why_in_every_environment(ada: Person, _flag: Json) -> None:
    page = ada.page
    now = page.get_by_role("region", name="Now")
    row = now.get_by_role("row", name="new-checkout")
    await expect(row.get_by_role("cell")).to_have_text(
        ["OnMatched attributes targeting rule: Gold members", "OffFlag is globally disabled"]
    )
    await expect(now.get_by_role("row", name="other").get_by_role("cell").last).to_have_text("No such flag")
    await expect(now.get_by_label("Attributes")).to_contain_text("plan: gold")
    await expect(now.get_by_label("Attributes")).to_contain_text("no evaluation here; attributes from Production")
    await now.get_by_label("Search flags by key").fill("other")
    await expect(row).to_have_count(0)
    await page.get_by_role("link", name="other in Production: On").click()
    await ada.sees_heading("Other")


async def who_caused_a_change_stands_beside_it_and_can_be_put_back(ada: Person, flag: Json) -> None:
    page = ada.page
    await ada.turn_to(user_page(flag, "id=user-42"))
    changed = page.get_by_role("region", name="What changed for this user").get_by_role("listitem").first
    await expect(changed).to_contain_text(re.compile(r"Cause.*turned off New checkout in Production"))
    await changed.get_by_role("link", name=re.compile("UTC")).first.click()
    await ada.sees_heading("Recorded evaluation")
    since = page.get_by_role("region", name="Changed since the previous evaluation")
    await expect(since).to_contain_text("new-checkout from On to Off")
    await expect(since).to_contain_text("turned off New checkout")
    await since.get_by_role("button", name=re.compile("Restore: .* turned off New checkout")).click()
    await ada.sees("Restore New checkout in Production?")
    await page.keyboard.press("Escape")


async def both_pages_are_accessible_and_fit_on_the_narrowest_phone(ada: Person, flag: Json) -> None:
    page = ada.page
    await ada.turn_to(user_page(flag, "id=user-42"))
    await ada.sees("turned off")
    await check_in_both_schemes(ada, "a user's page")
    link = page.get_by_role("region", name="Evaluations").get_by_role("link").last
    recorded = await link.get_attribute("href")
    await ada.turn_to(f"{recorded}?flag=new-checkout")
    await ada.sees("new-checkout was on")
    await check_in_both_schemes(ada, "a recorded answer")
    await page.set_viewport_size({"width": 320, "height": 640})
    for path in (user_page(flag, "id=user-42"), f"{recorded}?flag=new-checkout"):
        await ada.turn_to(path)
        await stays_within(ada)


async def test_a_users_page_says_what_the_user_gets_and_who_changed_it(ada: Person, flag: Json) -> None:
    await ada.page.goto(user_page(flag, "id=user-42"))
    for step in (
        a_users_page_shows_each_flag_now_and_why_in_every_environment,
        who_caused_a_change_stands_beside_it_and_can_be_put_back,
        both_pages_are_accessible_and_fit_on_the_narrowest_phone,
    ):
        await step(ada, flag)


async def test_what_changed_for_a_user_leads_to_both_answers(ada: Person, flag: Json) -> None:
    page = ada.page
    await page.goto(user_page(flag, "email=ADA@acme.com"))
    changes = page.get_by_role("region", name="What changed for this user")
    await expect(changes.get_by_text("new-checkout from On to Off")).to_have_count(1)
    changed = changes.get_by_role("listitem").first
    await expect(changed).to_contain_text("Flag is globally disabled")
    await changes.get_by_role("link").first.click()
    await ada.sees("new-checkout was off for user-42.")
    await page.go_back()
    await page.get_by_label("Environment", exact=True).select_option("staging")
    await ada.sees("Nothing changed")
    await page.get_by_label("Another day").fill("2020-02-29")
    await ada.sees("No evaluations")
    await expect(page).to_have_url(re.compile("day=2020-02-29"))


async def test_a_segment_that_lost_a_user_and_what_was_different_about_the_user_are_named(ada: Person) -> None:
    project = await ada.api.create_project()
    environment = await ada.api.get_environment(project)
    testers = {"attribute": "user_id", "operator": "in", "values": ["user-42", "user-7"]}
    segment = await ada.api.create_segment(project, conditions=[testers])
    flag = await ada.api.create_flag(environment, fallthrough="off")
    await ada.api.create_rule(flag, rule_type="segment", rule_value="beta")
    gold = await ada.api.create_flag(environment, key="gold", fallthrough="off")
    await ada.api.create_rule(gold, rule_type="attributes", rule_value=None, conditions=[GOLD])
    await evaluate_and_record(ada, environment, ADA)
    conditions = [{**testers, "values": ["user-7"]}]
    path = f"/api/projects/{project['id']}/segments/{segment['id']}"
    assert (await ada.api.put(path, json={"conditions": conditions})).status_code == 200
    await evaluate_and_record(ada, environment, {**ADA, "custom_attributes": {"plan": "silver"}})
    await ada.page.goto(user_page(flag, "id=user-42"))
    changes = ada.page.get_by_role("region", name="What changed for this user").get_by_role("listitem")
    of_segment = changes.filter(has_text="new-checkout")
    await expect(of_segment.first).to_contain_text("removed user-42 from the segment Beta testers")
    await expect(changes.filter(has_text="gold").first).to_contain_text(re.compile("plan changed from gold to silver"))
    await check_in_both_schemes(ada, "the causes of a user's changes")


async def test_unknown_users_and_evaluations_say_so(ada: Person, flag: Json) -> None:
    page = ada.page
    await page.goto(user_page(flag, ""))
    await ada.sees("Enter a user id or email")
    await page.get_by_label("User id or email").fill("nobody@acme.com")
    await ada.press("Look up")
    await ada.sees("no recorded evaluation")
    here = environment_page({"project_id": flag["project_id"], "id": flag["environment_id"]})
    await ada.turn_to(f"{here}/evaluations/{flag['id']}")
    await ada.sees("This evaluation is not in the history")
