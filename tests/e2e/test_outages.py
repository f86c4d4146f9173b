"""A server that is killed while the dashboard is open, and comes back."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio
from playwright.async_api import expect

from tests.e2e.conftest import UNLIMITED
from tests.e2e.people import Person, environment_page
from tests.support.server import ServerProcess
from tests.support.stores import sqlite_store


@pytest_asyncio.fixture(loop_scope="session")
async def server(chromium: str, sqlite_template: Path, tmp_path: Path) -> AsyncIterator[ServerProcess]:
    """A server of this test's own."""
    async with ServerProcess(sqlite_store(sqlite_template, tmp_path / "data"), UNLIMITED) as process:
        yield process


async def test_a_page_that_is_opened_while_the_server_is_away_says_so_and_opens_when_it_is_back(
    ada: Person, server: ServerProcess
) -> None:
    flag = await ada.api.create_flag()
    await ada.page.goto(environment_page({"project_id": flag["project_id"], "id": flag["environment_id"]}))
    await ada.sees_heading("Flags")
    await expect(ada.page.get_by_role("button", name="Views")).to_be_visible()  # whose code comes last
    opened = ada.page.url
    await server.kill()

    await ada.page.get_by_role("link", name="Segments").first.click()
    await ada.sees("The server cannot be reached.")
    await ada.press("Try again")
    await ada.sees("The server cannot be reached.")
    assert ada.page.url != opened

    await server.start()
    await ada.press("Try again")
    await ada.sees_heading("Segments")
