"""Accessibility: axe finds no violation on any page, in either colour scheme."""

from contextlib import AsyncExitStack

import pytest_asyncio
from playwright.async_api import expect

from tests.e2e.accessibility import AXE, UNBROKEN, VARIANTS, check_in_both_schemes, open_and_check, stays_within
from tests.e2e.contexts import Contexts
from tests.e2e.people import Person, environment_page, evaluate_and_record, flag_page
from tests.support.debian import leave_out
from tests.support.server import ServerProcess

CONDITIONS = [
    {"attribute": "plan", "operator": "in", "values": ["pro", "team"], "case_insensitive": True},
    {"attribute": "user_id", "operator": "not_in", "values": [f"user-{number}" for number in range(214)]},
]


@pytest_asyncio.fixture(loop_scope="session")
async def person(contexts: Contexts, server: ServerProcess, people: AsyncExitStack) -> Person:
    """A person without an account."""
    if not AXE.is_file():
        leave_out("axe is not installed: make lint installs it.")
    return await people.enter_async_context(Person(contexts, server.url))


async def test_axe_finds_nothing_before_sign_in(person: Person) -> None:
    await person.page.goto("/sign-in")
    for path in ("/sign-in", "/register", "/forgot-password", "/reset-password"):
        await person.turn_to(path)
        await check_in_both_schemes(person, path)
    await person.page.goto("/reset-password?token=x")
    await expect(person.page.get_by_role("heading", level=1)).to_be_visible()
    await check_in_both_schemes(person, "a new password")


async def test_axe_finds_nothing_on_empty_pages(person: Person) -> None:
    await person.sign_up()
    await person.page.goto("/")
    await person.sees_heading("Create your first project")
    await check_in_both_schemes(person, "/")
    environment = await person.api.get_environment(await person.api.create_project())
    page = environment_page(environment)
    await person.page.goto(page)
    await person.sees_heading("No flags in Production yet")
    await check_in_both_schemes(person, page)
    await open_and_check(person, f"{page}/history", "No evaluations yet")
    await open_and_check(person, f"{page}/changes", "Changes")
    await open_and_check(person, f"/projects/{environment['project_id']}/segments", "Segments")
    await open_and_check(person, f"/projects/{environment['project_id']}/flags", "Flags in all environments")
    await open_and_check(person, f"{page}/flags/by-key/never", "never does not exist in Production")
    await open_and_check(person, "/account", "Your account")
    await person.page.goto("/nowhere")
    await person.sees_heading("Page not found")
    await check_in_both_schemes(person, "/nowhere")


async def test_axe_finds_nothing_on_pages_with_content(person: Person) -> None:
    await person.sign_up()
    project = await person.api.create_project(description="acme.com and its checkout")
    environment = await person.api.get_environment(project)
    await person.api.create_flag(environment, key="off", name="Maintenance banner", enabled=False)
    flag = await person.api.create_flag(environment, rollout_percentage=25, description="One page")
    for value in ("ada", "grace"):
        await person.api.create_rule(flag, rule_value=value, enabled=value == "ada")
    for user in ("ada", "linus"):
        await person.api.evaluate(project["sdk_key"], context={"user_id": user})
    page = person.page
    await page.goto("/")
    await open_and_check(person, "/", "Projects")
    await open_and_check(person, environment_page(environment), "Flags")
    await open_and_check(person, f"{environment_page(environment)}/changes", "Changes")
    await open_and_check(person, f"/projects/{project['id']}/flags", "Flags in all environments")
    for number in range(4):  # the table becomes wider than the page
        await person.api.create_environment(project, name=f"Canary {number}", key=f"canary-{number}")
    await page.reload()
    await open_and_check(person, f"/projects/{project['id']}/flags", "Flags in all environments")
    await open_and_check(person, f"/projects/{project['id']}/settings", "Project settings")
    await open_and_check(person, f"/projects/{project['id']}/sdk-keys", "SDK keys")
    await person.turn_to(f"{environment_page(environment)}/history")
    await page.get_by_text("1 on, 1 off").first.click()
    await check_in_both_schemes(person, "history")
    for tab in ("overview", "releases", "history", "changes", "code"):
        await open_and_check(person, f"{flag_page(flag)}?tab={tab}", "New checkout")
    await page.get_by_role("tab", name="Python", exact=True).click()
    await expect(page.locator(".hljs-keyword").first).to_be_visible()
    await check_in_both_schemes(person, "a coloured program")
    await person.turn_to(flag_page(flag))
    await person.press("Set the rollout")
    await person.press("Evaluate")
    await expect(page.get_by_role("region", name="Try it").get_by_role("status")).to_contain_text("rollout")
    await check_in_both_schemes(person, "a flag with everything unfolded")


