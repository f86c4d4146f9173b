"""Password resets: from the link on the sign-in page through a real mail to the new password."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from email import message_from_bytes, policy
from pathlib import Path

import pytest
import pytest_asyncio
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, Envelope, Session
from playwright.async_api import expect

from tests.e2e.people import Person
from tests.support.mailbox import reset_token
from tests.support.ports import free_port
from tests.support.server import ServerProcess
from tests.support.stores import sqlite_store


class Mailbox:
    """An SMTP server's handler that keeps all mails."""

    def __init__(self) -> None:
        self.port = free_port()
        self.mails: list[bytes] = []

    async def handle_DATA(self, _server: SMTP, _session: Session, envelope: Envelope) -> str:  # noqa: N802
        """Keep a mail."""
        assert isinstance(envelope.content, bytes)
        self.mails.append(envelope.content)
        return "250 OK"


@pytest.fixture
def mailbox() -> Iterator[Mailbox]:
    """The mailbox behind a real SMTP server."""
    box = Mailbox()
    controller = Controller(box, hostname="127.0.0.1", port=box.port)
    controller.start()
    yield box
    controller.stop()


@pytest_asyncio.fixture(loop_scope="session")
async def server(
    chromium: str, sqlite_template: Path, data_directory: Path, mailbox: Mailbox
) -> AsyncIterator[ServerProcess]:
    """A server that sends mail through that SMTP server."""
    environ = {"FLAGSTAFF_SMTP_URL": f"smtp://127.0.0.1:{mailbox.port}"}
    async with ServerProcess(sqlite_store(sqlite_template, data_directory), environ) as started:
        yield started


async def test_a_forgotten_password_is_reset_by_the_link_in_the_mail(ada: Person, mailbox: Mailbox) -> None:
    page = ada.page
    await page.evaluate("localStorage.clear()")
    await page.goto("/sign-in")
    await page.get_by_role("link", name="Forgot your password?").click()
    await ada.sees_heading("Reset your password")
    await ada.fill(Email=ada.email)
    await ada.press("Send link")
    await ada.sees("If the account exists, a reset link has been sent.")
    async with asyncio.timeout(60):
        while not mailbox.mails:
            await asyncio.sleep(0.02)
    token = reset_token(message_from_bytes(mailbox.mails[0], policy=policy.default))

    await page.goto(f"/reset-password?token={token}")
    await ada.sees_heading("Choose a new password")
    assert page.url == f"{ada.url}/reset-password", "the token is gone from the address bar"
    await ada.fill(New_password="short")
    await ada.press("Set password")
    await expect(page.get_by_role("textbox", name="New password")).to_have_attribute("aria-invalid", "true")
    await ada.fill(New_password="a better password")
    await ada.press("Set password")
    await ada.sees("Your password has been set.")
    await page.get_by_role("link", name="Sign in").click()
    await ada.fill(Email=ada.email, Password="a better password")
    await ada.press("Sign in")
    await ada.sees_heading("Create your first project")

    await page.goto(f"/reset-password?token={token}")
    await ada.fill(New_password="once more a password")
    await ada.press("Set password")
    await expect(page.get_by_role("alert")).to_be_visible()
    assert await ada.stored_session() is not None, "a refused reset ends no session"


async def test_the_reset_page_without_a_token_offers_a_new_link(visitor: Person) -> None:
    await visitor.page.goto("/reset-password")
    await visitor.page.get_by_role("link", name="Request a new link").click()
    await visitor.sees_heading("Reset your password")
