"""Unsaved edits survive the end of the session and a reload, and people sign in again without leaving the page."""

from playwright.async_api import Locator, expect

from tests.e2e.accessibility import AXE, check_in_both_schemes, stays_within
from tests.e2e.people import PASSWORD, Person, flag_page, load_all
from tests.support.api import Json, flag_path


def description(ada: Person) -> Locator:
    return ada.page.get_by_role("dialog").get_by_label("Description")


async def type_description(ada: Person, flag: Json, text: str) -> None:
    """Open the dialog for a flag's details, and type without saving."""
    await ada.page.goto(flag_page(flag))
    await ada.press("Actions")
    await ada.page.get_by_role("menuitem", name="Edit").click()
    await description(ada).fill(text)


async def test_a_draft_survives_a_reload_and_is_kept_or_discarded(ada: Person) -> None:
    flag = await ada.api.create_flag(description="saved")
    await type_description(ada, flag, "typed")
    await ada.page.reload()
    await ada.sees("Unsaved draft from")
    await expect(description(ada)).to_have_value("typed")
    if AXE.is_file():
        await check_in_both_schemes(ada, "an unsaved draft")
    await ada.press("Discard")
    await expect(description(ada)).to_have_value("saved")
    await ada.page.reload()
    await ada.sees_heading("New checkout")
    await expect(ada.page.get_by_role("dialog")).to_have_count(0)


async def test_a_draft_whose_dialog_was_closed_by_a_slip_is_there_when_it_opens_again(ada: Person) -> None:
    flag = await ada.api.create_flag()
    await type_description(ada, flag, "typed")
    await ada.page.keyboard.press("Escape")
    await expect(ada.page.get_by_role("dialog")).to_have_count(0)
    await ada.page.reload()
    await ada.sees_heading("New checkout")
    await expect(ada.page.get_by_role("dialog")).to_have_count(0)
    await ada.press("Actions")
    await ada.page.get_by_role("menuitem", name="Edit").click()
    await ada.sees("Unsaved draft from")
    await expect(description(ada)).to_have_value("typed")
    await ada.press("Cancel")
    await expect(ada.page.get_by_role("dialog")).to_have_count(0)
    assert await ada.page.evaluate("Object.keys(sessionStorage).filter((each) => each.includes('draft'))") == []


async def test_a_draft_is_merged_with_what_others_changed_since(ada: Person) -> None:
    flag = await ada.api.create_flag(description="old")
    await type_description(ada, flag, "mine")
    await ada.api.put(flag_path(flag), json={"name": "Theirs"})
    await ada.page.reload()
    await expect(ada.page.get_by_role("group", name="Changed meanwhile")).to_contain_text("changed Name")
    await ada.press("Save")
    await expect(ada.page.get_by_role("dialog")).to_have_count(0)
    saved = (await ada.api.get(flag_path(flag))).json()
    assert (saved["name"], saved["description"]) == ("Theirs", "mine")


async def test_an_ended_session_is_begun_again_in_place_and_the_request_goes_on(ada: Person) -> None:
    flag = await ada.api.create_flag()
    await type_description(ada, flag, "typed")
    (await ada.api.post("/auth/logout")).raise_for_status()
    await ada.press("Save")
    await ada.sees("Your session has ended.")
    dialog = ada.page.get_by_role("dialog", name="Sign in")
    await expect(dialog.get_by_label("Email")).to_have_value(ada.email)
    await expect(dialog.get_by_label("Password", exact=True)).to_be_focused()
    await dialog.get_by_label("Password", exact=True).fill("not the password")
    await dialog.get_by_role("button", name="Sign in", exact=True).click()
    await ada.sees("The email or the password is wrong.")
    await dialog.get_by_label("Password", exact=True).fill(PASSWORD)
    await dialog.get_by_role("button", name="Sign in", exact=True).click()
    await expect(ada.page.get_by_role("dialog")).to_have_count(0)
    await ada.sees("New checkout was changed.")
    stored = await ada.page.evaluate("JSON.parse(localStorage.getItem('flagstaff.session')).token")
    ada.api.headers["authorization"] = f"Bearer {stored}"
    assert (await ada.api.get(flag_path(flag))).json()["description"] == "typed"


async def test_a_flag_that_is_turned_off_as_the_session_ends_is_off_after_signing_in(ada: Person) -> None:
    flag = await ada.api.create_flag(enabled=True)
    await ada.page.goto(flag_page(flag))
    switch = ada.page.get_by_role("switch", name="New checkout", include_hidden=True)
    await expect(switch).to_be_checked()
    await load_all(ada.page)
    (await ada.api.post("/auth/logout")).raise_for_status()
    await switch.press("Space")
    dialog = ada.page.get_by_role("dialog", name="Sign in")
    await expect(dialog).to_be_visible()
    if AXE.is_file():
        await check_in_both_schemes(ada, "signing in in place")
    await ada.page.set_viewport_size({"width": 390, "height": 800})
    await stays_within(ada)
    await dialog.get_by_label("Password", exact=True).fill(PASSWORD)
    await dialog.get_by_role("button", name="Sign in", exact=True).click()
    await ada.sees("New checkout was turned off.")
    await expect(switch).not_to_be_checked()


async def test_someone_else_who_signs_in_sees_neither_the_page_nor_its_drafts(ada: Person, eve: Person) -> None:
    flag = await ada.api.create_flag()
    await type_description(ada, flag, "typed")
    (await ada.api.post("/auth/logout")).raise_for_status()
    await ada.press("Save")
    dialog = ada.page.get_by_role("dialog", name="Sign in")
    await dialog.get_by_label("Email").fill(eve.email)
    await dialog.get_by_label("Password", exact=True).fill(PASSWORD)
    await dialog.get_by_role("button", name="Sign in", exact=True).click()
    await ada.sees_heading("Page not found")
    await expect(ada.page.get_by_text("typed")).to_have_count(0)


async def test_signing_out_leaves_no_draft(ada: Person) -> None:
    flag = await ada.api.create_flag()
    await type_description(ada, flag, "typed")
    await ada.page.keyboard.press("Escape")
    await ada.press("Account")
    await ada.page.get_by_role("menuitem", name="Sign out").click()
    await ada.sees_heading("Sign in")
    assert await ada.page.evaluate("Object.keys(sessionStorage).filter((each) => each.includes('draft'))") == []
