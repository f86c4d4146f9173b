"""The dashboard by keyboard: no test here uses a mouse, and the focus is always visible."""

import asyncio
import re

import pytest
import pytest_asyncio
from playwright.async_api import Locator, Page, Route, expect

from tests.e2e.keyboard import Keyboard
from tests.e2e.people import PASSWORD, Person, environment_page, flag_page, load_all, send_shown_call
from tests.support.api import Json


@pytest.fixture
def keyboard(visitor: Person) -> Keyboard:
    """The visitor's keyboard."""
    return Keyboard(visitor.page)


@pytest_asyncio.fixture(loop_scope="session")
async def flag(ada: Person) -> Json:
    """A flag with three rules."""
    flag = await ada.api.create_flag(rollout_percentage=25)
    for number, value in enumerate(("third", "second", "first")):
        await ada.api.create_rule(flag, rule_value=value, priority=number * 10)
    return flag


async def test_from_registration_to_the_history_of_the_first_flag(visitor: Person, keyboard: Keyboard) -> None:
    page = visitor.page
    await page.goto("/")
    await expect(page.get_by_label("Email")).to_be_focused()
    await keyboard.use(page.get_by_role("link", name="Create account"))
    await visitor.sees_heading("Create your account")
    await expect(page.get_by_label("Email")).to_be_focused()
    await keyboard.type(visitor.email)
    await keyboard.write(page.get_by_role("textbox", name="Password"), PASSWORD)
    await keyboard.press("Enter")

    await visitor.sees_heading("Create your first project")
    await keyboard.use(page.get_by_role("button", name="New project"))
    await expect(page.get_by_label("Name")).to_be_focused()
    await keyboard.type("Web shop")
    await keyboard.press("Enter")

    await visitor.sees_heading("No flags in Production yet")
    await keyboard.use(page.get_by_role("button", name="New flag"))
    await expect(page.get_by_label("Name")).to_be_focused()
    await keyboard.type("New checkout")
    await keyboard.write(page.get_by_label("Description"), "One page")
    await keyboard.use(page.get_by_role("button", name="Create flag"))

    await visitor.sees_heading("New checkout")
    await keyboard.use(page.get_by_role("button", name="Add rule"))
    dialog = page.get_by_role("dialog")
    await expect(dialog.get_by_label("Value")).to_be_focused()
    await keyboard.press("Shift+Tab", "ArrowDown")
    await expect(dialog.get_by_label("Match by")).to_have_value("email_domain")
    await keyboard.write(dialog.get_by_label("Value"), "acme.com")
    await keyboard.press("Enter")
    await expect(page.get_by_role("list")).to_contain_text("If the email's domain is acme.com, the flag would be on")
    await expect(page.get_by_role("region", name="Targeting").get_by_role("button", name="Add rule")).to_be_focused()

    simulator = page.get_by_role("region", name="Try it")
    await keyboard.write(simulator.get_by_label("Email"), "ada@acme.com")
    await keyboard.press("Enter")
    await expect(simulator.get_by_role("status")).to_contain_text("Flag is globally disabled")
    switch = page.get_by_role("region", name="State").get_by_role("switch")
    await turn_on(page, keyboard, switch)
    await visitor.sees("New checkout was turned on.")
    await expect(switch).to_be_checked()
    await expect(switch).to_be_focused()
    await keyboard.use(simulator.get_by_role("button", name="Evaluate"))
    await expect(simulator.get_by_role("status")).to_contain_text("Matched email_domain targeting rule")

    await evaluate_and_open_history(page, keyboard)
    await keyboard.use(page.get_by_role("button", name="Follow live"))
    await expect(page.get_by_role("cell", name="ada@acme.com")).to_have_count(1)
    await keyboard.go_to(page.get_by_label("Result", exact=True), "Shift+Tab")
    await keyboard.press("ArrowDown")
    await expect(page).to_have_url(re.compile("answer=on"))
    await expect(page.get_by_role("cell", name="ada@acme.com")).to_have_count(1)
    await keyboard.write(page.get_by_label("User id"), "nobody")
    await visitor.sees_heading("No evaluations match these filters")


