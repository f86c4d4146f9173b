"""Access tokens in the dashboard, one's own and those for a project: creating, using, listing and revoking them."""

import shlex
from datetime import UTC, datetime, timedelta

import httpx
import pytest_asyncio
from playwright.async_api import Locator, expect

from flagstaff.projects.access_tokens.access_tokens import is_token
from tests.e2e.accessibility import AXE, UNBROKEN, check, stays_within
from tests.e2e.people import PASSWORD, Person
from tests.support.api import Json
from tests.support.clients import open_client

OWN = "/account/tokens"


@pytest_asyncio.fixture(loop_scope="session")
async def project(ada: Person) -> Json:
    """A project of ada's."""
    return await ada.api.create_project(name="Web shop")


def tokens_page(project: Json) -> str:
    """Return the path of the page of a project's tokens."""
    return f"/projects/{project['id']}/tokens"


def row(ada: Person, name: str) -> Locator:
    """Return a token's row in the list."""
    return ada.page.get_by_role("list", name="Access tokens").get_by_role("listitem").filter(has_text=name)


async def send(command: str) -> httpx.Response:
    """Send a shown curl call."""
    _, _, url, _, header = shlex.split(command)
    name, _, value = header.partition(": ")
    async with open_client(timeout=30) as client:
        return await client.get(url, headers={name: value})


async def test_what_is_missing_or_past_is_refused_at_its_field(ada: Person, project: Json) -> None:
    dialog = ada.page.get_by_role("dialog")
    for path in (OWN, tokens_page(project)):
        await ada.page.goto(path)
        await ada.sees("No access tokens yet")
        await ada.press("New token")
        await dialog.get_by_role("button", name="Create token").click()
        await expect(dialog.get_by_role("textbox", name="Name")).to_have_attribute("aria-invalid", "true")
        await expect(dialog.get_by_role("textbox", name="Name")).to_be_focused()
        await expect(dialog).to_contain_text("Must have at least one permission")
        await dialog.get_by_role("textbox", name="Name").fill("Deployments")
        await dialog.get_by_role("button", name="Read only").click()
        await dialog.get_by_label("Expiry").select_option("On a date")
        await dialog.get_by_role("button", name="Create token").click()
        await expect(dialog).to_contain_text("Choose the last day on which the token works")
        await expect(dialog.get_by_label("Last day")).to_be_focused()
        await dialog.get_by_label("Last day").fill("20000-01-01")
        await dialog.get_by_role("button", name="Create token").click()
        await expect(dialog.get_by_label("Last day")).to_be_focused()
        await expect(dialog).to_contain_text("Choose the last day on which the token works")
        await dialog.get_by_label("Last day").fill("2020-01-01")
        await dialog.get_by_role("button", name="Create token").click()
        await expect(dialog).to_contain_text("Is required, or the code of your authenticator app")
        await dialog.get_by_label("Current password").fill(PASSWORD)
        await dialog.get_by_role("button", name="Create token").click()
        await expect(dialog).to_contain_text("Must be in the future")
        await expect(dialog.get_by_label("Last day")).to_have_attribute("aria-invalid", "true")
        assert (await ada.api.get(api_of(path))).json() == []


def api_of(path: str) -> str:
    """Return the path in the API of a page's tokens."""
    return "/api/me/tokens" if path == OWN else f"/api{path}"


async def test_a_full_account_is_told_what_to_do(ada: Person) -> None:
    body = {"name": "One of many", "permissions": ["flags:read"], "current_password": PASSWORD}
    while (await ada.api.post("/api/me/tokens", json=body)).status_code == 201:
        pass
    await ada.page.goto(OWN)
    await ada.press("New token")
    dialog = ada.page.get_by_role("dialog")
    await dialog.get_by_role("textbox", name="Name").fill("One too many")
    await dialog.get_by_role("button", name="Switch flags").click()
    await dialog.get_by_label("Current password").fill(PASSWORD)
    await dialog.get_by_role("button", name="Create token").click()
    await expect(dialog.get_by_role("alert")).to_contain_text("Delete access tokens that are no longer used")
    await expect(dialog.get_by_role("button", name="Create token")).to_be_focused()


