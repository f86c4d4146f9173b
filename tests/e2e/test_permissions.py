"""Controls that a role does not allow are disabled on every page and say why, as the table of permissions says."""

import asyncio
import re
from typing import Any
from uuid import uuid4

import pytest
import pytest_asyncio
from playwright.async_api import Request, Route, expect

from flagstaff.permissions.members import Member, Role
from flagstaff.permissions.permissions import PERMISSIONS, Permission, may
from tests.e2e.accessibility import AXE, VARIANTS, check
from tests.e2e.controls import PRESS_ALL, flags_page, open_page, pages, required_by, turn_to, use
from tests.e2e.people import PASSWORD, Person, flag_page, invite
from tests.support.api import Json
from tests.support.builders import AT
from tests.support.sdk_keys import create_key
from tests.support.stores import Store

VIEWER: Json = {"role": "viewer"}
EDITOR_OF_STAGING: Json = {"role": "viewer", "environments": {"staging": "editor"}}
ADMIN: Json = {"role": "admin"}
# POST operations that only read, and what everyone may do.
READING = ("/explain", "/answers", "/impact")
OF_EVERYONE = "Leave the project"
FAVOURITES = "/favourites/"
RESTORE = "restore"
RESTORING = {"flags:write", "flags:toggle", "rules:write", "segments:write"}
# Everyone may filter, choose a view, comment and subscribe.
FOR_EVERYONE = ("Filters", "No saved views yet.", "Comments on a change", "Get emails about changes")

# The permissions of controls that every role sees, disabled or not.
SHOWN_TO_EVERYONE = PERMISSIONS[Role.OWNER] & {
    Permission(f"{name}:write")
    for name in ("flags", "rules", "segments", "environments", "project", "members", "tokens", "webhooks")
} | {Permission.KEYS_ROTATE, Permission.PROJECT_DELETE}


@pytest_asyncio.fixture(loop_scope="session")
async def project(ada: Person) -> Json:
    """A project of ada's with resources of every kind in two environments."""
    project = await ada.api.create_project(name="Web shop")
    await ada.api.create_segment(project)
    project["flags"] = []
    for key in ("production", "staging"):
        environment = await ada.api.get_environment(project, key)
        await ada.api.create_flag(environment, key="needed", name="Needed")
        flag = await ada.api.create_flag(environment, variants=VARIANTS, prerequisites=[{"flag_key": "needed"}])
        for value in ("ada", "grace"):
            await ada.api.create_rule(flag, rule_value=value)
        project["flags"].append(flag)
        archived = await ada.api.create_flag(environment, key="archived", name="Archived")
        (await ada.api.post(f"/api{flag_page(archived)}/archive")).raise_for_status()
    await ada.api.post(
        f"/api/projects/{project['id']}/invitations", json={"email": "grace@example.com", "role": "viewer"}
    )
    token = {"name": "Deployments", "permissions": ["flags:read"], "current_password": PASSWORD}
    (await ada.api.post(f"/api/projects/{project['id']}/tokens", json=token)).raise_for_status()
    for key in ("production", "staging"):
        await create_key(ada.api, project, environment=key, name=f"Shop in {key}")
    return project


async def join(ada: Person, project: Json, eve: Person, sqlite: Store, roles: Json) -> Member:
    """Make eve a member."""
    token = await invite(ada, project, eve.email, sqlite.data_directory, **roles)
    (await eve.api.post("/api/invitations/accept", json={"token": token})).raise_for_status()
    environments = {key: Role(each) for key, each in roles.get("environments", {}).items()}
    return Member(uuid4(), uuid4(), eve.email, Role(roles["role"]), environments, AT)


def check_controls(controls: list[Any], member: Member, path: str, environment: str | None) -> set[str]:
    """Check that a page's controls are disabled as the table says; return the permissions that they need."""
    for each in controls:
        place = each["within"] if path.endswith(("/flags", "settings", "sdk-keys", "audit")) else environment
        assert each["within"] == place, (path, each)
        allowed = may(member, Permission(each["needs"]), place)
        assert (each["reason"] is None) is allowed, (path, each)
        if not allowed:
            assert each["disabled"], (path, each)
            assert f"requires the permission {each['needs']} in the " in each["reason"], (path, each)
    return {each["needs"] for each in controls}


@pytest.mark.parametrize("roles", [EDITOR_OF_STAGING, ADMIN], ids=["editor of staging", "admin"])
async def test_each_control_is_disabled_as_the_table_says_and_names_the_permission(
    ada: Person, eve: Person, project: Json, sqlite: Store, roles: Json
) -> None:
    member = await join(ada, project, eve, sqlite, roles)
    seen: set[str] = set()
    await eve.page.goto("/")
    for path, environment in pages(project):
        seen |= check_controls(await turn_to(eve, path), member, path, environment)
    assert seen >= SHOWN_TO_EVERYONE