async def turn_on(page: Page, keyboard: Keyboard, switch: Locator) -> None:
    """Turn on a flag of production, which asks."""
    dialog = page.get_by_role("dialog")
    await keyboard.use(switch, "Space")
    await expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    await keyboard.use(dialog.get_by_role("button", name="Turn on"))


async def evaluate_and_open_history(page: Page, keyboard: Keyboard) -> None:
    """Send the call that a flag's page shows, and go to the history."""
    await keyboard.go_to(page.get_by_role("tab", name="Overview"))
    await keyboard.press("End", "Enter")
    await expect(page.get_by_role("tab", name="Use in code")).to_be_focused()
    await send_shown_call(page, user_email="ada@acme.com")
    await keyboard.press("Home", "ArrowRight", "ArrowRight")
    await expect(page.get_by_role("tab", name="History")).to_be_focused()


async def test_rules_can_be_moved_and_the_focus_moves_with_them(ada: Person, flag: Json, keyboard: Keyboard) -> None:
    page = ada.page
    await page.goto(flag_page(flag))
    rules = page.get_by_role("region", name="Targeting").get_by_role("listitem")
    up = page.get_by_role("button", name="Move up: If the user id is second")
    down = page.get_by_role("button", name="Move down: If the user id is second")
    told = page.get_by_role("status")
    await keyboard.use(up)
    await expect(rules.first).to_contain_text("second")
    await expect(up).to_be_focused()
    await expect(told.filter(has_text="Moved to position 1.")).to_have_count(1)
    await keyboard.press("Enter")
    await keyboard.use(down)
    await expect(rules.nth(1)).to_contain_text("second")
    await expect(down).to_be_focused()
    await expect(told.filter(has_text="Moved to position 2.")).to_have_count(1)
    await keyboard.press("Enter")
    await expect(rules.nth(2)).to_contain_text("second")
    await expect(down).to_be_focused()
    await expect(told.filter(has_text="Moved to position 3.")).to_have_count(1)
    values = [rule["rule_value"] for rule in (await ada.api.get(f"/api{flag_page(flag)}/rules")).json()]
    assert values == ["first", "third", "second"]


async def test_a_dialog_opened_from_a_menu_returns_the_focus_to_the_menus_button(
    ada: Person, flag: Json, keyboard: Keyboard
) -> None:
    page = ada.page
    await page.goto(flag_page(flag))
    dialog = page.get_by_role("dialog")
    for button in ("Actions", "Actions for: If the user id is first"):
        opener = page.get_by_role("button", name=button, exact=True)
        await keyboard.use(opener)
        await expect(page.get_by_role("menuitem", name="Edit")).to_be_focused()
        await keyboard.press("Escape")
        await expect(opener).to_be_focused()
        for key in ("Enter", "ArrowDown"):  # the first item edits, the second one deletes
            await keyboard.press("Enter")
            await expect(page.get_by_role("menuitem", name="Edit")).to_be_focused()
            await keyboard.press(*([key] if key == "Enter" else [key, "Enter"]))
            await expect(dialog).to_be_visible()
            await expect(dialog.locator(":focus")).to_have_count(1)
            await keyboard.press("Escape")
            await expect(dialog).to_have_count(0)
            await expect(opener).to_be_focused()


