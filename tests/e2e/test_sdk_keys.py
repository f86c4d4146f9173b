"""SDK keys in the dashboard: creating them, showing them once, using, listing and revoking them."""

import asyncio
import shlex
from datetime import UTC, datetime, timedelta

import httpx
import pytest
import pytest_asyncio
from playwright.async_api import Locator, expect

from flagstaff.projects.sdk_keys import project_in
from tests.e2e.accessibility import AXE, UNBROKEN, check, stays_within
from tests.e2e.people import POLL_SECONDS, Person, environment_page
from tests.support.api import Json
from tests.support.clients import open_client
from tests.support.sdk_keys import create_key, keys_path

LOOK = "00:05"  # between two requests of a page for the use of keys


@pytest_asyncio.fixture(loop_scope="session")
async def project(ada: Person) -> Json:
    """A project of ada's."""
    return await ada.api.create_project(name="Web shop")


def page_of(project: Json) -> str:
    """Return the path of the page of a project's SDK keys."""
    return f"/projects/{project['id']}/sdk-keys"


def row(person: Person, name: str) -> Locator:
    """Return a key's row in the list."""
    return person.page.get_by_role("list", name="SDK keys").get_by_role("listitem").filter(has_text=name)


async def send(command: str) -> httpx.Response:
    """Send a shown curl call."""
    _, _, url, *options = shlex.split(command.replace("\\\n", " "))
    given = dict(zip(options[::2], options[1::2], strict=True))
    headers = dict(options[place + 1].split(": ") for place, each in enumerate(options) if each == "-H")
    async with open_client(timeout=30) as client:
        return await client.post(url, headers=headers, content=given["-d"])


async def test_what_is_missing_or_past_is_refused_at_its_field(ada: Person, project: Json) -> None:
    dialog = ada.page.get_by_role("dialog")
    await ada.page.goto(page_of(project))
    await ada.sees("No SDK keys yet")
    await ada.press("New SDK key")
    await dialog.get_by_role("button", name="Create SDK key").click()
    await expect(dialog.get_by_role("textbox", name="Name")).to_have_attribute("aria-invalid", "true")
    await expect(dialog.get_by_role("textbox", name="Name")).to_be_focused()
    await dialog.get_by_role("textbox", name="Name").fill("Shop")
    await dialog.get_by_label("Expiry").select_option("On a date")
    await dialog.get_by_role("button", name="Create SDK key").click()
    await expect(dialog).to_contain_text("Choose the last day on which the key works")
    await dialog.get_by_label("Last day").fill("2020-01-01")
    await dialog.get_by_role("button", name="Create SDK key").click()
    await expect(dialog).to_contain_text("Must be in the future")
    assert (await ada.api.get(keys_path(project))).json() == []


