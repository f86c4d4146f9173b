"""The pages for administrators: accounts, projects, the instance, its settings and its changes."""

import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest_asyncio
from playwright.async_api import Locator, Route, expect

from tests.e2e.accessibility import UNBROKEN, check, check_in_both_schemes, stays_within
from tests.e2e.conftest import UNLIMITED
from tests.e2e.contexts import Contexts
from tests.e2e.keyboard import Keyboard
from tests.e2e.people import PASSWORD, Person
from tests.e2e.second_factors import enrol_app
from tests.support.api import Json
from tests.support.server import ServerProcess
from tests.support.stores import sqlite_store

ACCOUNTS = "/admin/accounts"
PAGES = (
    ACCOUNTS,
    *(f"/admin/{each}" for each in ("projects", "instance", "instances", "settings", "webhooks", "changes")),
)


@pytest_asyncio.fixture(loop_scope="session")
async def server(chromium: str, sqlite_template: Path, data_directory: Path) -> AsyncIterator[ServerProcess]:
    """A fresh server, whose first account is its administrator."""
    async with ServerProcess(sqlite_store(sqlite_template, data_directory), UNLIMITED) as started:
        yield started


@pytest_asyncio.fixture(loop_scope="session")
async def eve(ada: Person, contexts: Contexts, people: AsyncExitStack) -> Person:
    """Another person with an account, who is not an administrator."""
    eve = await people.enter_async_context(Person(contexts, ada.url))
    eve.email = eve.email.replace("ada", "eve")
    await eve.sign_up()
    return eve


async def account_of(ada: Person, person: Person) -> Json:
    """Return a person's account, as administrators see it."""
    listed = (await ada.api.get("/api/admin/accounts")).json()
    (found,) = [each for each in listed if each["email"] == person.email]
    return found


async def account_page(ada: Person, person: Person) -> str:
    """Return the path of the page about a person's account."""
    return f"{ACCOUNTS}/{(await account_of(ada, person))['id']}"


def states(person: Person) -> Locator:
    """Return the badges of the shown account."""
    return person.page.get_by_role("list", name="State").get_by_role("listitem")


async def test_whoever_is_no_administrator_is_told_so_and_offered_nothing(eve: Person) -> None:
    await eve.page.goto("/admin")
    for path in ("/admin", *PAGES):
        await eve.turn_to(path)
        await eve.sees_heading("Only for administrators")
        links = eve.page.get_by_role("navigation", name="Sections").get_by_role("link")
        await expect(links).to_have_text(["All projects", "Your account", "Your access tokens"])
    await check(eve, "a page for administrators")
    await eve.press("Account")
    await expect(eve.page.get_by_role("menuitem", name="Sign out")).to_be_visible()
    await expect(eve.page.get_by_role("menuitem", name="Administration")).to_have_count(0)
    await eve.page.keyboard.press("Escape")
    await eve.page.keyboard.press("ControlOrMeta+k")
    await expect(eve.page.get_by_label("Command palette").last).to_be_focused()
    await eve.page.keyboard.type("appearance")
    await eve.sees("Use light appearance")
    await eve.page.get_by_label("Command palette").last.fill("administration")
    await eve.sees("Nothing found")


async def test_nobody_deactivates_or_demotes_their_own_account(ada: Person) -> None:
    await ada.page.goto(await account_page(ada, ada))
    for name in ("Remove as administrator", "Deactivate", "Delete account"):
        button = ada.page.get_by_role("button", name=name)
        await expect(button).to_have_attribute("aria-disabled", "true")
        await button.focus()
        await expect(button).to_have_accessible_description(re.compile(r"^This is your own account\."))
        await ada.page.keyboard.press("Enter")
    await expect(ada.page.get_by_role("dialog")).to_have_count(0)
    await ada.page.goto(f"{ACCOUNTS}/00000000-0000-7000-8000-000000000000")
    await ada.sees_heading("Page not found")