async def test_a_rule_is_built_from_conditions(ada: Person, keyboard: Keyboard) -> None:
    flag = await ada.api.create_flag()
    page, dialog = ada.page, ada.page.get_by_role("dialog")
    await page.goto(flag_page(flag))
    await keyboard.go_to(page.get_by_role("button", name="Add rule"))
    await keyboard.press("Tab")
    await expect(page.get_by_role("radio", name="Rollout")).to_be_focused()
    await keyboard.press("ArrowRight")
    await ada.sees("The flag is off for everyone")
    await keyboard.go_to(page.get_by_role("button", name="Add rule"), "Shift+Tab")
    await keyboard.press("Enter")
    await expect(dialog.get_by_label("Value")).to_be_focused()
    await keyboard.press("Shift+Tab", "End")
    await expect(dialog.get_by_label("Match by")).to_have_value("attributes")
    await keyboard.write(dialog.get_by_label("Attribute"), "age")
    await keyboard.go_to(dialog.get_by_label("Comparison"))
    await page.keyboard.type("is at least")
    await expect(dialog.get_by_label("Comparison")).to_have_value("gte")
    await keyboard.write(dialog.get_by_label("Value"), "18")
    await keyboard.use(dialog.get_by_role("button", name="Add condition"))
    second = dialog.get_by_role("group", name="Condition 2")
    await expect(second.get_by_label("Attribute")).to_be_focused()
    await keyboard.use(second.get_by_role("button", name="Remove condition 2"))
    await expect(dialog.get_by_role("button", name="Add condition")).to_be_focused()
    await keyboard.use(dialog.get_by_role("button", name="Add rule"))
    await expect(dialog).to_have_count(0)
    await expect(page.get_by_role("list")).to_contain_text("If age is at least 18, the flag is on")

    simulator = page.get_by_role("region", name="Try it")
    await keyboard.use(simulator.get_by_role("button", name="Add attribute"))
    await expect(simulator.get_by_label("Name of attribute 1")).to_have_value("age")
    await keyboard.write(simulator.get_by_label("Value of attribute 1"), "21")
    await keyboard.press("Enter")
    await expect(simulator.get_by_role("status")).to_contain_text("Matched attributes targeting rule")


async def test_variants_are_added_and_removed(ada: Person, keyboard: Keyboard) -> None:
    flag = await ada.api.create_flag()
    page, dialog = ada.page, ada.page.get_by_role("dialog")
    shown = page.get_by_role("region", name="Variants")
    await page.goto(flag_page(flag))
    await keyboard.use(shown.get_by_role("button", name="Add variants"))
    first, second = (dialog.get_by_role("group", name=f"Variant {number}") for number in (1, 2))
    await expect(first.get_by_label("Key")).to_be_focused()
    await keyboard.type("a")
    await keyboard.write(first.get_by_label("Value"), "blue")
    await keyboard.use(second.get_by_role("button", name="Remove variant 2"))
    await expect(dialog.get_by_role("button", name="Add variant")).to_be_focused()
    await keyboard.press("Enter")
    await expect(second.get_by_label("Key")).to_be_focused()
    await keyboard.type("b")
    await keyboard.use(dialog.get_by_role("button", name="Save"))
    await expect(shown.get_by_role("listitem")).to_have_text(['a50%"blue"', 'b50%""'])
    await expect(shown.get_by_role("button", name="Edit variants")).to_be_focused()
    await keyboard.use(shown.get_by_role("button", name="Edit variants"))
    await keyboard.write(second.get_by_label("Share of users"), "10")
    await keyboard.use(dialog.get_by_role("button", name="Save"))
    await expect(shown.get_by_role("listitem")).to_have_text(['a90%"blue"', 'b10%""'])


async def test_a_prerequisite_is_chosen_and_followed(ada: Person, keyboard: Keyboard) -> None:
    environment = await ada.api.get_environment(await ada.api.create_project())
    await ada.api.create_flag(environment, key="payment", name="Payment")
    flag = await ada.api.create_flag(environment)
    page, dialog = ada.page, ada.page.get_by_role("dialog")
    shown = page.get_by_role("region", name="Prerequisites")
    await page.goto(flag_page(flag))
    await keyboard.use(shown.get_by_role("button", name="Add prerequisites"))
    await expect(dialog.get_by_role("combobox", name="Flag")).to_be_focused()
    await keyboard.type("pay")
    await expect(page.get_by_role("option", name="Payment")).to_be_visible()
    await keyboard.press("ArrowDown", "Enter")
    await expect(dialog.get_by_role("combobox", name="Flag")).to_have_value("Payment (payment)")
    await keyboard.use(dialog.get_by_role("button", name="Save"))
    await expect(shown.get_by_role("button", name="Edit prerequisites")).to_be_focused()
    await keyboard.use(shown.get_by_role("link", name="payment"))
    await ada.sees_heading("Payment")