async def test_axe_finds_nothing_on_flags_and_segments_with_conditions(person: Person) -> None:
    await person.sign_up()
    project = await person.api.create_project()
    await person.api.create_segment(project, conditions=CONDITIONS, description="Early adopters")
    flag = await person.api.create_flag(
        await person.api.get_environment(project), fallthrough="off", tags=["search", "q4"], rollout_percentage=25
    )
    await person.api.create_rule(flag, rule_type="segment", rule_value="beta", name="Beta", rollout_percentage=20)
    await person.api.create_rule(flag, rule_type="attributes", rule_value=None, conditions=CONDITIONS, enabled=False)
    page, dialog = person.page, person.page.get_by_role("dialog")
    await page.goto(flag_page(flag))
    await page.get_by_text("214 values").first.click()
    await person.press("Add attribute")
    await check_in_both_schemes(person, "a flag with conditions")
    await person.press("Actions for: Beta")
    await page.get_by_role("menuitem", name="Edit").click()
    await expect(dialog.get_by_label("Segment")).to_have_value("beta")
    await dialog.get_by_role("button", name="Add condition").click()
    await dialog.get_by_role("button", name="Set the percentage").click()
    await dialog.get_by_role("button", name="Save").click()
    await expect(dialog.get_by_label("Attribute")).to_have_attribute("aria-invalid", "true")
    await check_in_both_schemes(person, "a rule with a refused condition")
    await page.keyboard.press("Escape")
    await person.press("Actions")
    await page.get_by_role("menuitem", name="Edit").click()
    await dialog.get_by_label("Tags").press_sequentially("third,")
    await check_in_both_schemes(person, "a flag's fields")
    await person.turn_to(f"/projects/{project['id']}/segments")
    await page.get_by_text("Where it is used").click()
    await expect(page.get_by_role("link", name="new-checkout in Production")).to_be_visible()
    await check_in_both_schemes(person, "segments")
    await person.press("New segment")
    await expect(dialog).to_be_visible()
    await check_in_both_schemes(person, "a new segment")


async def test_axe_finds_nothing_on_variants(person: Person) -> None:
    await person.sign_up()
    flag = await person.api.create_flag(variants=VARIANTS)
    page, dialog = person.page, person.page.get_by_role("dialog")
    await page.goto(flag_page(flag))
    await page.get_by_role("region", name="Variants").get_by_role("group").click()
    await check_in_both_schemes(person, "variants")
    await person.press("Edit variants")
    await dialog.get_by_role("button", name="Add variant").click()
    await dialog.get_by_role("button", name="Save").click()
    third = dialog.get_by_role("group", name="Variant 3")
    await expect(third.get_by_label("Value")).to_have_attribute("aria-invalid", "true")
    await check_in_both_schemes(person, "a refused variant")


async def test_axe_finds_nothing_on_traces_and_previews(person: Person) -> None:
    await person.sign_up()
    project = await person.api.create_project()
    environment = await person.api.get_environment(project)
    await person.api.create_segment(project, conditions=CONDITIONS)
    needed = await person.api.create_flag(environment, key="needed", enabled=False)
    flag = await person.api.create_flag(environment, variants=VARIANTS, prerequisites=[{"flag_key": "needed"}])
    await person.api.create_rule(flag, rule_type="segment", rule_value="beta")
    await person.api.create_rule(flag, rule_type="attributes", rule_value=None, conditions=CONDITIONS, name="Beta")
    await evaluate_and_record(person, environment, {"user_id": "ada", "custom_attributes": {"plan": "pro"}})
    page, dialog = person.page, person.page.get_by_role("dialog")
    await page.goto(flag_page(flag))
    await expect(page.get_by_role("region", name="Users").get_by_role("table")).to_be_visible()
    await person.press("Evaluate")
    await expect(page.get_by_role("list", name="Why")).to_contain_text("needed is on")
    await check_in_both_schemes(person, "a prerequisite that does not hold")
    await person.api.put(f"/api{flag_page(needed)}", json={"enabled": True})
    await page.get_by_label("User id").fill("ada")
    await person.press("Add attribute")
    await page.get_by_label("Value of attribute 1").fill("free")
    await person.press("Evaluate")
    await expect(page.get_by_role("list", name="Why")).to_contain_text("The variant is")
    await page.get_by_role("list", name="Why").get_by_text("214 values").first.click()
    await check_in_both_schemes(person, "a trace with rules and a variant")
    await person.press("Edit variants")
    await dialog.get_by_role("group", name="Variant 1").get_by_label("Key").fill("navy")
    await dialog.get_by_role("button", name="Try this change").click()
    await dialog.get_by_role("button", name="Evaluate").click()
    await expect(dialog.get_by_role("list", name="Why")).to_be_visible()
    await expect(dialog).to_contain_text("seen in the last 24 hours")
    await check_in_both_schemes(person, "a previewed change")