async def test_an_account_is_deleted_once_its_projects_have_another_owner(ada: Person, eve: Person) -> None:
    project = (await eve.api.post("/api/projects", json={"name": "Shop"})).json()
    await ada.page.goto(await account_page(ada, eve))
    await ada.press("Delete account")
    dialog = ada.page.get_by_role("dialog")
    confirm = dialog.get_by_role("button", name="Delete account")
    await expect(confirm).to_be_disabled()
    await dialog.get_by_role("textbox").fill(eve.email)
    await check(ada, "the deletion of an account")
    await ada.page.keyboard.press("Enter")
    await expect(dialog.get_by_role("alert")).to_contain_text(f"Shop ({project['id']})")
    assert (await eve.api.delete(f"/api/projects/{project['id']}")).status_code == 204
    await confirm.click()
    await ada.sees_heading("Accounts")
    await ada.sees(f"{eve.email} has been deleted.")
    await expect(ada.page.get_by_role("list", name="Accounts").get_by_role("link")).to_have_count(1)
    assert (await eve.api.get("/api/me")).status_code == 401


async def test_the_owner_deletes_an_account_with_the_password(ada: Person, eve: Person) -> None:
    await eve.page.goto("/account")
    section = eve.page.get_by_role("region", name="Delete account")
    await section.get_by_role("button", name="Delete account").click()
    dialog = eve.page.get_by_role("dialog")
    await expect(dialog.get_by_label("Current password")).to_be_focused()
    await eve.page.keyboard.type("wrong")
    await eve.page.keyboard.press("Enter")
    await expect(dialog).to_contain_text("Is not your current password")
    await dialog.get_by_label("Current password").fill(PASSWORD)
    await eve.page.keyboard.press("Enter")
    await eve.sees_heading("Sign in")
    assert len((await ada.api.get("/api/admin/accounts")).json()) == 1


async def test_an_account_is_found_deactivated_and_reactivated(ada: Person, eve: Person) -> None:
    await ada.page.goto("/")
    await ada.press("Account")
    await ada.page.get_by_role("menuitem", name="Administration").click()
    await ada.sees_heading("Accounts")
    rows = ada.page.get_by_role("list", name="Accounts").get_by_role("link")
    await expect(rows).to_have_count(2)
    await ada.page.get_by_role("searchbox", name="Search by email").fill("nobody")
    await ada.sees("No account's email contains “nobody”.")
    await ada.page.get_by_role("searchbox", name="Search by email").fill("EVE-")
    await expect(rows).to_have_count(1)
    await expect(ada.page).to_have_url(f"{ada.url}{ACCOUNTS}?q=EVE-")
    await rows.click()
    await ada.sees_heading(eve.email)

    await ada.press("Deactivate")
    dialog = ada.page.get_by_role("dialog")
    await expect(dialog).to_contain_text("Its projects and memberships stay, and SDK keys keep working.")
    await dialog.get_by_role("button", name="Deactivate").click()
    await expect(states(ada)).to_have_text(["Deactivated"])
    await ada.sees("This account has no open session.")
    assert (await eve.api.get("/api/me")).status_code == 401
    await expect(dialog).to_be_hidden()  # until then, its button has the new name as well
    await ada.press("Reactivate")
    await dialog.get_by_role("button", name="Reactivate").click()
    await expect(states(ada)).to_have_count(0)
    assert (await account_of(ada, eve))["active"] is True


async def test_an_account_is_promoted_and_its_session_ended_by_keyboard(ada: Person, eve: Person) -> None:
    keyboard, dialog = Keyboard(ada.page), ada.page.get_by_role("dialog")
    await ada.page.goto(await account_page(ada, eve))
    await ada.sees_heading(eve.email)
    await keyboard.use(ada.page.get_by_role("button", name="Make administrator"))
    await expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    await keyboard.use(dialog.get_by_role("button", name="Make administrator"))
    await expect(states(ada)).to_have_text(["Administrator"])
    await expect(dialog).to_be_hidden()  # until then, its button has the new name as well
    await expect(ada.page.get_by_role("button", name="Remove as administrator")).to_be_focused()
    assert (await eve.api.get("/api/admin/accounts")).status_code == 200
    await keyboard.use(ada.page.get_by_role("button", name="End the session"))
    await keyboard.use(dialog.get_by_role("button", name="End", exact=True))
    await ada.sees("This account has no open session.")
    await expect(ada.page.get_by_role("heading", name="Sessions")).to_be_focused()
    assert (await eve.api.get("/api/me")).status_code == 401