async def test_a_segment_is_created_and_deleted(ada: Person, keyboard: Keyboard) -> None:
    project = await ada.api.create_project()
    page, dialog = ada.page, ada.page.get_by_role("dialog")
    await page.goto(f"/projects/{project['id']}/segments")
    await keyboard.use(page.get_by_role("button", name="New segment"))
    await expect(dialog.get_by_label("Name")).to_be_focused()
    await keyboard.type("Staff")
    await keyboard.write(dialog.get_by_label("Attribute"), "email_domain")
    await keyboard.write(dialog.get_by_label("Values"), "acme.com")
    await keyboard.use(dialog.get_by_role("button", name="Create segment"))
    await ada.sees_heading("Staff")
    await keyboard.use(page.get_by_text("Where it is used"))
    await ada.sees("No rule refers to it.")
    await keyboard.go_to(page.get_by_role("button", name="Actions for Staff"), "Shift+Tab")
    await keyboard.press("Enter")
    await expect(page.get_by_role("menuitem", name="Edit")).to_be_focused()
    await keyboard.press("ArrowDown", "Enter")
    await expect(dialog.get_by_role("textbox")).to_be_focused()
    await keyboard.type("Staff")
    await keyboard.press("Enter")
    await ada.sees_heading("No segments yet")
    await expect(page.get_by_role("button", name="New segment")).to_be_focused()


async def test_somebody_is_invited_and_the_invitation_is_revoked(ada: Person, keyboard: Keyboard) -> None:
    project = await ada.api.create_project()
    page, dialog = ada.page, ada.page.get_by_role("dialog")
    await page.goto(f"/projects/{project['id']}/members")
    await keyboard.use(page.get_by_role("button", name="Invite"))
    await expect(dialog.get_by_label("Email")).to_be_focused()
    await keyboard.type("grace@example.com")
    await keyboard.press("Enter")
    revoke = page.get_by_role("button", name="Revoke the invitation for grace@example.com")
    await expect(page.get_by_role("button", name="Invite")).to_be_focused()
    await keyboard.use(revoke)
    await expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    await keyboard.press("Tab", "Enter")
    await ada.sees("There are no open invitations.")
    await expect(page.get_by_role("button", name="Invite")).to_be_focused()


async def test_settings_can_be_changed_and_destructive_actions_are_confirmed(ada: Person, keyboard: Keyboard) -> None:
    project = await ada.api.create_project()
    page, dialog = ada.page, ada.page.get_by_role("dialog")
    await page.goto(f"/projects/{project['id']}/settings")
    await keyboard.write(page.get_by_role("textbox", name="Name"), "Web shop")
    await keyboard.press("Enter")
    await expect(page.get_by_role("button", name="Project Web shop")).to_be_visible()

    await page.goto(f"/projects/{project['id']}/sdk-keys")
    regenerate = page.get_by_role("button", name="Regenerate key")
    await keyboard.use(regenerate)
    await expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    await keyboard.press("Escape")
    await expect(regenerate).to_be_focused()
    assert (await ada.api.evaluate(project["sdk_key"])).status_code == 200
    await keyboard.press("Enter")
    await keyboard.use(dialog.get_by_role("button", name="Regenerate and revoke the old key"))
    await ada.sees("The key was regenerated.")
    await expect(regenerate).to_be_focused()
    assert (await ada.api.evaluate(project["sdk_key"])).status_code == 401

    await page.goto(f"/projects/{project['id']}/settings")
    await keyboard.use(page.get_by_role("button", name="Delete Staging"))
    await expect(dialog.get_by_role("textbox")).to_be_focused()
    await keyboard.type("Stagin")
    await keyboard.press("Enter")
    await expect(dialog.get_by_role("button", name="Delete", exact=True)).to_be_disabled()
    await keyboard.type("Staging")
    await keyboard.press("Enter")
    await ada.sees("Staging was deleted.")
    await expect(page.get_by_role("button", name="New environment")).to_be_focused()
    listed = (await ada.api.get(f"/api/projects/{project['id']}/environments")).json()
    assert [each["key"] for each in listed] == ["production"]


