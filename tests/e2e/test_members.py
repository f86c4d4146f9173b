"""The members of a project: inviting, roles, removing, leaving, handing over, and what a role does not allow."""

from typing import Any

import pytest_asyncio
from playwright.async_api import Locator, expect

from tests.e2e.people import Person, invite
from tests.support.api import Json
from tests.support.stores import Store


@pytest_asyncio.fixture(loop_scope="session")
async def project(ada: Person) -> Json:
    """A project of ada's."""
    return await ada.api.create_project(name="Web shop")


async def join(ada: Person, project: Json, eve: Person, sqlite: Store, **roles: Any) -> None:
    """Make eve a member."""
    token = await invite(ada, project, eve.email, sqlite.data_directory, **roles)
    (await eve.api.post("/api/invitations/accept", json={"token": token})).raise_for_status()


def members_page(project: Json) -> str:
    """Return the path of a project's members."""
    return f"/projects/{project['id']}/members"


def row(person: Person, email: str, listed: str = "Members") -> Locator:
    """Return the row of a member or an invitation."""
    return person.page.get_by_role("list", name=listed, exact=True).get_by_role("listitem").filter(has_text=email)


async def roles(ada: Person, project: Json) -> dict[str, str]:
    """Return the role of each member."""
    members = (await ada.api.get(f"/api{members_page(project)}")).json()
    return {each["email"]: each["role"] for each in members}


async def test_what_a_viewer_may_not_do_is_disabled_with_the_reason(
    ada: Person, eve: Person, project: Json, sqlite: Store
) -> None:
    await join(ada, project, eve, sqlite, role="viewer", environments={"staging": "editor"})
    await eve.page.goto(members_page(project))
    reason = "This requires the permission members:write in the whole project, which your role does not have."
    button = eve.page.get_by_role("button", name="Invite")
    await expect(button).to_have_attribute("aria-disabled", "true")
    await button.focus()
    await expect(eve.page.get_by_role("tooltip")).to_contain_text(reason)
    await eve.page.keyboard.press("Enter")
    await expect(eve.page.get_by_role("dialog")).to_have_count(0)
    names = [f"{each} {ada.email}" for each in ("Transfer ownership to", "Change role of", "Remove")]
    for name in (*names, f"Change role of {eve.email}"):
        await expect(eve.page.get_by_role("button", name=name)).to_have_attribute("aria-disabled", "true")
    await expect(row(eve, eve.email)).to_contain_text("Viewer, Editor in staging")
    await eve.press("What you may do")
    matrix = eve.page.get_by_role("region", name="What you may do").get_by_role("row")
    await expect(matrix.filter(has_text="flags:write").get_by_role("cell")).to_have_text(["No", "No", "Yes"])
    await expect(matrix.filter(has_text="flags:read").get_by_role("cell")).to_have_text(["Yes", "Yes", "Yes"])


async def the_last_owner_cannot_leave_or_take_a_lower_role(ada: Person, project: Json) -> None:
    dialog = ada.page.get_by_role("dialog")
    await ada.press("Leave the project")
    await dialog.get_by_role("button", name="Leave the project").click()
    await expect(dialog.get_by_role("alert")).to_contain_text("is the last owner of the project")
    await ada.page.keyboard.press("Escape")
    await expect(dialog).to_have_count(0)
    await ada.press(f"Change role of {ada.email}")
    await dialog.get_by_label("Role in the project").select_option("viewer")
    await dialog.get_by_role("button", name="Save").click()
    await expect(dialog.get_by_role("alert")).to_contain_text("is the last owner of the project")
    assert await roles(ada, project) == {ada.email: "owner"}
    await ada.page.keyboard.press("Escape")
    await expect(dialog).to_have_count(0)