async def test_a_project_is_joined_by_keyboard_and_opened(ada: Person, eve: Person) -> None:
    project = await eve.api.create_project(name="Web shop")
    keyboard, dialog = Keyboard(ada.page), ada.page.get_by_role("dialog")
    await ada.page.goto("/admin/projects")
    await keyboard.write(ada.page.get_by_role("searchbox", name="Search by name"), "shop")
    await keyboard.use(ada.page.get_by_role("button", name="Join Web shop"))
    await expect(dialog).to_contain_text("The project's audit trail shows that you joined")
    await expect(dialog.get_by_label("Role in the project")).to_be_focused()
    await dialog.get_by_label("Role in the project").select_option("editor")
    await check(ada, "joining a project")
    await keyboard.use(dialog.get_by_role("button", name="Join project"))
    await expect(ada.page.get_by_role("listitem").filter(has_text="Web shop")).to_contain_text("You: Editor")
    await expect(ada.page.get_by_role("link", name="Open Web shop")).to_be_focused()
    await keyboard.press("Enter")
    await ada.sees_heading("Overview")
    members = (await eve.api.get(f"/api/projects/{project['id']}/members")).json()
    assert {each["email"]: each["role"] for each in members} == {eve.email: "owner", ada.email: "editor"}


async def test_many_projects_are_shown_in_parts(ada: Person) -> None:
    for number in range(51):
        await ada.api.create_project(name=f"Project {number}")
    await ada.page.goto("/admin/projects")
    rows = ada.page.get_by_role("list", name="Projects").get_by_role("listitem")
    await expect(rows).to_have_count(50)
    await ada.press("Show more")
    await expect(rows).to_have_count(51)
    await ada.sees("There are no more entries.")


async def test_the_trail_of_a_deleted_project_is_deleted_by_keyboard(ada: Person, eve: Person) -> None:
    keyboard, dialog = Keyboard(ada.page), ada.page.get_by_role("dialog")
    for name in ("Web shop", "Other"):
        project = await eve.api.create_project(name=name)
        await eve.api.create_flag(await eve.api.get_environment(project))
        (await eve.api.delete(f"/api/projects/{project['id']}")).raise_for_status()
    await ada.page.goto("/admin/projects")
    rows = ada.page.get_by_role("list", name="Deleted projects").get_by_role("listitem")
    await expect(rows).to_have_count(2)
    await keyboard.use(ada.page.get_by_role("button", name="Delete audit trail of Web shop"))
    await expect(dialog).to_contain_text("This cannot be undone.")
    await expect(dialog.get_by_role("button", name="Delete audit trail")).to_be_disabled()
    await keyboard.press("Escape")
    await expect(ada.page.get_by_role("button", name="Delete audit trail of Web shop")).to_be_focused()
    await keyboard.press("Enter")
    await check_in_both_schemes(ada, "deleting a trail")
    await keyboard.write(dialog.get_by_label("Type the name to confirm"), "Web shop")
    await keyboard.press("Enter")
    await expect(rows).to_have_count(1)
    await expect(rows).to_contain_text("Other")
    await expect(ada.page.get_by_role("heading", name="Deleted projects")).to_be_focused()
    changes = (await ada.api.get("/api/admin/changes")).json()["items"]
    assert [each["resource_id"] for each in changes if each["action"] == "instance.trail_deleted"] != []
    await ada.turn_to("/admin/changes")
    await ada.sees("ordered to delete the audit trail of a deleted project")


