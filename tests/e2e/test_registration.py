"""Creating an account, with registration open and closed."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio
from playwright.async_api import expect

from tests.e2e.people import Person
from tests.support.server import ServerProcess
from tests.support.stores import sqlite_store


class TestWhereItIsClosed:
    """A separate server that accepts no registrations."""

    @pytest_asyncio.fixture(loop_scope="session")
    async def server(self, sqlite_template: Path, data_directory: Path) -> AsyncIterator[ServerProcess]:
        store = sqlite_store(sqlite_template, data_directory)
        async with ServerProcess(store, {"FLAGSTAFF_REGISTRATION": "closed"}) as started:
            yield started

    async def test_the_sign_in_page_offers_no_registration_and_says_why(self, visitor: Person) -> None:
        await visitor.page.goto("/sign-in")
        await visitor.sees("Only the operator of this server can create accounts.")
        await expect(visitor.page.get_by_role("link", name="Create account")).to_have_count(0)

    async def test_the_page_for_it_has_no_form_and_leads_back(self, visitor: Person) -> None:
        await visitor.page.goto("/register")
        await visitor.sees_heading("Registration is closed")
        await expect(visitor.page.get_by_role("textbox")).to_have_count(0)
        await visitor.page.get_by_role("link", name="Back to sign in").click()
        await visitor.sees_heading("Sign in")


async def test_a_common_password_is_refused_at_its_field(visitor: Person) -> None:
    await visitor.page.goto("/register")
    for password, reason in (
        ("iloveyou", "This password is too common. Choose another."),
        (visitor.email, "Must not be your email address; choose another"),
    ):
        await visitor.fill(Email=visitor.email, Password=password)
        await visitor.press("Create account")
        await visitor.sees(reason)
        field = visitor.page.get_by_role("textbox", name="Password")
        await expect(field).to_have_attribute("aria-invalid", "true")
    await visitor.fill(Password="a better password")
    await visitor.press("Create account")
    await visitor.sees_heading("Create your first project")