async def test_each_page_of_a_viewer_is_accessible_and_no_control_writes_or_opens_a_form(
    ada: Person, eve: Person, project: Json, sqlite: Store
) -> None:
    member = await join(ada, project, eve, sqlite, VIEWER)
    await eve.context.grant_permissions(["clipboard-write"])  # the headless shell does not grant this by itself
    seen: set[str] = set()
    written: list[str] = []

    def note(request: Request) -> None:
        if request.method != "GET" and not request.url.endswith(READING) and FAVOURITES not in request.url:
            written.append(f"{request.method} {request.url}")

    eve.page.on("request", note)
    await eve.page.goto("/")
    for path, environment in pages(project):
        if environment == "staging":
            continue  # the same controls as in production
        seen |= check_controls(await turn_to(eve, path), member, path, environment)
        if AXE.is_file():
            await check(eve, f"{path} for a viewer")
        found = await eve.page.evaluate(PRESS_ALL, OF_EVERYONE)
        opened = [text for text in found["opened"] if not text.startswith(FOR_EVERYONE)]
        assert (opened, written) == ([], []), path
    assert seen >= SHOWN_TO_EVERYONE
    await eve.page.goto(flags_page(project))
    await eve.page.get_by_role("link", name="Needed").focus()
    for key in ("Space", "j", "Space"):
        await eve.page.keyboard.press(key)
    switch = eve.page.get_by_role("switch").first
    await switch.focus()
    await eve.page.keyboard.press("Space")
    await expect(eve.page.get_by_role("tooltip")).to_contain_text("requires the permission flags:write")
    await expect(switch).to_have_attribute("aria-checked", "true")
    assert written == []


async def test_each_control_names_the_permission_that_the_server_requires(ada: Person, project: Json) -> None:
    sent: list[str] = []

    async def stop(route: Route) -> None:
        if route.request.method == "GET" or route.request.url.endswith("/answers"):  # a page sends this by itself
            await route.fallback()
            return
        sent.append(RESTORE if "/restore" in route.request.url else required_by(route.request))
        await route.abort()

    await ada.page.route("**/api/**", stop)
    await ada.page.goto("/")
    used: set[tuple[str, str, str]] = set()
    for path, environment in pages(project):
        if environment == "staging":
            continue  # the same controls as in production
        controls, is_untouched = await turn_to(ada, path), True
        for place, control in enumerate(controls):
            same = (path.partition("?")[0], control["needs"], control["name"])
            if same in used:
                continue  # the tabs of a flag share the head of its page
            used.add(same)
            choice, choices = 0, 0 if control["disabled"] or control["barred"] else 1
            while choice < choices:
                if not is_untouched:
                    await turn_to(ada, path)
                is_untouched = False
                choices = await use(ada.page, place, choice, sent)
                expected = {"owners:write": "members:write"}.get(control["needs"], control["needs"])
                # What a restore requires depends on what is put back.
                assert set(sent) == ({RESTORE} if RESTORE in sent and expected in RESTORING else {expected}), (
                    path,
                    control,
                )
                sent.clear()
                choice += 1


async def test_a_role_that_is_lost_while_a_form_is_open_ends_in_a_message(
    ada: Person, eve: Person, project: Json, sqlite: Store
) -> None:
    await join(ada, project, eve, sqlite, {"role": "editor"})
    path = flags_page(project)
    await open_page(eve.page, path)
    await eve.press("New flag")
    dialog = eve.page.get_by_role("dialog")
    await dialog.get_by_label("Name").fill("Search")
    members = f"/api/projects/{project['id']}/members"
    eve_id = (await eve.api.get("/api/me")).json()["user_id"]
    (await ada.api.put(f"{members}/{eve_id}", json={"role": "viewer"})).raise_for_status()
    await dialog.get_by_role("button", name="Create flag").click()
    await expect(dialog.get_by_role("alert")).to_contain_text("This requires the permission flags:write")
    await eve.page.keyboard.press("Escape")
    await expect(dialog).to_have_count(0)
    button = eve.page.get_by_role("button", name="New flag")
    await expect(button).to_be_focused()
    await expect(button).to_have_attribute("aria-disabled", "true")
    (await ada.api.put(f"{members}/{eve_id}", json={"role": "editor"})).raise_for_status()
    await eve.without_events()  # an event would tell the page before the click
    await open_page(eve.page, path)
    has_clicked = asyncio.Event()

    async def read_after_the_click(route: Route) -> None:
        if route.request.method == "GET":
            await has_clicked.wait()
        await route.continue_()

    await eve.page.route("**/api/**", read_after_the_click)  # without events, the page asks every few seconds
    (await ada.api.delete(f"{members}/{eve_id}")).raise_for_status()
    await eve.page.get_by_role("switch").first.click()
    has_clicked.set()
    await eve.sees_heading("Page not found")