async def test_settings_are_changed_and_only_who_has_a_second_factor_requires_one(ada: Person, eve: Person) -> None:
    await ada.page.goto("/admin/settings")
    registration = ada.page.get_by_role("region", name="Registration")
    await expect(registration).to_contain_text("FLAGSTAFF_REGISTRATION currently sets this. Open")
    await registration.get_by_label("Registration").select_option("closed")
    await registration.get_by_role("button", name="Save").click()
    await expect(registration).to_contain_text("An administrator has set this.")
    second_factor = ada.page.get_by_role("region", name="Second factor")
    await expect(second_factor).to_contain_text("Your account has none, so you cannot require one.")
    await expect(second_factor.locator("option[value=on]")).to_be_disabled()

    await enrol_app(ada)
    await ada.page.reload()
    await expect(second_factor.locator("option[value=on]")).to_be_enabled()
    await second_factor.get_by_role("combobox").select_option("on")
    await second_factor.get_by_role("button", name="Save").click()
    await expect(second_factor).to_contain_text("An administrator has set this.")
    assert (await eve.api.get("/api/projects")).status_code == 403

    await ada.page.get_by_role("navigation").get_by_role("link", name="Changes", exact=True).click()
    changes = ada.page.get_by_role("main").get_by_role("listitem")
    await expect(changes.nth(0)).to_contain_text("Second factor requiredBefore Off → After On")
    await expect(changes.nth(2)).to_contain_text("RegistrationBefore open → After closed")
    await ada.page.goto("/account")
    await ada.press("Changes to your account")
    await expect(changes.filter(has_text="added an authenticator app to")).to_be_visible()
    await expect(changes.filter(has_text="changed the settings")).to_have_count(0)


async def test_a_setting_that_another_administrator_has_changed_is_not_put_back(ada: Person) -> None:
    await ada.without_events()
    await ada.page.goto("/admin/settings")
    registration = ada.page.get_by_role("region", name="Registration")
    await expect(registration.get_by_label("Registration")).to_be_visible()
    await ada.api.put("/api/admin/settings", json={"registration": "closed"})
    await registration.get_by_label("Registration").select_option("open")
    await registration.get_by_role("button", name="Save").click()
    await expect(registration.get_by_role("alert")).to_contain_text("has been changed since you read it")
    assert (await ada.api.get("/api/admin/settings")).json()["registration"] == "closed"


async def test_the_palette_leads_to_the_state_of_the_instance(ada: Person) -> None:
    await ada.page.goto("/")
    await ada.sees_heading("Create your first project")
    await ada.page.keyboard.press("ControlOrMeta+k")
    await expect(ada.page.get_by_label("Command palette").last).to_be_focused()
    await ada.page.keyboard.type("instance")
    await ada.sees("Administration: Instance")
    await ada.page.keyboard.press("Enter")
    await ada.sees_heading("Instance")
    await expect(ada.page.get_by_role("region", name="Overview")).to_contain_text("DatabaseSQLite")
    await expect(ada.page.get_by_role("region", name="Quotas")).to_contain_text("Projects per account1,000")
    await expect(ada.page.get_by_role("main").get_by_role("alert")).to_contain_text("Ready")


async def test_axe_finds_nothing_and_no_page_is_wider_than_the_narrowest_phone(ada: Person, eve: Person) -> None:
    await eve.api.create_project(name=UNBROKEN)
    account = await account_page(ada, eve)
    await ada.api.put(f"/api{account}", json={"administrator": True})
    await ada.page.goto("/")
    for scheme, width in (("light", 1280), ("dark", 320)):
        await ada.page.set_viewport_size({"width": width, "height": 640})
        await ada.page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        for path in (*PAGES, account):
            await ada.turn_to(path)
            await stays_within(ada)
            await check(ada, f"{path} ({scheme})")
        await ada.press("Deactivate")
        await expect(ada.page.get_by_role("dialog")).to_be_visible()
        await stays_within(ada)
        await check(ada, f"deactivating ({scheme})")
        await ada.page.keyboard.press("Escape")


