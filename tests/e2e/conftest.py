"""A served dashboard, a browser, and people in it."""

import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from playwright.async_api import Browser, async_playwright

from flagstaff.web.dashboard import DIRECTORY
from tests.e2e.browser import ARGUMENTS, MISSING, find_or_install
from tests.e2e.people import Person
from tests.support.server import ServerProcess
from tests.support.stores import Store, sqlite_store


def leave_out(why: str) -> None:
    """Skip, but never where every test counts."""
    if os.environ.get("CI") == "true":
        pytest.fail(why)
    pytest.skip(why)


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of a Chromium."""
    if not (DIRECTORY / "index.html").is_file():
        leave_out("The dashboard is not built: make dashboard.")
    found = find_or_install()
    if found is None:
        leave_out(MISSING)
    assert found is not None
    return found


@pytest.fixture
async def browser(chromium: str) -> AsyncIterator[Browser]:
    """A running browser."""
    async with async_playwright() as playwright:
        launched = await playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        yield launched
        await launched.close()


@pytest.fixture
def environ() -> dict[str, str]:
    """The server's settings; override it for others."""
    return {}


@pytest.fixture
def sqlite(sqlite_template: Path, data_directory: Path) -> Store:
    """A migrated, empty SQLite database."""
    return sqlite_store(sqlite_template, data_directory)


@pytest.fixture
async def server(chromium: str, sqlite: Store, environ: dict[str, str]) -> AsyncIterator[ServerProcess]:
    """A server with nobody registered."""
    async with ServerProcess(sqlite, environ) as started:
        yield started


@pytest.fixture
async def people(browser: Browser, server: ServerProcess) -> AsyncIterator[AsyncExitStack]:
    """Whoever opened the dashboard; at the end none of their pages may have thrown or broken the page's policy."""
    async with AsyncExitStack() as stack:
        yield stack


@pytest.fixture
async def visitor(browser: Browser, server: ServerProcess, people: AsyncExitStack) -> Person:
    """Somebody without an account, in front of the dashboard."""
    return await people.enter_async_context(Person(browser, server.url))


@pytest.fixture
async def ada(visitor: Person) -> Person:
    """A registered, signed-in person who knows the API, too."""
    await visitor.sign_up("ada@example.com")
    return visitor