async def test_a_key_is_made_by_keyboard_shown_once_used_and_revoked(ada: Person, project: Json) -> None:
    page, dialog = ada.page, ada.page.get_by_role("dialog")
    await page.goto(f"/projects/{project['id']}/settings")
    await page.get_by_role("link", name="SDK keys", exact=True).press("Enter")
    await ada.sees_heading("SDK keys")
    await page.get_by_role("button", name="New SDK key").press("Enter")
    await expect(dialog.get_by_role("textbox", name="Name")).to_be_focused()
    await page.keyboard.type("Checkout page")
    await dialog.get_by_label("Environment").select_option("Staging")
    await dialog.get_by_label("Kind").select_option("Browser")
    await expect(dialog).to_contain_text("It only returns results for one user.")
    await dialog.get_by_role("button", name="Create SDK key").press("Enter")
    await expect(dialog.get_by_text("This is the only time that the SDK key Checkout page is shown.")).to_be_focused()
    key = await dialog.get_by_role("region", name="The new SDK key").inner_text()
    assert str(project_in(key)) == project["id"]
    assert ":staging." in key
    await page.keyboard.press("Escape")  # it does not close by accident, because the key is shown only once
    answer = await send(await dialog.get_by_role("region", name="Try it").inner_text())
    assert (answer.status_code, answer.json()) == (200, {"flags": {}})
    await page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    assert await ada.copy(dialog.get_by_role("button", name="Copy SDK key"), "Enter") == key
    await dialog.get_by_role("button", name="Done").press("Enter")
    await expect(dialog).to_have_count(0)
    await expect(page.get_by_role("button", name="New SDK key")).to_be_focused()
    assert key not in await page.content()
    for text in ("Browser", "In Staging", f"Ends in {key[-4:]}", "Never expires", "Never used", ada.email):
        await expect(row(ada, "Checkout page")).to_contain_text(text)
    await page.get_by_role("button", name="Revoke Checkout page").press("Enter")
    await expect(dialog).to_contain_text("Used in the last 24 hours by:")
    await expect(dialog).to_contain_text("from 127.0.0.0/24 (Evaluate)")
    await expect(dialog).to_contain_text("Applications that use this key get a 401 immediately")
    await dialog.get_by_role("button", name="Revoke").press("Enter")
    await ada.sees("No SDK keys yet")
    await expect(page.get_by_role("button", name="New SDK key")).to_be_focused()
    assert (await ada.api.evaluate(key, "staging")).status_code == 401
    await ada.press("Changes to SDK keys")
    await ada.sees("revoked the SDK key")


async def test_a_key_is_rotated_while_its_use_is_watched_and_then_revoked(ada: Person, project: Json) -> None:
    page, dialog = ada.page, ada.page.get_by_role("dialog")
    expires_at = (datetime.now(UTC) + timedelta(days=90)).isoformat()
    old = await create_key(ada.api, project, name="Checkout", kind="browser", expires_at=expires_at)
    await use(ada, old["key"], "shop/1.0")
    await ada.clock.install()
    await page.goto(page_of(project))
    await page.get_by_role("button", name="Rotate Checkout").press("Enter")
    await expect(dialog.get_by_role("textbox", name="Name")).to_have_value("Checkout")
    await expect(dialog.get_by_label("Expiry")).to_have_value("90")
    await dialog.get_by_role("textbox", name="Name").fill("Checkout, new")
    await dialog.get_by_role("button", name="Create the new key").press("Enter")
    await expect(dialog).to_contain_text(f"Replace the key ending in {old['hint']} with it")
    new = await dialog.get_by_role("region", name="The new SDK key").inner_text()
    await dialog.get_by_role("button", name="I have stored the new key").press("Enter")
    dialog = page.get_by_role("dialog", name="Move applications from Checkout")
    await expect(dialog.get_by_role("region", name="New key")).to_contain_text("Never used.")
    in_use = dialog.get_by_role("region", name="Old key")
    await expect(in_use).to_contain_text("shop/1.0 from 127.0.0.0/24 (Evaluate)")
    await expect(dialog).to_contain_text("The old key is still in use, last just now.")
    await use(ada, new, "shop/2.0")
    callers = f"/api{environment_page(await ada.api.get_environment(project))}/callers"
    async with asyncio.timeout(60):
        while "shop/2.0" not in (await ada.api.get(callers)).text:
            await asyncio.sleep(POLL_SECONDS)
    await ada.clock.fast_forward(LOOK)
    await expect(dialog.get_by_role("region", name="New key")).to_contain_text("shop/2.0 from")
    if AXE.is_file():
        await check(ada, "a rotation")
    await dialog.get_by_role("button", name="Close, revoke later").press("Enter")
    await expect(dialog).to_have_count(0)

    await page.reload()  # the replacement is still shown
    replacing = row(ada, "Replaces Checkout")
    await expect(replacing).to_contain_text("Checkout, new")
    await expect(replacing).to_contain_text("was used just now by shop/1.0 from 127.0.0.0/24 (Evaluate).")
    (made,) = (each for each in (await ada.api.get(keys_path(project))).json() if each["replaces"] == old["id"])
    assert (made["kind"], made["environment"]) == ("browser", "production")
    await page.get_by_role("button", name="Finish rotation to Checkout, new").press("Enter")
    await dialog.get_by_role("button", name="Revoke the old key…").press("Enter")
    dialog = page.get_by_role("dialog", name="Revoke Checkout?")
    await expect(dialog).to_contain_text("shop/1.0 from 127.0.0.0/24 (Evaluate)")
    await expect(dialog).to_contain_text("Applications that use this key get a 401 immediately")
    await dialog.get_by_role("button", name="Revoke").press("Enter")
    await expect(row(ada, "Checkout")).to_have_count(1)
    await expect(row(ada, "Replaces")).to_have_count(0)
    assert [(await ada.api.evaluate(each)).status_code for each in (old["key"], new)] == [401, 200]