def instance(name: str, lease: Json, **differs: object) -> Json:
    """Return an instance as the API describes it."""
    load = {
        "evaluations_per_second": 1234.5,
        "cpu": 0.42,
        "event_loop_lag_seconds": 0.003,
        "connections": 120,
        "streams": 18,
        "memory_bytes": 96_000_000,
    }
    known: Json = {
        "version": "1.0.0",
        "started_at": "2026-11-20T10:00:00Z",
        "workers": 1,
        "change": 4711,
        "changes_behind": 0,
        "seconds_behind": 0,
        "answered": False,
        "same_secret_key": True,
        "load": load,
    }
    return {"id": name, "name": name, "lease": lease, **known, **differs}


LIVE = {"state": "live", "expires_in_seconds": 2.4}
TROUBLED = [
    instance("flags-1.example.com:8000", LIVE, answered=True),
    instance("flags-2.example.com:8000", LIVE, change=4709, changes_behind=2, seconds_behind=75),
    instance("flags-3.example.com:8000", {"state": "lapsed", "expires_in_seconds": -4000}),
    instance("flags-4.example.com:8000", LIVE, same_secret_key=False),
    instance("former:8000", LIVE, load=None, change=None, changes_behind=None, seconds_behind=None, workers=None),
]


async def test_instances_that_need_attention_are_named_with_the_reason(ada: Person) -> None:
    page = ada.page
    answers: list[tuple[int, Any]] = [(200, TROUBLED)]

    async def answer(route: Route) -> None:
        status, body = answers[-1]
        await route.fulfill(status=status, json=body)

    await page.goto("/admin/instances")
    rows = page.get_by_role("list", name="Instances").get_by_role("listitem")
    await expect(rows).to_have_count(1)
    await expect(rows).to_contain_text("Serves alone")
    await page.route("**/api/instances", answer)
    await expect(rows).to_have_count(5)  # without a reload
    await expect(page.get_by_role("status").filter(has_text="3 of 5 instances need attention.")).to_be_visible()
    await expect(rows.nth(1)).to_contain_text("changes up to 4,709; 2 changes behind, for 75 s")
    await expect(rows.nth(2)).to_contain_text("Its lease has lapsed")
    await expect(rows.nth(3)).to_contain_text("Its secret key differs")
    await expect(rows.nth(4)).to_contain_text("It has not reported its load.")
    for scheme in ("dark", "light"):
        await page.emulate_media(color_scheme=scheme)
        await check(ada, f"instances that need attention ({scheme})")
    await stays_within(ada)
    answers.append((200, []))
    await ada.sees("No instance is known")
    answers.append((503, {"title": "Unavailable", "status": 503, "detail": "The database cannot be reached."}))
    await ada.sees("The database cannot be reached.")
    await page.unroute("**/api/instances")
    await ada.press("Try again")
    await expect(rows).to_have_count(1)


async def test_webhooks_of_the_instance_are_made_and_deleted(ada: Person) -> None:
    dialog = ada.page.get_by_role("dialog")
    await ada.page.goto("/admin/webhooks")
    await ada.press("New webhook")
    await dialog.get_by_label("URL").fill("https://hooks.example.com/flags")
    await expect(dialog.get_by_label("Environments")).to_have_count(0)
    await dialog.get_by_role("combobox", name="Events").fill("instance.lagging")
    await ada.page.keyboard.press("Enter")
    await dialog.get_by_role("button", name="Create webhook").click()
    await dialog.get_by_role("button", name="Done").click()
    row = ada.page.get_by_role("list", name="Webhooks", exact=True).get_by_role("listitem")
    await expect(row).to_contain_text("instance.lagging")
    await check_in_both_schemes(ada, "webhooks of the instance")
    (webhook,) = (await ada.api.get("/api/admin/webhooks")).json()
    assert webhook["events"][-1] == "instance.lagging"
    await row.get_by_role("button", name="Actions for the webhook").click()
    await ada.page.get_by_role("menuitem", name="Delete").click()
    await dialog.get_by_role("textbox").fill("hooks.example.com")
    await dialog.get_by_role("button", name="Delete").click()
    await ada.sees("No webhooks yet")
