"""A caller that uses Unleash's frontend API."""

from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import pytest

from tests.support.api import Caller, Json
from tests.support.sdk_keys import KeyMaker

PATH = "/unleash/api/frontend"
Ask = Callable[..., Awaitable[httpx.Response]]


@pytest.fixture
async def sdk_key(keys: KeyMaker, environment: Json) -> str:
    """A key of `production` for browsers."""
    return await keys.create(environment, kind="browser")


@pytest.fixture
async def get(client: Caller, sdk_key: str) -> Ask:
    """Ask with a context in the query."""

    async def send(query: str = "", headers: dict[str, str] | None = None) -> httpx.Response:
        return await client.get(f"{PATH}?{query}", headers={"authorization": sdk_key, **(headers or {})})

    return send


@pytest.fixture
async def post(client: Caller, sdk_key: str) -> Ask:
    """Ask with a context in the body, or report to a path below."""

    async def send(context: Any = None, *, path: str = "", **options: Any) -> httpx.Response:
        given = {"json": {"context": context}} | options
        return await client.post(f"{PATH}{path}", headers={"authorization": sdk_key}, **given)

    return send