async def test_a_browsers_key_has_allowed_origins_which_are_shown_changed_and_kept_by_a_rotation(
    ada: Person, project: Json
) -> None:
    page, dialog = ada.page, ada.page.get_by_role("dialog")
    origins = dialog.get_by_label("Allowed origins (optional)")
    await page.goto(page_of(project))
    await page.get_by_role("button", name="New SDK key").press("Enter")
    await expect(dialog.get_by_role("textbox", name="Name")).to_be_focused()
    await page.keyboard.type("Shop")
    await expect(dialog.get_by_label("Kind")).to_have_value("server")
    await expect(origins).to_have_count(0)
    await dialog.get_by_label("Kind").select_option("Browser")
    await expect(origins).to_have_attribute("placeholder", "https://shop.example.com")
    await origins.press_sequentially("https://shop.example.com/ shop.example.com")
    await dialog.get_by_role("button", name="Create SDK key").click()
    await expect(dialog).to_contain_text("Value 1 must not have a path; write https://shop.example.com")
    await expect(origins).to_have_attribute("placeholder", "")  # it would look like a third value
    assert (await ada.api.get(keys_path(project))).json() == []
    for _ in range(2):
        await origins.press("Backspace")
    await origins.press_sequentially("https://shop.example.com http://localhost:5173,")
    await dialog.get_by_role("button", name="Create SDK key").click()
    key = await dialog.get_by_role("region", name="The new SDK key").inner_text()
    await dialog.get_by_role("button", name="Done").click()
    await expect(row(ada, "Shop")).to_contain_text("For pages at https://shop.example.com, http://localhost:5173")
    assert await statuses(ada, key) == {"https://shop.example.com": 200, "https://pr-1.example.org": 403}

    await page.get_by_role("button", name="Edit Shop").press("Enter")
    dialog = page.get_by_role("dialog", name="Edit Shop")
    origins = dialog.get_by_label("Allowed origins (optional)")
    await expect(dialog.get_by_role("textbox", name="Name")).to_have_value("Shop")
    await origins.fill("https://*.org")
    await dialog.get_by_role("button", name="Save").click()
    await expect(dialog).to_contain_text("Value 3 must have a domain of two labels or more after '*.'")
    if AXE.is_file():
        await check(ada, "refused origins")
    for _ in range(3):
        await origins.press("Backspace")
    await origins.fill("https://*.example.org")
    await dialog.get_by_role("textbox", name="Name").fill("Previews")
    await dialog.get_by_role("button", name="Save").click()
    await expect(dialog).to_have_count(0)
    await expect(row(ada, "Previews")).to_contain_text("For pages at https://*.example.org")
    assert await statuses(ada, key) == {"https://shop.example.com": 403, "https://pr-1.example.org": 200}

    await page.get_by_role("button", name="Rotate Previews").press("Enter")
    await page.get_by_role("button", name="Create the new key").press("Enter")
    new = await page.get_by_role("region", name="The new SDK key").inner_text()
    assert await statuses(ada, new) == {"https://shop.example.com": 403, "https://pr-1.example.org": 200}
    await ada.turn_to(page_of(project))
    await ada.press("Changes to SDK keys")
    await ada.sees("changed the SDK key")


