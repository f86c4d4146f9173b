"""A flag's page: its rules in order, the read-only rollout, the live history, and deleting the flag."""

from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import expect

from tests.e2e.people import Person, environment_page, evaluate_and_record, flag_page
from tests.support.api import Json

HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture
def options() -> dict[str, Any]:
    """The options of a browser that shows motion, such as dialogs that fade in."""
    return {"reduced_motion": "no-preference"}


@pytest_asyncio.fixture(loop_scope="session")
async def flag(ada: Person) -> Json:
    """A flag that is on for 25% of users."""
    return await ada.api.create_flag(rollout_percentage=25)


async def test_rules_move_by_priority_are_switched_off_edited_and_deleted(ada: Person, flag: Json) -> None:
    for value in ("first", "second", "third"):
        await ada.api.create_rule(flag, rule_value=value)
    page = ada.page
    await page.goto(flag_page(flag))
    rules = page.get_by_role("region", name="Targeting").get_by_role("listitem")
    await page.get_by_role("button", name="Move up: If the user id is third").click()
    await expect(rules.nth(1)).to_contain_text("third")
    await expect(page.get_by_role("status").filter(has_text="Moved to position 2.")).to_have_count(1)
    values = [rule["rule_value"] for rule in (await ada.api.get(f"/api{flag_page(flag)}/rules")).json()]
    assert values == ["first", "third", "second"]

    await page.get_by_role("switch", name="Rule: If the user id is first").click()
    await expect(rules.first).to_contain_text("Rule off:")
    await page.get_by_role("button", name="Actions for: If the user id is first").click()
    await page.get_by_role("menuitem", name="Edit").click()
    await page.get_by_role("dialog").get_by_label("Value").fill("Ada")
    await page.get_by_role("dialog").get_by_role("button", name="Save").click()
    await expect(rules.first).to_contain_text("Ada")
    await page.get_by_role("button", name="Actions for: If the user id is Ada").click()
    await page.get_by_role("menuitem", name="Delete").click()
    await page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    await expect(rules).to_have_count(2)


async def test_the_rollout_is_shown_with_the_call_that_sets_it_and_cannot_be_set(ada: Person, flag: Json) -> None:
    page = ada.page
    await ada.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await page.goto(flag_page(flag))
    await ada.sees("The flag is on for 25% of users")
    await ada.press("Set the rollout")
    await page.get_by_label("Percentage to set").fill("60")
    await ada.sees('{"rollout_percentage": 60}')
    copied = await ada.copy(page.get_by_role("button", name="Copy with my token", exact=True))
    assert f"Bearer {ada.token}" in copied
    await ada.press("Actions")
    await page.get_by_role("menuitem", name="Edit").click()
    await page.get_by_role("dialog").get_by_label("Name").fill("Newer checkout")
    await page.get_by_role("dialog").get_by_role("button", name="Save").click()
    await ada.sees_heading("Newer checkout")
    assert (await ada.api.get(f"/api{flag_page(flag)}")).json()["rollout_percentage"] == 25


async def test_usual_percentages_fill_the_call_and_say_for_how_many_users_the_result_would_change(
    ada: Person, flag: Json
) -> None:
    page = ada.page
    environment = await ada.api.get_environment({"id": flag["project_id"]})
    await evaluate_and_record(ada, environment, *({"user_id": f"user-{number}"} for number in range(8)))
    before = (await ada.api.get(f"/api{flag_page(flag)}")).json()
    await page.goto(flag_page(flag))
    await ada.press("Set the rollout")
    await page.get_by_role("group", name="Usual percentages").get_by_role("button", name="100%").click()
    await expect(page.get_by_label("Percentage to set")).to_have_value("100")
    await ada.sees('{"rollout_percentage": 100}')
    await expect(page.get_by_role("status").filter(has_text="of 8 users")).to_contain_text("turned on")
    assert (await ada.api.get(f"/api{flag_page(flag)}")).json() == before


async def test_histories_filter_and_follow_live(ada: Person, flag: Json) -> None:
    project = (await ada.api.get(f"/api/projects/{flag['project_id']}")).json()
    environment = {"project_id": flag["project_id"], "id": flag["environment_id"]}
    page = ada.page
    await page.goto(f"{environment_page(environment)}/history")
    await ada.sees_heading("No evaluations yet")
    await ada.press("Follow live")
    await ada.api.evaluate(project["sdk_key"], context={"user_id": "user-1"})
    await expect(page.get_by_role("cell", name="user-1", exact=True)).to_be_visible()
    await ada.api.evaluate(project["sdk_key"], context={"user_id": "user-2"})
    await expect(page.get_by_role("cell", name="user-2", exact=True)).to_be_visible()
    await page.get_by_label("User id").fill("user-1")
    await expect(page.get_by_role("cell", name="user-2", exact=True)).to_have_count(0)
    await page.reload()
    await expect(page.get_by_label("User id")).to_have_value("user-1")
    await expect(page.get_by_role("cell", name="user-1", exact=True)).to_be_visible()
    await page.goto(f"{flag_page(flag)}?tab=history&user=user-2")
    await expect(page.get_by_role("cell", name="user-2", exact=True)).to_be_visible()
    await expect(page.get_by_role("figure")).to_contain_text("2 results")


