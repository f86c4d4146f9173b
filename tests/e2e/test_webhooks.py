"""Webhooks in the dashboard: creating, testing, watching, changing and deleting them."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Locator, expect

from tests.e2e.accessibility import check_in_both_schemes, stays_within
from tests.e2e.conftest import UNLIMITED
from tests.e2e.people import Person
from tests.support.api import Json, created, flag_path, project_path
from tests.support.receiver import Receiver, response
from tests.support.server import ServerProcess
from tests.support.stores import sqlite_store


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def server(
    chromium: str,
    sqlite_template: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[ServerProcess]:
    """A server whose webhooks may reach loopback."""
    store = sqlite_store(sqlite_template, tmp_path_factory.mktemp("webhooks") / "data")
    async with ServerProcess(store, {**UNLIMITED, "FLAGSTAFF_WEBHOOK_NETWORKS": "127.0.0.0/8"}) as started:
        yield started


@pytest_asyncio.fixture(loop_scope="session")
async def receiver() -> AsyncIterator[Receiver]:
    """A receiver."""
    async with Receiver() as started:
        yield started


def page_of(project: Json) -> str:
    """Return the path of the page."""
    return f"/projects/{project['id']}/webhooks"


def row(person: Person, receiver: Receiver) -> Locator:
    """Return the row of the webhook to a receiver."""
    webhooks = person.page.get_by_role("list", name="Webhooks", exact=True)
    return webhooks.locator("> li").filter(has_text=f"127.0.0.1:{receiver.port}")


async def test_what_is_not_accepted_is_shown_at_its_field(ada: Person) -> None:
    project = await ada.api.create_project()
    dialog = ada.page.get_by_role("dialog")
    await ada.page.goto(page_of(project))
    await ada.sees("No webhooks yet")
    await ada.press("New webhook")
    await dialog.get_by_label("URL").fill("https://10.0.0.1/")
    await dialog.get_by_role("button", name="Create webhook").click()
    await expect(dialog.get_by_label("URL")).to_have_attribute("aria-invalid", "true")
    await expect(dialog).to_contain_text("Leads to 10.0.0.1, which is not a public address")
    await dialog.get_by_label("URL").fill("https://example.com/")
    await dialog.get_by_role("combobox", name="Events").fill("flag.toggle")
    await ada.page.keyboard.press("Enter")
    await dialog.get_by_role("button", name="Create webhook").click()
    await expect(dialog).to_contain_text("did you mean flag.toggled?")
    assert (await ada.api.get(f"{project_path(project)}/webhooks")).json() == []


async def test_from_a_new_webhook_to_a_message_that_was_sent_again(ada: Person, receiver: Receiver) -> None:
    project = await ada.api.create_project()
    flag = await ada.api.create_flag(await ada.api.get_environment(project))
    dialog = ada.page.get_by_role("dialog")
    await ada.page.goto(page_of(project))
    await ada.press("New webhook")
    await dialog.get_by_label("URL").fill(receiver.url)
    await dialog.get_by_role("button", name="Create webhook").click()
    await expect(dialog).to_contain_text("This is the only time that the secret is shown")
    secret = await dialog.get_by_role("region", name="The secret").inner_text()
    await dialog.get_by_role("button", name="Done").click()
    await expect(row(ada, receiver)).to_contain_text("Nothing sent yet")
    assert "s3cret" not in await row(ada, receiver).inner_text()

    await row(ada, receiver).get_by_role("button", name="Send test").click()
    (message,) = await receiver.wait_for(1)
    assert (message.type, message.is_signed_with(secret)) == ("webhook.test", True)
    receiver.answer = lambda _: response(500, b"The receiver is being deployed")
    await ada.api.post(f"{flag_path(flag)}/toggle")
    await receiver.wait_for(2)
    await expect(row(ada, receiver)).to_contain_text("Failing")
    await expect(row(ada, receiver)).to_contain_text("1 message waiting")
    await row(ada, receiver).get_by_role("button", name="Deliveries").click()
    deliveries = ada.page.get_by_role("list", name="Deliveries to").get_by_role("listitem")
    await expect(deliveries.first).to_contain_text("flag.toggled")
    await expect(deliveries.first).to_contain_text("The receiver is being deployed")
    which = ada.page.get_by_role("combobox", name="Which deliveries to")
    await which.select_option("waiting")
    await expect(deliveries).to_have_count(1)
    await deliveries.first.get_by_role("button", name="Message").click()
    await expect(deliveries.first).to_contain_text('"type": "flag.toggled"')
    await which.select_option("")
    receiver.answer = lambda _: response()
    await deliveries.last.get_by_role("button", name="Send again: webhook.test").click()
    await receiver.wait_for_another(message)
    await expect(row(ada, receiver)).to_contain_text("answered 200")
    await check_in_both_schemes(ada, "webhooks")
    await ada.page.set_viewport_size({"width": 360, "height": 740})
    await stays_within(ada)


async def test_what_would_have_been_sent_is_shown_before_a_webhook_is_saved(ada: Person) -> None:
    project = await ada.api.create_project()
    flag = await ada.api.create_flag(await ada.api.get_environment(project))
    await ada.api.post(f"{flag_path(flag)}/toggle")
    dialog = ada.page.get_by_role("dialog")
    await ada.page.goto(page_of(project))
    await ada.press("New webhook")
    await dialog.get_by_role("button", name="Preview").click()
    await expect(dialog.get_by_role("status")).to_contain_text("2 messages about the last day's")
    await dialog.get_by_label("Format").select_option("slack")
    messages = dialog.get_by_role("list", name="Preview").get_by_role("listitem")
    await messages.first.get_by_role("button", name="Message").click()
    await expect(messages.first).to_contain_text("turned off New checkout")
    await check_in_both_schemes(ada, "webhook-preview")
    await dialog.get_by_role("combobox", name="Events").fill("flag.toggle")
    await ada.page.keyboard.press("Enter")
    await expect(dialog).to_contain_text("did you mean flag.toggled?")


async def test_a_webhook_is_changed_switched_and_deleted(ada: Person, receiver: Receiver) -> None:
    project = await ada.api.create_project()
    body = {"url": receiver.url, "events": ["flag.*"]}
    webhook = created(await ada.api.post(f"{project_path(project)}/webhooks", json=body))
    path = f"{project_path(project)}/webhooks/{webhook['id']}"
    dialog = ada.page.get_by_role("dialog")
    await ada.page.goto(page_of(project))
    await row(ada, receiver).get_by_role("button", name="Actions for the webhook").click()
    await ada.page.get_by_role("menuitem", name="Edit").click()
    await dialog.get_by_label("Description").fill("The deploy bot")
    await dialog.get_by_label("Format").select_option("slack")
    await dialog.get_by_role("button", name="Save").click()
    await expect(row(ada, receiver)).to_contain_text("The deploy bot")
    saved = (await ada.api.get(path)).json()
    assert (saved["format"], saved["url"], saved["enabled"]) == ("slack", receiver.url, True)

    await row(ada, receiver).get_by_role("button", name="Turn off: webhook").click()
    await expect(row(ada, receiver)).to_contain_text("Off")
    await row(ada, receiver).get_by_role("button", name="Rotate secret").click()
    await dialog.get_by_role("button", name="Rotate secret").click()
    shown = ada.page.get_by_role("dialog", name="Copy the secret of your webhook")
    await expect(shown).to_contain_text("This is the only time that the secret is shown")
    await shown.get_by_role("button", name="Done").click()
    await expect(dialog).to_have_count(0)
    await row(ada, receiver).get_by_role("button", name="Actions for the webhook").click()
    await ada.page.get_by_role("menuitem", name="Delete").click()
    await dialog.get_by_role("textbox").fill(f"127.0.0.1:{receiver.port}")
    await dialog.get_by_role("button", name="Delete").click()
    await ada.sees("No webhooks yet")
    await ada.press("Changes to webhooks")
    changes = ada.page.get_by_role("listitem").filter(has_text="webhook to")
    await expect(changes.first).to_contain_text(f"deleted the webhook to 127.0.0.1:{receiver.port}")
