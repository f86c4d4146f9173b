"""A server and a person at the host name to which passkeys belong."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
import pytest_asyncio

from tests.e2e.contexts import Contexts
from tests.e2e.people import Person
from tests.e2e.second_factors import serving_passkeys
from tests.support.server import ServerProcess


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def server(
    chromium: str, sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[ServerProcess]:
    """A server for all tests of a module."""
    async with serving_passkeys(sqlite_template, tmp_path_factory.mktemp("two-factor")) as started:
        yield started


@pytest_asyncio.fixture(loop_scope="session")
async def visitor(contexts: Contexts, server: ServerProcess, people: AsyncExitStack) -> Person:
    """A person who reaches the server by its host name."""
    url = f"http://localhost:{server.port}"
    return await people.enter_async_context(Person(contexts, url))