async def test_text_that_users_write_never_becomes_markup(ada: Person) -> None:
    project = await ada.api.create_project(name=HOSTILE, description=HOSTILE)
    environment = await ada.api.get_environment(project)
    flag = await ada.api.create_flag(environment, name=HOSTILE, description=HOSTILE)
    await ada.api.create_rule(flag, rule_value=HOSTILE)
    await ada.api.evaluate(project["sdk_key"], context={"user_id": HOSTILE})
    here = environment_page(environment)
    tabs = [f"{flag_page(flag)}?tab={tab}" for tab in ("overview", "history", "changes")]
    settings = f"/projects/{project['id']}/settings"
    for path in ("/", here, f"{here}/history", f"{here}/changes", settings, *tabs):
        await ada.page.goto(path)
        await ada.sees(HOSTILE)
        assert await ada.page.locator("img").count() == 0
    await ada.page.keyboard.press("ControlOrMeta+k")
    await expect(ada.page.get_by_placeholder("Go to a flag")).to_be_focused()
    await ada.page.keyboard.type("onerror")
    await expect(ada.page.get_by_role("dialog")).to_contain_text(HOSTILE)
    assert await ada.page.locator("img").count() == 0


async def test_a_change_shows_the_values_before_and_after(ada: Person, flag: Json) -> None:
    await ada.api.put(f"/api{flag_page(flag)}", json={"rollout_percentage": 40, "name": "Newer checkout"})
    await ada.page.goto(f"{flag_page(flag)}?tab=changes")
    change = ada.page.get_by_role("tabpanel").get_by_role("listitem").first
    await expect(change).to_contain_text(f"{ada.email} changed Newer checkout")
    await expect(change).to_contain_text("Before New checkout → After Newer checkout")
    await expect(change).to_contain_text("Before 25% → After 40%")


async def archive(ada: Person, flag: Json) -> None:
    await ada.page.goto(flag_page(flag))
    await ada.press("Actions")
    await ada.page.get_by_role("menuitem", name="Archive flag").click()
    await ada.page.get_by_role("dialog").get_by_role("button", name="Archive", exact=True).click()
    await ada.sees("New checkout was archived.")


async def test_a_flag_that_others_need_is_not_archived(ada: Person, flag: Json) -> None:
    environment = {"project_id": flag["project_id"], "id": flag["environment_id"]}
    base = await ada.api.create_flag(environment, key="base", name="Base")
    await ada.api.create_flag(environment, key="needing", prerequisites=[{"flag_key": "base"}])
    await ada.page.goto(flag_page(base))
    await ada.press("Actions")
    await ada.page.get_by_role("menuitem", name="Archive flag").click()
    dialog = ada.page.get_by_role("dialog")
    await expect(dialog).to_contain_text("It was not evaluated in the last 24 hours.")
    await dialog.get_by_role("button", name="Archive", exact=True).click()
    await expect(dialog.get_by_role("alert")).to_contain_text("The flag base is a prerequisite of needing.")


async def test_an_archived_flag_leaves_the_list_and_comes_back_as_it_was(ada: Person, flag: Json) -> None:
    page = ada.page
    here = environment_page({"project_id": flag["project_id"], "id": flag["environment_id"]})
    await archive(ada, flag)
    await ada.sees_heading("No flags in Production yet")
    await page.get_by_role("link", name="Archived flags").click()
    await ada.sees_heading("Archived flags")
    await page.get_by_role("link", name="New checkout").click()
    state = page.get_by_role("region", name="State")
    await expect(state).to_contain_text("Responses to applications do not contain it.")
    await expect(page.get_by_role("button", name="Add rule")).to_have_attribute(
        "aria-description", "This flag is archived. Unarchive it to change it."
    )
    await expect(page.get_by_role("tab")).to_have_text(["Overview", "Releases", "History", "Changes", "Comments"])
    await ada.press("Unarchive New checkout")
    await ada.confirm_turning_on()
    await expect(state.get_by_role("switch")).to_be_checked()
    await page.goto(f"{here}/archived")
    await ada.sees_heading("No archived flags")
    flags = (await ada.api.get(f"/api{here}/flags")).json()
    assert [(each["id"], each["enabled"], each["archived_at"]) for each in flags] == [(flag["id"], True, None)]


async def test_an_archived_flag_is_deleted_after_typing_its_name_and_its_history_is_kept(
    ada: Person, flag: Json
) -> None:
    page = ada.page
    here = environment_page({"project_id": flag["project_id"], "id": flag["environment_id"]})
    await archive(ada, flag)
    await page.goto(f"{here}/archived")
    await ada.press("Delete New checkout")
    await page.get_by_role("dialog").get_by_role("textbox").fill("New checkout")
    await page.get_by_role("dialog").get_by_role("button", name="Delete", exact=True).click()
    await ada.sees_heading("No archived flags")
    await expect(page.get_by_role("link", name="All flags")).to_be_focused()
    await page.get_by_role("link", name="Changes", exact=True).click()
    await expect(page.get_by_role("listitem").first).to_contain_text("deleted New checkout")
