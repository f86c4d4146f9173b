"""Comments on flags, releases and changes: written, edited, deleted, mentioned, and seen by others at once."""

import re

import pytest_asyncio
from playwright.async_api import Locator, expect

from tests.e2e.accessibility import check_in_both_schemes, stays_within
from tests.e2e.keyboard import Keyboard
from tests.e2e.people import Person, environment_page, flag_page, invite
from tests.support.api import Json, created, flag_path
from tests.support.stores import Store

LOOK = "00:10"  # longer than between two requests of a page for what has changed
HOSTILE = "<img src=x onerror=alert(1)> **bold** https://example.com/a. `code`"


@pytest_asyncio.fixture(loop_scope="session")
async def flag(ada: Person) -> Json:
    """A flag of ada's."""
    return await ada.api.create_flag()


async def join(ada: Person, other: Person, flag: Json, sqlite: Store) -> None:
    """Make another person a viewer of the flag's project."""
    project = {"id": flag["project_id"]}
    token = await invite(ada, project, other.email, sqlite.data_directory, role="viewer")
    (await other.api.post("/api/invitations/accept", json={"token": token})).raise_for_status()


def comments_of(person: Person) -> Locator:
    return person.page.get_by_role("list", name="Comments").get_by_role("listitem")


async def test_a_comment_is_written_edited_and_deleted_and_is_never_markup(ada: Person, flag: Json) -> None:
    await ada.page.goto(f"{flag_page(flag)}?tab=comments")
    await ada.sees("No comments yet.")
    await ada.press("Comment")
    await expect(ada.page.get_by_label("Comment", exact=True)).to_have_attribute("aria-invalid", "true")
    await ada.page.get_by_label("Comment", exact=True).fill(HOSTILE)
    await ada.page.keyboard.press("Control+Enter")
    rows = comments_of(ada)
    await expect(rows).to_have_count(1)
    await expect(rows.first).to_contain_text("<img src=x onerror=alert(1)> **bold**")
    await expect(rows.first.get_by_role("link")).to_have_attribute("href", "https://example.com/a")
    await expect(rows.first.get_by_role("code")).to_have_text("code")
    await expect(ada.page.get_by_label("Comment", exact=True)).to_have_value("")
    await check_in_both_schemes(ada, "comments")

    await ada.press(f"Actions for the comment by {ada.email}")
    await ada.page.get_by_role("menuitem", name="Edit").click()
    await rows.first.get_by_label("Comment").fill("Only for a week")
    await ada.press("Save")
    await expect(rows.first).to_contain_text("Only for a week")
    await expect(rows.first).to_contain_text("edited")
    await ada.press(f"Actions for the comment by {ada.email}")
    await ada.page.get_by_role("menuitem", name="Delete").click()
    await ada.page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    await ada.sees("No comments yet.")
    assert (await ada.api.get(f"{flag_path(flag)}/comments")).json() == []


async def test_a_new_comment_of_another_member_appears_and_an_owner_can_delete_it(
    ada: Person, eve: Person, flag: Json, sqlite: Store
) -> None:
    await join(ada, eve, flag, sqlite)
    await ada.clock.install()
    await ada.page.goto(f"{flag_page(flag)}?tab=comments")
    await ada.sees("No comments yet.")
    created(await eve.api.post(f"{flag_path(flag)}/comments", json={"text": "Why is this on?"}))
    await ada.clock.fast_forward(LOOK)
    await expect(comments_of(ada)).to_contain_text("Why is this on?")
    await eve.clock.install()
    await eve.page.goto(f"{flag_page(flag)}?tab=comments")
    await expect(comments_of(eve)).to_have_count(1)
    created(await ada.api.post(f"{flag_path(flag)}/comments", json={"text": "Because."}))
    await eve.clock.fast_forward(LOOK)
    await expect(comments_of(eve)).to_have_count(2)
    await expect(eve.page.get_by_role("button", name=re.compile(f"the comment by {ada.email}"))).to_have_count(0)
    await ada.press(f"Delete: Actions for the comment by {eve.email}")
    await ada.page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    await expect(comments_of(ada)).to_have_count(1)
    await ada.page.goto(f"/projects/{flag['project_id']}/audit")
    await ada.sees("deleted the comment of")


async def test_members_are_completed_after_an_at_sign_by_keyboard(ada: Person, flag: Json) -> None:
    await ada.page.goto(f"{flag_page(flag)}?tab=comments")
    field = ada.page.get_by_label("Comment", exact=True)
    await field.press_sequentially("ask @ada-")
    option = ada.page.get_by_role("option", name=ada.email)
    await expect(option).to_be_visible()
    await Keyboard(ada.page).press("ArrowDown", "Enter")
    await expect(field).to_have_value(f"ask @{ada.email} ")
    await expect(option).to_have_count(0)
    await Keyboard(ada.page).use(ada.page.get_by_role("button", name="Comment", exact=True))
    await expect(comments_of(ada)).to_contain_text(f"ask @{ada.email}")


async def test_changes_and_releases_have_comments(ada: Person, flag: Json) -> None:
    await ada.page.goto(f"{environment_page({'project_id': flag['project_id'], 'id': flag['environment_id']})}/changes")
    await ada.page.get_by_role("button", name=re.compile("^Comment: .*created")).first.click()
    dialog = ada.page.get_by_role("dialog")
    await dialog.get_by_label("Comment", exact=True).fill("For the campaign")
    await dialog.get_by_role("button", name="Comment", exact=True).click()
    await expect(comments_of(ada)).to_contain_text("For the campaign")
    await check_in_both_schemes(ada, "comments on a change")
    await ada.page.keyboard.press("Escape")
    await expect(ada.page.get_by_role("button", name=re.compile("^1 comment: "))).to_be_visible()

    step = {"after_seconds": 3600, "changes": {"enabled": False}}
    created(await ada.api.post(f"{flag_path(flag)}/releases", json={"steps": [step]}))
    await ada.page.goto(f"{flag_page(flag)}?tab=releases")
    await ada.press("Comments")
    await ada.page.get_by_label("Comment", exact=True).fill("Not before Monday")
    await ada.press("Comment")
    await expect(comments_of(ada)).to_contain_text("Not before Monday")
    await ada.page.set_viewport_size({"width": 360, "height": 740})
    await stays_within(ada)