async def test_axe_finds_nothing_on_members_and_invitations(person: Person) -> None:
    await person.page.goto("/invitation?token=x")
    await person.sees("This link has been used, replaced or revoked, or has expired.")
    await check_in_both_schemes(person, "an invitation that cannot be used")
    await person.sign_up()
    project = await person.api.create_project()
    members = f"/projects/{project['id']}/members"
    invited = {"email": f"{UNBROKEN[:60].lower()}@example.com", "role": "viewer", "environments": {"staging": "editor"}}
    await person.api.post(f"/api/projects/{project['id']}/invitations", json=invited)
    await person.page.goto(members)
    await open_and_check(person, members, "Members")
    await person.press("What you may do")
    await person.press("Changes to members")
    await expect(person.page.get_by_role("table")).to_be_visible()
    await check_in_both_schemes(person, "what you may do")
    await person.press("Invite")
    await person.page.get_by_role("dialog").get_by_role("button", name="Send invitation").click()
    email = person.page.get_by_role("dialog").get_by_label("Email")
    await expect(email).to_have_attribute("aria-invalid", "true")
    await check_in_both_schemes(person, "a refused address")
    await person.page.set_viewport_size({"width": 320, "height": 640})
    await stays_within(person)
    await stays_within(person, members)
    await stays_within(person, "/invitation?token=x")


async def test_axe_finds_nothing_on_prerequisites(person: Person) -> None:
    await person.sign_up()
    environment = await person.api.get_environment(await person.api.create_project())
    await person.api.create_flag(environment, key="colour", name="Colour", variants=VARIANTS)
    await person.api.create_flag(environment, key="banner", name="Banner", enabled=False)
    needed = [{"flag_key": "colour", "variants": ["blue", "green"]}, {"flag_key": "banner", "enabled": False}]
    flag = await person.api.create_flag(environment, prerequisites=needed)
    await person.api.create_flag(environment, key="last", prerequisites=[{"flag_key": flag["key"]}])
    page, dialog = person.page, person.page.get_by_role("dialog")
    await page.goto(flag_page(flag))
    await expect(page.get_by_role("link", name="banner (Off)")).to_be_visible()
    await check_in_both_schemes(person, "prerequisites")
    await person.press("Edit prerequisites")
    await dialog.get_by_role("button", name="Add flag").click()
    await dialog.get_by_role("button", name="Save").click()
    third = dialog.get_by_role("group", name="Prerequisite 3").get_by_role("combobox", name="Flag")
    await expect(third).to_have_attribute("aria-invalid", "true")
    await check_in_both_schemes(person, "a refused prerequisite")
    await third.click()
    await expect(page.get_by_role("option", name="Banner")).to_be_visible()
    await check_in_both_schemes(person, "flags to choose from")


async def test_axe_finds_nothing_in_dialogs_and_menus(person: Person) -> None:
    await person.sign_up()
    flag = await person.api.create_flag()
    await person.api.create_rule(flag)
    page = person.page
    project = f"/projects/{flag['project_id']}"
    await page.goto("/")
    flags = environment_page({"project_id": flag["project_id"], "id": flag["environment_id"]})
    for path, button in (("/", "New project"), (flags, "New flag"), (f"{project}/sdk-keys", "Regenerate key")):
        await person.turn_to(path)
        await person.press(button)
        await expect(page.get_by_role("dialog")).to_be_visible()
        await check_in_both_schemes(person, button)
    await person.turn_to(flag_page(flag))
    for button, closing in (("Add rule", "dialog"), ("Actions", "menu"), ("Account", "menu")):
        await person.press(button)
        await expect(page.get_by_role(closing)).to_be_visible()  # type: ignore[arg-type]
        await check_in_both_schemes(person, button)
        await page.keyboard.press("Escape")
    await person.press("Actions")
    await page.get_by_role("menuitem", name="Archive flag").click()
    await expect(page.get_by_role("dialog")).to_contain_text("It was not evaluated in the last 24 hours.")
    await check_in_both_schemes(person, "archival")
    await page.keyboard.press("Escape")
    await page.get_by_role("button", name="Environment Production").click()
    await check_in_both_schemes(person, "environments")
    await page.keyboard.press("Escape")
    await page.keyboard.press("ControlOrMeta+k")
    await expect(page.get_by_role("searchbox").or_(page.get_by_label("Command palette")).first).to_be_visible()
    await page.keyboard.type("new check")
    await expect(page.get_by_text("new-checkout · On")).to_be_visible()
    await check_in_both_schemes(person, "palette")


async def test_a_person_who_prefers_reduced_motion_sees_no_animation(ada: Person) -> None:
    flag = await ada.api.create_flag()
    await ada.page.goto(flag_page(flag))
    await ada.page.get_by_role("region", name="State").get_by_role("switch").click()
    await ada.press("Add rule")
    await expect(ada.page.get_by_role("dialog")).to_be_visible()
    moving = "document.getAnimations().map(each => each.effect.getComputedTiming().duration).filter(each => each > 1)"
    assert await ada.page.evaluate(moving) == []