async def test_a_token_is_made_by_keyboard_shown_once_used_and_revoked(ada: Person) -> None:
    page, dialog = ada.page, ada.page.get_by_role("dialog")
    await page.goto("/account")
    await page.get_by_role("main").get_by_role("link", name="Your access tokens").press("Enter")
    await ada.sees_heading("Your access tokens")
    await page.get_by_role("button", name="New token").press("Enter")
    await expect(dialog.get_by_role("textbox", name="Name")).to_be_focused()
    await page.keyboard.type("Backup")
    await dialog.get_by_role("button", name="CI: change flags").press("Enter")
    await expect(dialog.get_by_label("Turn flags on and off")).to_be_checked()
    await dialog.get_by_label("See the evaluation history").press("Space")
    await dialog.get_by_label("Expiry").select_option("Never")
    await expect(dialog.get_by_role("status").filter(has_text="Choose an expiry")).to_be_visible()
    await dialog.get_by_label("Current password").fill(PASSWORD)
    await dialog.get_by_role("button", name="Create token").press("Enter")
    await expect(dialog.get_by_text("This is the only time that the token Backup is shown.")).to_be_focused()
    secret = await dialog.get_by_role("region", name="The new token").inner_text()
    assert is_token(secret)
    await page.keyboard.press("Escape")  # it does not close by accident, because the token is shown only once
    await expect(dialog.get_by_role("button", name="Close")).to_have_count(0)
    answer = await send(await dialog.get_by_role("region", name="Try it").inner_text())
    assert answer.json() == []
    await page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    assert await ada.copy(dialog.get_by_role("button", name="Copy token"), "Enter") == secret
    await dialog.get_by_role("button", name="Done").press("Enter")
    await expect(dialog).to_have_count(0)
    await expect(page.get_by_role("button", name="New token")).to_be_focused()
    assert secret not in await page.content()
    await expect(row(ada, "Backup")).to_contain_text("Create, change and delete rules. See the evaluation history.")
    await expect(row(ada, "Backup")).to_contain_text("Never expires · Never used")
    await page.get_by_role("button", name="Revoke Backup").press("Enter")
    await expect(dialog).to_contain_text("Everything that uses this token immediately gets a 401.")
    await dialog.get_by_role("button", name="Revoke").press("Enter")
    await ada.sees("No access tokens yet")
    await expect(page.get_by_role("button", name="New token")).to_be_focused()
    async with open_client(timeout=30) as client:
        headers = {"authorization": f"Bearer {secret}"}
        assert (await client.get(f"{ada.url}/api/projects", headers=headers)).status_code == 401


async def test_a_token_of_ones_own_that_is_for_an_environment_says_so(ada: Person, project: Json) -> None:
    staging = await ada.api.get_environment(project, "staging")
    body: Json = {"name": "Nightly", "permissions": ["flags:read"], "current_password": PASSWORD}
    body["environments"] = [staging["id"]]
    (await ada.api.post("/api/me/tokens", json=body)).raise_for_status()
    await ada.page.goto(OWN)
    await expect(row(ada, "Nightly")).to_contain_text("Only in one environment")


