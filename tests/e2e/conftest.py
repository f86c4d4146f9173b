"""A served dashboard, a browser, and people in it.

A test process has one browser and one server for all its tests, which therefore run in one event loop. Tests are
isolated by person: each person has a browser context, which is empty at first, and an account.
"""

import asyncio
import functools
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, async_playwright, expect

from flagstaff.http.dashboard.pages import DIRECTORY
from tests.e2e.browser import ARGUMENTS, MISSING, find_or_install
from tests.e2e.contexts import Contexts
from tests.e2e.people import Person
from tests.support.debian import leave_out
from tests.support.server import ServerProcess
from tests.support.stores import Store, sqlite_store

HERE = Path(__file__).parent
# Some calls to a browser have no time limit. Without one, a browser that hangs would end the whole run.
LONGEST_TEST_SECONDS = 270
# All tests call from one address, and more often than people do.
UNLIMITED = {
    "FLAGSTAFF_REGISTER_RATE_LIMIT": "off",
    "FLAGSTAFF_LOGIN_RATE_LIMIT": "off",
    "FLAGSTAFF_EVALUATE_RATE_LIMIT": "off",
    "FLAGSTAFF_API_RATE_LIMIT": "off",
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run all tests in one event loop, because objects such as the browser cannot be used in another."""
    for item in items:
        if item.path.is_relative_to(HERE) and pytest_asyncio.is_async_test(item):
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)
            item.obj = _in_time(item.obj)


def _in_time(test: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    """Return the same test, which fails when it takes too long and reports where it was."""

    @functools.wraps(test)
    async def run(*args: object, **fixtures: object) -> None:
        async with asyncio.timeout(LONGEST_TEST_SECONDS):
            await test(*args, **fixtures)

    return run


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of a Chromium."""
    if not (DIRECTORY / "index.html").is_file():
        leave_out("The dashboard has not been built. Run `make dashboard`.")
    found = find_or_install()
    if found is None:
        leave_out(MISSING)
    assert found is not None
    return found


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser(chromium: str) -> AsyncIterator[Browser]:
    """A running browser."""
    expect.set_options(timeout=60_000)  # passwords are hashed at low priority, which takes long on a busy machine
    async with async_playwright() as playwright:
        launched = await playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        yield launched
        await launched.close()


@pytest.fixture(scope="session")
def contexts(browser: Browser) -> Contexts:
    """The browser's contexts."""
    return Contexts(browser)


@pytest.fixture(scope="session")
def sqlite(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Store:
    """The database of the server."""
    return sqlite_store(sqlite_template, tmp_path_factory.mktemp("served") / "data")


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def server(chromium: str, sqlite: Store, contexts: Contexts) -> AsyncIterator[ServerProcess]:
    """A running server. A module whose tests need other settings overrides this fixture."""
    async with ServerProcess(sqlite, {**UNLIMITED, "FLAGSTAFF_COMMON_PASSWORDS": "refuse"}) as started:
        contexts.keep_for(started.url)
        yield started


@pytest_asyncio.fixture(loop_scope="session")
async def people(contexts: Contexts, server: ServerProcess) -> AsyncIterator[AsyncExitStack]:
    """All people with an open dashboard. The test fails if one of their pages threw an error or violated its policy."""
    async with AsyncExitStack() as stack:
        yield stack


@pytest.fixture
def options() -> dict[str, Any]:
    """The options of the visitor's browser. A module whose tests need others overrides this fixture."""
    return {}


@pytest_asyncio.fixture(loop_scope="session")
async def visitor(contexts: Contexts, server: ServerProcess, people: AsyncExitStack, options: dict[str, Any]) -> Person:
    """A person without an account who has opened a browser."""
    return await people.enter_async_context(Person(contexts, server.url, **options))


@pytest_asyncio.fixture(loop_scope="session")
async def ada(visitor: Person) -> Person:
    """A registered, signed-in person who can also call the API."""
    await visitor.sign_up()
    return visitor


@pytest_asyncio.fixture(loop_scope="session")
async def eve(ada: Person, contexts: Contexts, people: AsyncExitStack) -> Person:
    """Another person with an account, at the same server."""
    eve = await people.enter_async_context(Person(contexts, ada.url))
    await eve.sign_up()
    return eve
