"""The audit trail of a project, restoring changes, and undoing the latest action."""

import csv
import io
import re
from pathlib import Path

import pytest_asyncio
from playwright.async_api import expect

from tests.e2e.accessibility import AXE, check_in_both_schemes
from tests.e2e.people import Person, environment_page, flag_page
from tests.support.api import Json, flag_path


@pytest_asyncio.fixture(loop_scope="session")
async def flag(ada: Person) -> Json:
    """A flag of ada's that is on, in the production of a project."""
    return await ada.api.create_flag(rollout_percentage=25)


def audit_page(flag: Json) -> str:
    return f"/projects/{flag['project_id']}/audit"


async def state_of(ada: Person, flag: Json) -> Json:
    found: Json = (await ada.api.get(flag_path(flag))).json()
    return found


async def test_a_toggle_is_undone(ada: Person, flag: Json) -> None:
    await ada.page.goto(flag_page(flag))
    switch = ada.page.get_by_role("region", name="State").get_by_role("switch")
    await switch.click()
    await ada.sees("New checkout was turned off.")
    question = ada.page.get_by_role("dialog", name="Turn on new-checkout in Production?")
    await ada.press("Undo")
    await expect(question).to_contain_text("No user was seen in the last 24 hours")
    await question.get_by_role("button", name="Cancel").click()
    await expect(question).to_have_count(0)
    assert (await state_of(ada, flag))["enabled"] is False
    await ada.press("Undo")
    await ada.confirm_turning_on()
    await ada.sees("Undone.")
    await expect(switch).to_be_checked()
    assert (await state_of(ada, flag))["enabled"] is True


async def test_a_restore_says_for_how_many_users_it_turns_a_flag_on(ada: Person, flag: Json) -> None:
    await ada.api.put(flag_path(flag), json={"enabled": False})
    await ada.page.goto(audit_page(flag))
    restore = ada.page.get_by_role("button", name="Restore: ").first
    await restore.click()
    dialog = ada.page.get_by_role("dialog")
    await expect(dialog.get_by_role("note")).to_contain_text("This turns on a flag in Production")
    await expect(dialog.get_by_role("note")).to_contain_text("No user was seen in the last 24 hours")
    await dialog.get_by_role("button", name="Restore").click()
    await expect(dialog).to_have_count(0)
    assert (await state_of(ada, flag))["enabled"] is True
    await restore.click()  # this restores the restore, which turns the flag off again
    await expect(dialog.get_by_role("button", name="Restore")).to_be_enabled()
    await expect(dialog.get_by_role("note")).to_have_count(0)


async def test_a_moved_rule_and_a_deleted_rule_are_undone(ada: Person, flag: Json) -> None:
    rules = [await ada.api.create_rule(flag, rule_value=value) for value in ("first", "second")]
    order = [rule["id"] for rule in rules]
    await ada.page.goto(flag_page(flag))
    await ada.press("Move down: If the user id is first")
    await ada.sees("The order of the rules was changed.")
    await ada.press("Undo")
    await ada.sees("Undone.")
    assert [rule["id"] for rule in (await ada.api.get(f"{flag_path(flag)}/rules")).json()] == order
    await ada.press("Actions for: If the user id is first")
    await ada.page.get_by_role("menuitem", name="Delete").click()
    dialog = ada.page.get_by_role("dialog")
    await dialog.get_by_role("button", name="Delete").click()
    await ada.sees("The rule was deleted.")
    await expect(dialog).to_have_count(0)  # it names the rule, too
    await ada.press("Undo")
    await expect(ada.page.get_by_text("If the user id is first")).to_be_visible()
    assert [rule["id"] for rule in (await ada.api.get(f"{flag_path(flag)}/rules")).json()] == order