async def test_the_account_menu_has_the_appearance_and_signs_out(ada: Person, keyboard: Keyboard) -> None:
    page = ada.page
    await page.goto("/")
    account = page.get_by_role("button", name="Account")
    await keyboard.use(account)
    await expect(page.get_by_role("menuitemradio", name="Light")).to_be_focused()
    await keyboard.press("ArrowDown", "Enter")
    await expect(page.locator("html")).to_have_attribute("data-mantine-color-scheme", "dark")
    await keyboard.press("Escape")
    await expect(account).to_be_focused()
    await keyboard.press("Enter")
    await expect(page.get_by_role("menuitemradio", name="Light")).to_be_focused()
    await keyboard.press("End")
    await expect(page.get_by_role("menuitem", name="Sign out")).to_be_focused()
    # When a menu opens, Mantine's focus trap does this twice, and the second time may come this late.
    await page.get_by_role("menu").locator("[data-autofocus]").focus()
    await expect(page.get_by_role("menuitem", name="Sign out")).to_be_focused()
    await keyboard.press("Enter")
    await ada.sees_heading("Sign in")
    await expect(page.get_by_label("Email")).to_be_focused()
    assert await ada.stored_session() is None


async def test_the_first_tab_stop_of_every_page_skips_to_its_content(
    ada: Person, flag: Json, keyboard: Keyboard
) -> None:
    page = ada.page
    environment = environment_page({"project_id": flag["project_id"], "id": flag["environment_id"]})
    project = f"/projects/{flag['project_id']}"
    for path in (
        "/",
        environment,
        flag_page(flag),
        f"{environment}/history",
        f"{project}/segments",
        f"{project}/members",
        f"{project}/settings",
    ):
        await page.goto(path)
        await expect(page.get_by_role("heading", level=1)).to_be_visible()
        await load_all(page)
        await keyboard.press("Tab")
        await expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
        await keyboard.press("Enter")
        await expect(page.get_by_role("main")).to_be_focused()
        await keyboard.press("Tab")
        await expect(page.get_by_role("main").locator(":focus")).to_have_count(1)


async def test_another_environment_can_be_chosen_with_arrow_keys(ada: Person, flag: Json, keyboard: Keyboard) -> None:
    page = ada.page
    await page.goto(environment_page({"project_id": flag["project_id"], "id": flag["environment_id"]}))
    await keyboard.use(page.get_by_role("button", name="Environment Production"))
    await expect(page.get_by_role("menuitem", name="Production")).to_be_focused()
    await keyboard.press("ArrowDown", "Enter")
    await ada.sees_heading("No flags in Staging yet")
    await expect(page.locator(":focus")).to_be_visible()


async def test_sticky_headers_never_hide_the_focus_when_tabbing_back(
    ada: Person, flag: Json, keyboard: Keyboard
) -> None:
    environment = {"project_id": flag["project_id"], "id": flag["environment_id"]}
    for number in range(10):
        await ada.api.create_flag(environment, name=f"Flag {number}", key=f"flag-{number}")
    page = ada.page
    await page.set_viewport_size({"width": 1280, "height": 400})
    await page.goto(environment_page(environment))
    await keyboard.go_to(page.get_by_role("link", name="Flag 3", exact=True))
    await keyboard.go_to(page.get_by_role("searchbox"), "Shift+Tab")


async def test_what_is_typed_while_the_palette_loads_is_not_lost(ada: Person) -> None:
    flag = await ada.api.create_flag()
    await ada.page.goto(flag_page(flag))
    await ada.sees_heading("New checkout")
    asked: asyncio.Future[Route] = asyncio.get_running_loop().create_future()
    await ada.page.route("**/assets/Palette-*.js", lambda route: asked.set_result(route))  # noqa: PLW0108 -- not a builtin
    await ada.page.keyboard.press("ControlOrMeta+k")
    loading = await asked
    await ada.page.keyboard.type("user 7")
    await loading.continue_()
    await expect(ada.page.get_by_label("Command palette").last).to_have_value("user 7")
    await ada.page.keyboard.type("8")
    await expect(ada.page.get_by_label("Command palette").last).to_have_value("user 78")