async def an_invitation_is_sent_sent_again_and_revoked(ada: Person, project: Json) -> None:
    await ada.sees("There are no open invitations.")
    await ada.press("Invite")
    dialog = ada.page.get_by_role("dialog")
    await dialog.get_by_label("Email").fill("grace@example.com")
    await dialog.get_by_label("Role in the project").select_option("viewer")
    await dialog.get_by_label("Role in Staging").select_option("editor")
    await dialog.get_by_role("button", name="Send invitation").click()
    await ada.sees("The invitation for grace@example.com is being sent.")
    await expect(row(ada, "grace@example.com", "Invitations")).to_contain_text("Viewer, Editor in staging.")
    await expect(ada.page.get_by_role("button", name="Invite", exact=True)).to_be_focused()
    async with ada.page.expect_response("**/send") as again:
        await ada.press("Send again to grace@example.com")
    assert (await again.value).status == 200
    await ada.press("Revoke the invitation for grace@example.com")
    await dialog.get_by_role("button", name="Revoke").click()
    await ada.sees("There are no open invitations.")
    assert (await ada.api.get(f"/api/projects/{project['id']}/invitations")).json() == []


async def an_address_that_cannot_be_invited_is_refused_at_its_field(ada: Person, project: Json) -> None:
    await ada.press("Invite")
    dialog = ada.page.get_by_role("dialog")
    for email, message in (("nobody", "Must"), (ada.email, "Is your own address")):
        await dialog.get_by_label("Email").fill(email)
        await dialog.get_by_role("button", name="Send invitation").click()
        await expect(dialog).to_contain_text(message)
        await expect(dialog.get_by_label("Email")).to_have_attribute("aria-invalid", "true")
        await expect(dialog.get_by_label("Email")).to_be_focused()


async def test_a_project_of_one_member_keeps_its_owner_and_invites_others(ada: Person, project: Json) -> None:
    await ada.page.goto(members_page(project))
    await the_last_owner_cannot_leave_or_take_a_lower_role(ada, project)
    await an_invitation_is_sent_sent_again_and_revoked(ada, project)
    await an_address_that_cannot_be_invited_is_refused_at_its_field(ada, project)


async def a_role_is_changed_also_in_an_environment_and_the_change_is_listed(
    ada: Person, eve: Person, project: Json
) -> None:
    await ada.press(f"Change role of {eve.email}")
    dialog = ada.page.get_by_role("dialog")
    await dialog.get_by_label("Role in the project").select_option("editor")
    await dialog.get_by_label("Role in Production").select_option("viewer")
    await dialog.get_by_role("button", name="Save").click()
    await expect(row(ada, eve.email)).to_contain_text("Editor, Viewer in production")
    await ada.press("Changes to members")
    changed = ada.page.get_by_role("listitem").filter(has_text=f"changed the role of {eve.email}")
    await expect(changed).to_contain_text("RoleBefore viewer → After editor")


async def ownership_is_transferred_and_the_former_owner_leaves(ada: Person, eve: Person, project: Json) -> None:
    await ada.press(f"Transfer ownership to {eve.email}")
    dialog = ada.page.get_by_role("dialog")
    await dialog.get_by_role("button", name="Transfer ownership").click()
    await expect(row(ada, eve.email)).to_contain_text("Owner")
    await expect(row(ada, ada.email)).to_contain_text("Admin")
    await expect(dialog).to_have_count(0)
    assert await roles(eve, project) == {ada.email: "admin", eve.email: "owner"}
    await ada.press("Leave the project")
    await dialog.get_by_role("button", name="Leave the project").click()
    await ada.sees_heading("Create your first project")
    assert await roles(eve, project) == {eve.email: "owner"}


async def test_another_member_gets_other_roles_and_in_the_end_the_project(
    ada: Person, eve: Person, project: Json, sqlite: Store
) -> None:
    await join(ada, project, eve, sqlite, role="viewer")
    await ada.page.goto(members_page(project))
    await a_role_is_changed_also_in_an_environment_and_the_change_is_listed(ada, eve, project)
    await ownership_is_transferred_and_the_former_owner_leaves(ada, eve, project)


async def test_a_member_is_removed_and_no_longer_sees_the_project(
    ada: Person, eve: Person, project: Json, sqlite: Store
) -> None:
    await join(ada, project, eve, sqlite, role="editor")
    await ada.page.goto(members_page(project))
    await ada.press(f"Remove {eve.email}")
    await ada.page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    await expect(row(ada, eve.email)).to_have_count(0)
    await expect(ada.page.get_by_role("button", name="Invite")).to_be_focused()
    await eve.page.goto(members_page(project))
    await eve.sees_heading("Page not found")