async def test_the_changes_of_an_environment_name_the_user_who_was_removed_from_a_segment(
    ada: Person, flag: Json
) -> None:
    users = [f"u-{number}" for number in range(1, 41)]
    segment = await ada.api.create_segment(
        {"id": flag["project_id"]},
        name="Beta testers",
        conditions=[{"attribute": "user_id", "operator": "in", "values": users}],
    )
    await ada.page.goto(f"{environment_page({'project_id': flag['project_id'], 'id': flag['environment_id']})}/changes")
    await expect(ada.page.get_by_role("listitem").first).to_contain_text("Beta testers")
    fewer = [{**segment["conditions"][0], "values": [user for user in users if user != "u-7"]}]
    await ada.api.put(f"/api/projects/{flag['project_id']}/segments/{segment['id']}", json={"conditions": fewer})
    newest = ada.page.get_by_role("listitem").first
    await expect(newest).to_contain_text("the user id is one of 39 values: Removed u-7")
    await expect(newest.get_by_role("button", name="Restore")).to_be_visible()
    if AXE.is_file():
        await check_in_both_schemes(ada, "changes of a segment")


async def test_the_changes_of_an_environment_since_a_time_are_chosen_and_linked(ada: Person, flag: Json) -> None:
    page = ada.page
    place = {"project_id": flag["project_id"], "id": flag["environment_id"]}
    await page.goto(f"{environment_page(place)}/changes")
    changes = page.get_by_role("main").get_by_role("listitem")
    await expect(changes.first).to_be_visible()
    everything = await changes.count()
    await page.get_by_text("Last hour", exact=True).click()
    await expect(page).to_have_url(re.compile("last=hour"))
    await expect(changes).to_have_count(everything)
    await page.get_by_text("Between…", exact=True).click()
    await page.get_by_label("From", exact=True).fill("2999-01-01T00:00")
    await ada.sees("No changes match these filters")
    await expect(page).to_have_url(re.compile("since=2999-01-01T00"))
    await page.reload()
    await ada.sees("No changes match these filters")
    await page.get_by_text("All", exact=True).click()
    await expect(changes).to_have_count(everything)


async def test_an_archived_flag_and_a_deleted_flag_are_undone(ada: Person, flag: Json) -> None:
    await ada.api.create_rule(flag)
    here = environment_page({"project_id": flag["project_id"], "id": flag["environment_id"]})
    await ada.page.goto(flag_page(flag))
    await ada.press("Actions")
    await ada.page.get_by_role("menuitem", name="Archive flag").click()
    await ada.page.get_by_role("dialog").get_by_role("button", name="Archive", exact=True).click()
    await ada.sees("New checkout was archived.")
    await ada.press("Undo")
    await ada.confirm_turning_on()
    await ada.sees("Undone.")
    await expect(ada.page.get_by_role("link", name="New checkout")).to_be_visible()
    await ada.api.post(f"{flag_path(flag)}/archive")
    await ada.page.goto(f"{here}/archived")
    await ada.press("Delete New checkout")
    await ada.page.get_by_role("dialog").get_by_role("textbox").fill("New checkout")
    await ada.page.get_by_role("dialog").get_by_role("button", name="Delete", exact=True).click()
    await ada.sees("New checkout was deleted.")
    await ada.press("Undo")
    await ada.sees("Undone.")
    await expect(ada.page.get_by_role("link", name="New checkout")).to_be_visible()
    assert (await state_of(ada, flag))["archived_at"] is not None
    assert len((await ada.api.get(f"{flag_path(flag)}/rules")).json()) == 1


async def test_unarchiving_a_flag_that_is_on_asks(ada: Person, flag: Json) -> None:
    here = environment_page({"project_id": flag["project_id"], "id": flag["environment_id"]})
    await ada.api.post(f"{flag_path(flag)}/archive")
    await ada.page.goto(f"{here}/archived")
    await ada.press("Unarchive New checkout")
    question = ada.page.get_by_role("dialog", name="Turn on New checkout in Production?")
    await expect(question).to_contain_text("its result is new for every user")
    assert (await state_of(ada, flag))["archived_at"] is not None
    await ada.confirm_turning_on()
    await ada.sees("New checkout was unarchived.")
    assert (await state_of(ada, flag))["archived_at"] is None


