"""Segments: creating, editing and deleting them, and where they are used."""

import pytest_asyncio
from playwright.async_api import Locator, expect

from tests.e2e.people import Person
from tests.support.api import Json

VERSION = {"attribute": "app_version", "operator": "semver_gte", "values": ["2.4.0"]}


@pytest_asyncio.fixture(loop_scope="session")
async def project(ada: Person) -> Json:
    """A project with a segment that a rule in production refers to."""
    project = await ada.api.create_project()
    await ada.api.create_segment(project, conditions=[VERSION])
    flag = await ada.api.create_flag(await ada.api.get_environment(project))
    await ada.api.create_rule(flag, rule_type="segment", rule_value="beta")
    return project


def segments_page(project: Json) -> str:
    """Return the path of a project's segments."""
    return f"/projects/{project['id']}/segments"


def segment(ada: Person, name: str) -> Locator:
    """Return a segment's row in the list."""
    heading = ada.page.get_by_role("heading", name=name, exact=True)
    return ada.page.get_by_role("main").get_by_role("listitem").filter(has=heading)


async def choose(ada: Person, name: str, action: str) -> Locator:
    """Choose an action from a segment's menu; return its dialog."""
    await ada.press(f"Actions for {name}")
    await ada.page.get_by_role("menuitem", name=action).click()
    return ada.page.get_by_role("dialog")


async def a_used_segment_cannot_be_deleted_and_its_flags_are_named(ada: Person) -> None:
    dialog = await choose(ada, "Beta testers", "Delete")
    await dialog.get_by_role("textbox").fill("Beta testers")
    await dialog.get_by_role("button", name="Delete", exact=True).click()
    await expect(dialog.get_by_role("alert")).to_contain_text(
        "The segment beta is used by rules of these flags: new-checkout in production."
    )
    await ada.page.keyboard.press("Escape")
    await expect(segment(ada, "Beta testers")).to_be_visible()


async def a_version_that_is_not_one_is_refused_at_its_condition(ada: Person) -> None:
    dialog = await choose(ada, "Beta testers", "Edit")
    await dialog.get_by_label("Value", exact=True).fill("v2")
    await dialog.get_by_role("button", name="Save").click()
    await expect(dialog).to_contain_text("Value 1 must be a semantic version")
    await expect(dialog.get_by_label("Value", exact=True)).to_be_focused()
    await ada.page.keyboard.press("Escape")
    await expect(segment(ada, "Beta testers")).to_contain_text("app_version is at least version 2.4.0")


async def a_key_that_is_already_used_is_refused_at_its_field(ada: Person) -> None:
    await ada.press("New segment")
    dialog = ada.page.get_by_role("dialog")
    await dialog.get_by_label("Name").fill("Beta")
    await dialog.get_by_label("Attribute").fill("plan")
    await dialog.get_by_label("Values").fill("pro")
    await dialog.get_by_role("button", name="Create segment").click()
    await expect(dialog.get_by_label("Key")).to_have_attribute("aria-invalid", "true")


async def test_what_is_wrong_with_a_segment_is_said_where_it_was_entered(ada: Person, project: Json) -> None:
    await ada.page.goto(segments_page(project))
    await a_used_segment_cannot_be_deleted_and_its_flags_are_named(ada)
    await a_version_that_is_not_one_is_refused_at_its_condition(ada)
    await a_key_that_is_already_used_is_refused_at_its_field(ada)


async def test_a_segment_is_created_used_by_a_rule_edited_and_deleted(ada: Person) -> None:
    project = await ada.api.create_project()
    flag = await ada.api.create_flag(await ada.api.get_environment(project))
    await ada.page.goto(f"/projects/{project['id']}/settings")
    await ada.page.get_by_role("navigation", name="Sections").get_by_role("link", name="Segments").click()
    await ada.sees_heading("No segments yet")
    await ada.press("New segment")
    dialog = ada.page.get_by_role("dialog")
    await dialog.get_by_label("Name").fill("Staff")
    await expect(dialog.get_by_label("Key")).to_have_value("staff")
    await dialog.get_by_label("Attribute").fill("email_domain")
    await dialog.get_by_label("Values").fill("acme.com\nacme.pt")
    await dialog.get_by_role("button", name="Create segment").click()
    await expect(segment(ada, "Staff")).to_contain_text(
        "Contains users if the email's domain is one of acme.com, acme.pt"
    )
    await segment(ada, "Staff").get_by_text("Where it is used").click()
    await expect(segment(ada, "Staff")).to_contain_text("No rule refers to it.")

    await ada.page.get_by_role("link", name="Flags", exact=True).click()
    await ada.page.get_by_role("link", name="New checkout").click()
    await ada.press("Add rule")
    await dialog.get_by_label("Match by").select_option("segment")
    await dialog.get_by_label("Segment").select_option("staff")
    await dialog.get_by_role("button", name="Add rule").click()
    await ada.sees("If the user is in the segment")
    answer = await ada.api.evaluate(project["sdk_key"], context={"user_email": "ada@acme.pt"})
    assert answer.json()["flags"][flag["key"]]["reason"] == "Matched segment targeting rule"

    await ada.page.goto(segments_page(project))
    dialog = await choose(ada, "Staff", "Edit")
    await dialog.get_by_label("Name").fill("Employees")
    await dialog.get_by_role("button", name="Remove condition 1").click()
    await dialog.get_by_role("button", name="Save").click()
    await expect(segment(ada, "Employees")).to_contain_text("Contains every user")
    await segment(ada, "Employees").get_by_text("Where it is used").click()
    await segment(ada, "Employees").get_by_role("link", name="new-checkout in Production").click()
    await expect(ada.page.get_by_role("link", name="New checkout")).to_be_visible()

    (rule,) = (await ada.api.get(f"/api/projects/{project['id']}/environments/{flag['environment_id']}/rules")).json()
    await ada.api.delete(
        f"/api/projects/{project['id']}/environments/{flag['environment_id']}/flags/{flag['id']}/rules/{rule['id']}"
    )
    await ada.page.goto(segments_page(project))
    dialog = await choose(ada, "Employees", "Delete")
    await dialog.get_by_role("textbox").fill("Employees")
    await dialog.get_by_role("button", name="Delete", exact=True).click()
    await ada.sees("Employees was deleted.")
    await ada.sees_heading("No segments yet")


async def test_changes_to_segments_are_listed_also_of_deleted_ones(ada: Person, project: Json) -> None:
    made = await ada.api.create_segment(project, key="staff", name="Staff")
    of_segment = f"/api{segments_page(project)}/{made['id']}"
    await ada.api.put(of_segment, json={"conditions": [VERSION]})
    await ada.api.delete(of_segment)
    await ada.page.goto(segments_page(project))
    await ada.press("Changes to segments")
    changes = ada.page.get_by_role("main").get_by_role("listitem").filter(has_text=ada.email)
    await expect(changes).to_have_count(4)
    await expect(changes.nth(0)).to_contain_text("deleted the segment Staff")
    await expect(changes.nth(1)).to_contain_text("ConditionsAfter app_version is at least version 2.4.0")
    await expect(changes.nth(3)).to_contain_text("created the segment Beta testers")


async def test_the_palette_leads_to_the_segments(ada: Person, project: Json) -> None:
    await ada.page.goto(f"/projects/{project['id']}/settings")
    await ada.sees_heading("Project settings")
    await ada.page.keyboard.press("ControlOrMeta+k")
    await expect(ada.page.get_by_placeholder("Go to a flag")).to_be_focused()
    await ada.page.keyboard.type("segm")
    await ada.page.keyboard.press("Enter")
    await ada.sees_heading("Segments")
