"""Erasures of users of applications: who may, the preview, the order, how far it has come, and earlier ones."""

import re

import pytest_asyncio
from playwright.async_api import Locator, expect

from tests.e2e.accessibility import check_in_both_schemes
from tests.e2e.keyboard import Keyboard
from tests.e2e.people import Person, evaluate_and_record, invite
from tests.support.api import Json
from tests.support.stores import Store

USER, EMAIL = "grace-hopper-1906", "grace@navy.example"


@pytest_asyncio.fixture(loop_scope="session")
async def project(ada: Person) -> Json:
    """A project of ada's whose production environment has evaluations of a user, and a rule that names her."""
    project = await ada.api.create_project(name="Web shop")
    environment = await ada.api.get_environment(project)
    flag = await ada.api.create_flag(environment)
    await ada.api.create_rule(flag, rule_type="user_id", rule_value=USER)
    await evaluate_and_record(
        ada, {**environment, "project_id": project["id"]}, {"user_id": USER}, {"user_email": EMAIL}, {"user_id": "eve"}
    )
    return project


def erasures_page(project: Json) -> str:
    """Return the path of a project's erasures."""
    return f"/projects/{project['id']}/erasures"


def field(person: Person, label: str) -> Locator:
    """Return a field of the form."""
    return person.page.get_by_role("main").get_by_label(label)


async def list_erasures(ada: Person, project: Json) -> list[Json]:
    found: list[Json] = (await ada.api.get(f"/api{erasures_page(project)}")).json()
    return found


async def test_who_is_no_owner_is_told_why_and_sees_no_erasures(
    ada: Person, eve: Person, project: Json, sqlite: Store
) -> None:
    token = await invite(ada, project, eve.email, sqlite.data_directory, role="admin")
    (await eve.api.post("/api/invitations/accept", json={"token": token})).raise_for_status()
    await eve.page.goto(erasures_page(project))
    await eve.sees_heading("Erasures")
    preview = eve.page.get_by_role("button", name="Preview")
    await expect(preview).to_be_disabled()
    await expect(preview).to_have_attribute("aria-description", re.compile("requires the permission users:erase"))
    await field(eve, "User id").fill(USER)
    await field(eve, "User id").press("Enter")
    await expect(eve.page.get_by_role("heading", name="What would be erased")).to_have_count(0)
    await expect(eve.page.get_by_role("main")).to_contain_text("which your role does not have")
    await check_in_both_schemes(eve, "erasures that one may not see")
    assert await list_erasures(ada, project) == []


async def test_a_user_must_be_named_and_one_of_whom_nothing_is_stored_is_said(ada: Person, project: Json) -> None:
    await ada.page.goto(erasures_page(project))
    await ada.sees("No user of this project's applications was erased.")
    await ada.press("Preview")
    await expect(field(ada, "User id")).to_have_attribute("aria-invalid", "true")
    await expect(field(ada, "User id")).to_be_focused()
    await field(ada, "User id").fill("nobody-of-that-name")
    await ada.press("Preview")
    await ada.sees("Nothing is stored about this user.")
    await field(ada, "Email").fill("x@example.com")
    await expect(ada.page.get_by_role("heading", name="What would be erased")).to_have_count(0)
    assert await list_erasures(ada, project) == []


async def test_a_user_is_erased_by_keyboard_and_is_not_named_afterwards(ada: Person, project: Json) -> None:
    keyboard, dialog = Keyboard(ada.page), ada.page.get_by_role("dialog")
    await ada.page.goto(f"/projects/{project['id']}/settings")
    await keyboard.use(ada.page.get_by_role("link", name="Erase a user"))
    await ada.sees_heading("Erasures")
    await keyboard.write(field(ada, "User id"), USER)
    await keyboard.write(field(ada, "Email"), EMAIL)
    await keyboard.use(ada.page.get_by_role("button", name="Preview"))
    await expect(ada.page.get_by_role("heading", name="What would be erased")).to_be_focused()
    found = ada.page.get_by_role("table").first.get_by_role("row").nth(1)
    await expect(found.get_by_role("rowheader")).to_have_text("Production")
    await expect(found.get_by_role("cell").first).to_have_text("2")
    naming = ada.page.get_by_role("list", name="Rules and segments that name the user").get_by_role("listitem")
    await expect(naming).to_have_text(["Rule of new-checkout Production · compares user_id"])
    await keyboard.use(ada.page.get_by_role("button", name="What stays, and for how long"))
    await ada.sees("until you delete them; after restoring one, erase the user again")
    await check_in_both_schemes(ada, "the preview of an erasure")
    await keyboard.use(ada.page.get_by_role("button", name="Erase this user"))
    await expect(dialog).to_contain_text("This cannot be undone.")
    await expect(dialog.get_by_role("button", name="Erase this user")).to_be_disabled()
    await keyboard.press("Escape")
    await expect(ada.page.get_by_role("button", name="Erase this user")).to_be_focused()
    assert await list_erasures(ada, project) == []
    await keyboard.press("Enter")
    await keyboard.write(dialog.get_by_label("Type the name to confirm"), USER)
    await check_in_both_schemes(ada, "confirming an erasure")
    await keyboard.press("Enter")
    await expect(dialog).to_have_count(0)
    await expect(ada.page.get_by_role("heading", name="Erasures of this project")).to_be_focused()
    erased = ada.page.get_by_role("table").get_by_role("row").nth(1)
    await expect(erased).to_contain_text("Done")
    await expect(erased.get_by_role("cell").nth(2)).to_have_text("2")
    (erasure,) = await list_erasures(ada, project)
    assert erasure["stage"] == "done"
    await expect(erased).to_contain_text(f"id {erasure['digests']['user_id'][:12]}")
    await expect(ada.page.get_by_role("status").filter(has_text="not done yet")).to_have_count(0)
    for text in (USER, EMAIL):
        await expect(ada.page.get_by_role("main")).not_to_contain_text(text)
        await expect(field(ada, "User id")).to_have_value("")
    await check_in_both_schemes(ada, "the list of erasures")