async def test_a_token_for_a_project_is_limited_to_environments_and_lists_its_maker(ada: Person, project: Json) -> None:
    dialog = ada.page.get_by_role("dialog")
    await ada.page.goto(f"/projects/{project['id']}/settings")
    await ada.page.get_by_role("link", name="Tokens", exact=True).click()
    await ada.press("New token")
    await dialog.get_by_role("textbox", name="Name").fill("Deployments")
    await dialog.get_by_label("Staging").check()
    await dialog.get_by_role("button", name="Switch flags").click()
    await dialog.get_by_label("Current password").fill(PASSWORD)
    await dialog.get_by_role("button", name="Create token").click()
    answer = await send(await dialog.get_by_role("region", name="Try it").inner_text())
    assert answer.json()["user_id"]
    await dialog.get_by_role("button", name="Done").click()
    for text in ("See flags and their rules. Turn flags on and off", "In Staging", f"Created by {ada.email}"):
        await expect(row(ada, "Deployments")).to_contain_text(text)
    (token,) = (await ada.api.get(f"/api{tokens_page(project)}")).json()
    assert token["permissions"] == ["flags:read", "flags:toggle"]
    assert token["environments"] == [(await ada.api.get_environment(project, "staging"))["id"]]
    left = datetime.fromisoformat(token["expires_at"]) - datetime.now(UTC)
    assert timedelta(days=89) < left < timedelta(days=91)
    await ada.press("Changes to access tokens")
    await ada.sees("created the access token")


async def test_tokens_that_have_expired_or_soon_will_are_marked(ada: Person) -> None:
    now = datetime.now(UTC)
    for name, left in (("Gone", timedelta(minutes=5)), ("Going", timedelta(days=2)), ("Staying", timedelta(days=20))):
        body: Json = {"name": name, "permissions": ["flags:read"], "current_password": PASSWORD}
        body["expires_at"] = (now + left).isoformat()
        (await ada.api.post("/api/me/tokens", json=body)).raise_for_status()
    await ada.clock.set_fixed_time(now + timedelta(minutes=6))
    await ada.page.goto(OWN)
    await expect(row(ada, "Gone")).to_contain_text("Expired on")
    await expect(row(ada, "Going")).to_contain_text("Expires soon")
    await expect(row(ada, "Staying")).to_contain_text("Expires on")
    await expect(row(ada, "Staying")).not_to_contain_text("Expires soon")
    await ada.press("Revoke Gone")
    await expect(ada.page.get_by_role("dialog")).to_contain_text("This token has expired and no longer works.")


async def test_the_pages_are_accessible_and_fit_the_narrowest_phone(ada: Person, project: Json) -> None:
    await ada.page.emulate_media(reduced_motion="reduce")
    dialog = ada.page.get_by_role("dialog")
    soon = (datetime.now(UTC) + timedelta(days=2)).isoformat()
    for path in (OWN, tokens_page(project)):
        body = {
            "name": UNBROKEN,
            "permissions": ["flags:read", "flags:write"],
            "current_password": PASSWORD,
            "expires_at": soon,
        }
        (await ada.api.post(api_of(path), json=body)).raise_for_status()
    await ada.page.goto("/")
    for scheme, width in (("light", 320), ("dark", 1280)):
        await ada.page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        await ada.page.set_viewport_size({"width": width, "height": 700})
        for path in (OWN, tokens_page(project)):
            await ada.turn_to(path)
            await expect(row(ada, UNBROKEN).first).to_be_visible()
            await stays_within(ada)
            await ada.press("New token")
            await dialog.get_by_role("button", name="Create token").click()
            await expect(dialog.get_by_role("textbox", name="Name")).to_have_attribute("aria-invalid", "true")
            await stays_within(ada)
            if AXE.is_file():
                await check(ada, f"a refused token at {path}")
            await dialog.get_by_role("textbox", name="Name").fill(UNBROKEN)
            await dialog.get_by_role("button", name="Switch flags").click()
            await dialog.get_by_label("Current password").fill(PASSWORD)
            await dialog.get_by_role("button", name="Create token").click()
            await expect(dialog.get_by_role("button", name="Done")).to_be_visible()
            await stays_within(ada)
            if AXE.is_file():
                await check(ada, f"a secret at {path}")
            await dialog.get_by_role("button", name="Done").click()
            await expect(dialog).to_have_count(0)
            if AXE.is_file():
                await check(ada, path)