async def test_only_the_name_of_a_servers_key_can_be_edited(ada: Person, project: Json) -> None:
    await create_key(ada.api, project, name="Checkout")
    await ada.page.goto(page_of(project))
    await ada.press("Edit Checkout")
    dialog = ada.page.get_by_role("dialog", name="Edit Checkout")
    await expect(dialog.get_by_label("Allowed origins (optional)")).to_have_count(0)
    await dialog.get_by_role("textbox", name="Name").fill("Payments")
    await dialog.get_by_role("button", name="Save").click()
    await expect(row(ada, "Payments")).to_be_visible()


async def statuses(ada: Person, key: str) -> dict[str, int]:
    """Return the statuses of evaluations by pages of two origins."""
    body = {"environment": "production", "context": {"user_id": "ada"}}
    return {
        origin: (
            await ada.api.post("/sdk/v1/evaluate", json=body, headers={"x-sdk-key": key, "origin": origin})
        ).status_code
        for origin in ("https://shop.example.com", "https://pr-1.example.org")
    }


async def use(person: Person, key: str, user_agent: str) -> None:
    """Request flags with a key."""
    body = {"environment": "production", "context": {"user_id": "ada"}}
    headers = {"x-sdk-key": key, "user-agent": user_agent}
    assert (await person.api.post("/sdk/v1/evaluate", json=body, headers=headers)).status_code == 200


async def test_keys_that_have_expired_or_soon_will_are_marked(ada: Person, project: Json) -> None:
    now = datetime.now(UTC)
    for name, left in (("Gone", timedelta(minutes=5)), ("Going", timedelta(days=2)), ("Staying", timedelta(days=20))):
        await create_key(ada.api, project, name=name, expires_at=(now + left).isoformat())
    await ada.clock.set_fixed_time(now + timedelta(minutes=6))
    await ada.page.goto(page_of(project))
    await expect(row(ada, "Gone")).to_contain_text("Expired on")
    await expect(row(ada, "Going")).to_contain_text("Expires soon")
    await expect(row(ada, "Staying")).not_to_contain_text("Expires soon")
    await ada.press("Revoke Gone")
    await expect(ada.page.get_by_role("dialog")).to_contain_text("This key has expired and no longer works.")


@pytest.mark.skipif(not AXE.is_file(), reason="axe is not installed")
async def test_the_page_is_accessible_and_fits_the_narrowest_phone(ada: Person, project: Json) -> None:
    await ada.page.emulate_media(reduced_motion="reduce")
    dialog = ada.page.get_by_role("dialog")
    soon = (datetime.now(UTC) + timedelta(days=2)).isoformat()
    await create_key(ada.api, project, name=UNBROKEN, expires_at=soon)
    await ada.page.goto(page_of(project))
    for scheme, width in (("light", 320), ("dark", 1280)):
        await ada.page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        await ada.page.set_viewport_size({"width": width, "height": 700})
        await ada.turn_to(page_of(project))
        await stays_within(ada)
        await expect(row(ada, UNBROKEN).first).to_be_visible()
        await check(ada, "the page")
        await ada.press("New SDK key")
        await dialog.get_by_role("button", name="Create SDK key").click()
        await expect(dialog.get_by_role("textbox", name="Name")).to_have_attribute("aria-invalid", "true")
        await stays_within(ada)
        await check(ada, "a refused key")
        await dialog.get_by_role("textbox", name="Name").fill(UNBROKEN)
        await dialog.get_by_role("button", name="Create SDK key").click()
        await expect(dialog.get_by_role("button", name="Done")).to_be_visible()
        await stays_within(ada)
        await check(ada, "a secret")
        await dialog.get_by_role("button", name="Done").click()
        await expect(dialog).to_have_count(0)