async def test_what_a_role_does_not_show_is_said_in_words_and_the_settings_cannot_be_edited(
    ada: Person, eve: Person, project: Json, sqlite: Store
) -> None:
    await join(ada, project, eve, sqlite, VIEWER)
    await open_page(eve.page, f"/projects/{project['id']}/sdk-keys")
    await eve.sees("This requires the permission keys:read in the whole project")
    await eve.sees("Your role does not allow you to see this key. This requires the permission keys:read")
    await open_page(eve.page, f"/projects/{project['id']}/settings")
    await expect(eve.page.get_by_role("textbox", name="Name")).to_have_attribute("readonly", "")
    await eve.page.get_by_role("textbox", name="Name").press("Enter")
    save = eve.page.get_by_role("button", name="Save")
    await save.focus()
    await expect(eve.page.get_by_role("tooltip")).to_contain_text("requires the permission project:write")
    await eve.page.keyboard.press("Enter")
    assert project["name"] == (await ada.api.get(f"/api/projects/{project['id']}")).json()["name"]
    await open_page(eve.page, f"/projects/{project['id']}/tokens")
    await eve.sees("This requires the permission tokens:read in the whole project")


async def test_an_admin_of_one_environment_manages_its_sdk_keys_only(
    ada: Person, eve: Person, project: Json, sqlite: Store
) -> None:
    roles = {"role": "viewer", "environments": {"staging": "admin", "production": "editor"}}
    await join(ada, project, eve, sqlite, roles)
    await open_page(eve.page, f"/projects/{project['id']}/sdk-keys")
    barred = eve.page.get_by_role("button", name="Revoke Shop in production")
    await expect(barred).to_have_attribute("aria-disabled", "true")
    await barred.focus()
    await expect(eve.page.get_by_role("tooltip")).to_contain_text("requires the permission keys:rotate in the")
    await eve.press("New SDK key")
    dialog = eve.page.get_by_role("dialog")
    await expect(dialog.get_by_label("Environment").get_by_role("option")).to_have_text(["Staging"])
    await dialog.get_by_role("textbox", name="Name").fill("Mine")
    await dialog.get_by_role("button", name="Create SDK key").click()
    await dialog.get_by_role("button", name="Done").click()
    await expect(eve.page.get_by_role("list", name="SDK keys").get_by_role("listitem")).to_have_count(3)
    await eve.press("Revoke Mine")
    await dialog.get_by_role("button", name="Revoke").click()
    await expect(eve.page.get_by_role("list", name="SDK keys").get_by_role("listitem")).to_have_count(2)


async def test_a_call_is_offered_with_the_own_token_only_to_those_whom_the_server_allows_it(
    ada: Person, eve: Person, project: Json, sqlite: Store
) -> None:
    await join(ada, project, eve, sqlite, EDITOR_OF_STAGING)
    for flag, is_allowed in zip(project["flags"], (False, True), strict=True):
        await open_page(eve.page, flag_page(flag))
        await eve.press("Set the rollout")
        copying = eve.page.get_by_role("button", name="Copy with my token")
        if is_allowed:
            await expect(copying).not_to_have_attribute("aria-disabled", "true")
        else:
            await expect(copying).to_have_attribute("aria-disabled", "true")
            reason = re.compile("requires the permission flags:write")
            await expect(copying).to_have_attribute("aria-description", reason)


async def test_the_roles_are_shown_as_a_table(ada: Person, project: Json) -> None:
    await ada.page.goto(f"/projects/{project['id']}/members")
    await ada.press("What each role may do")
    table = ada.page.get_by_role("region", name="What each role may do")
    await expect(table.get_by_role("columnheader")).to_have_text(["Permission", "Owner", "Admin", "Editor", "Viewer"])
    rows = table.get_by_role("row")
    assert await rows.locator("code").all_inner_texts() == list(Permission)
    for permission in Permission:
        row = rows.filter(has=ada.page.get_by_text(permission, exact=True))
        words = ["Yes" if permission in PERMISSIONS[role] else "No" for role in Role]
        await expect(row.get_by_role("cell")).to_have_text(words)