async def test_what_was_changed_again_is_not_undone_and_the_reason_is_shown(ada: Person, flag: Json) -> None:
    await ada.page.goto(flag_page(flag))
    await ada.page.get_by_role("region", name="State").get_by_role("switch").click()
    await ada.sees("New checkout was turned off.")
    await ada.api.put(flag_path(flag), json={"enabled": True})
    await ada.press("Undo")
    await ada.sees("This could not be undone")
    await ada.sees("This cannot be restored. It has been changed again since: enabled.")


async def test_a_change_is_restored_after_its_effect_is_shown(ada: Person, flag: Json) -> None:
    await ada.api.put(flag_path(flag), json={"rollout_percentage": 50, "name": "Newer checkout"})
    await ada.api.put(flag_path(flag), json={"description": "Two steps."})
    await ada.page.goto(f"{flag_page(flag)}?tab=changes")
    restore = ada.page.get_by_role("button", name="Restore: ")
    await expect(restore).to_have_count(2)  # the creation has “Undo…” instead
    await restore.nth(1).click()
    dialog = ada.page.get_by_role("dialog", name="Restore Newer checkout in Production?")
    await expect(dialog).to_contain_text("Before 50% → After 25%")
    await expect(dialog).to_contain_text("Before Newer checkout → After New checkout")
    await check_in_both_schemes(ada, "a restore")
    await dialog.get_by_role("button", name="Restore", exact=True).click()
    await ada.sees("Newer checkout in Production was restored.")
    found = await state_of(ada, flag)
    assert (found["rollout_percentage"], found["name"], found["description"]) == (25, "New checkout", "Two steps.")
    await expect(ada.page.get_by_role("listitem").first).to_contain_text("(restores an earlier change)")
    await restore.nth(2).click()
    await expect(dialog.get_by_role("alert")).to_contain_text("It is already as it was before the change.")


async def test_several_changes_are_restored_together_and_those_that_cannot_be_are_told(ada: Person, flag: Json) -> None:
    page, dialog = ada.page, ada.page.get_by_role("dialog")
    place = {"project_id": flag["project_id"], "id": flag["environment_id"]}
    await ada.api.put(flag_path(flag), json={"name": "Newer checkout"})
    await ada.api.post(f"{flag_path(flag)}/toggle")
    rule = await ada.api.create_rule(flag)
    await ada.api.delete(f"{flag_path(flag)}/rules/{rule['id']}")
    await ada.api.create_rule(flag, rule_value="eve")
    await ada.api.put(flag_path(flag), json={"name": "Newest checkout"})
    await ada.api.put(flag_path(flag), json={"name": "Newer checkout"})
    await page.goto(f"{environment_page(place)}/changes")
    await ada.press("Choose several")
    boxes = page.get_by_role("checkbox")
    await expect(boxes).to_have_count(8)
    for number in (0, 3, 5):
        await boxes.nth(number).check()
    await ada.press("Restore 3…")
    await expect(dialog).to_contain_text("The rule is created again.")
    await check_in_both_schemes(ada, "the restore of several changes")
    await dialog.get_by_role("button", name="Restore 3").click()
    await ada.sees("3 changes were restored.")
    now = (await ada.api.get(flag_path(flag))).json()
    assert (now["name"], now["enabled"]) == ("Newest checkout", True)
    assert len((await ada.api.get(f"{flag_path(flag)}/rules")).json()) == 2

    await ada.press("Choose several")
    await page.get_by_role("checkbox", name="deleted a rule of").check()
    await ada.press("Restore 1…")
    await expect(dialog).to_contain_text("The rule exists again.")
    await expect(dialog.get_by_role("button", name="Restore 0")).to_be_disabled()


async def test_the_audit_is_filtered_linked_and_exported(ada: Person, flag: Json, tmp_path: Path) -> None:
    page = ada.page
    await ada.api.put(f"/api/projects/{flag['project_id']}", json={"name": "Market"})
    await ada.api.post(f"/api/projects/{flag['project_id']}/regenerate-key")
    await ada.api.post(f"{flag_path(flag)}/toggle")
    await page.goto(environment_page({"project_id": flag["project_id"], "id": flag["environment_id"]}) + "/changes")
    await page.get_by_role("link", name="Whole project").click()
    rows = page.get_by_role("main").get_by_role("listitem")
    await expect(rows.nth(0)).to_contain_text("turned off New checkout")
    await expect(rows.nth(1)).to_contain_text("regenerated the project")
    await expect(rows.nth(2)).to_contain_text("Before Shop → After Market")
    await expect(rows.nth(0)).to_contain_text("UTC")
    await ada.press("Filters")
    await check_in_both_schemes(ada, "the changes of a project")
    await page.get_by_label("What").select_option("flag.toggled")
    await expect(rows).to_have_count(1)
    await page.get_by_role("link", name="Production", exact=True).click()  # with the same filters
    await expect(page).to_have_url(re.compile("/changes.*action=flag.toggled"))
    await expect(rows).to_have_count(1)
    await page.get_by_role("link", name="Whole project").click()
    async with page.expect_download() as saving:
        await ada.press("Export as CSV")
    assert (await saving.value).suggested_filename == "changes.csv"
    await (await saving.value).save_as(tmp_path / "changes.csv")
    table = csv.DictReader(io.StringIO((tmp_path / "changes.csv").read_text()))
    assert [(row["action"], row["environment"]) for row in table] == [("flag.toggled", "production")]
    await page.get_by_label("Flag key").fill("unknown")
    await ada.sees("No changes match these filters")
    await ada.press("Clear filters")
    await expect(rows.nth(1)).to_be_visible()
    await rows.nth(0).get_by_role("link").first.click()
    await ada.sees_heading("New checkout")


async def test_what_a_bulk_action_changed_is_one_entry_that_is_restored_whole(ada: Person, flag: Json) -> None:
    page, dialog = ada.page, ada.page.get_by_role("dialog")
    place = {"project_id": flag["project_id"], "id": flag["environment_id"]}
    other = await ada.api.create_flag(place, key="other", name="Other")
    bulk = {"flags": [flag["id"], other["id"]], "action": "disable"}
    await ada.api.post(f"/api/projects/{place['project_id']}/environments/{place['id']}/bulk-actions", json=bulk)
    await page.goto(f"{environment_page(place)}/changes")
    entry = page.get_by_role("main").get_by_role("listitem").first
    await expect(entry).to_contain_text("turned off 2 flags in Production")
    await entry.get_by_role("button", name="Show 2 changes").click()
    await expect(entry).to_contain_text("turned off New checkout")
    await expect(entry).to_contain_text("turned off Other")
    await check_in_both_schemes(ada, "a bulk action among changes")
    await entry.get_by_role("button", name=re.compile("^Restore all: .* 2 flags$")).click()
    await dialog.get_by_role("button", name="Restore 2").click()
    await ada.sees("2 changes were restored.")
    await expect(entry).to_contain_text("restored 2 flags in Production")
    assert (await state_of(ada, flag))["enabled"] is True


async def test_the_audit_fits_on_a_phone(ada: Person, flag: Json) -> None:
    await ada.api.put(flag_path(flag), json={"name": "x" * 200, "tags": ["a"]})
    await ada.page.set_viewport_size({"width": 390, "height": 844})
    await ada.page.goto(audit_page(flag))
    await expect(ada.page.get_by_role("main").get_by_role("listitem").first).to_be_visible()
    assert await ada.page.evaluate("document.documentElement.scrollWidth") == 390
