"""A caller that uses the API of Unleash's SDKs."""

from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import pytest

from tests.support.api import Caller, Json
from tests.support.sdk_keys import KeyMaker

CLIENT = "/unleash/api/client"
HEADERS = {
    "unleash-appname": "shop",
    "unleash-instanceid": "shop-1",
    "unleash-connection-id": "c-1",
    "unleash-sdk": "unleash-client-python:6.9.1",
    "unleash-interval": "15000",
}
Ask = Callable[..., Awaitable[httpx.Response]]


@pytest.fixture
async def sdk_key(keys: KeyMaker, environment: Json) -> str:
    """A key of `production` for servers."""
    return await keys.create(environment)


@pytest.fixture
async def fetch(client: Caller, sdk_key: str) -> Ask:
    """Ask for the features."""

    async def send(query: str = "", **headers: str) -> httpx.Response:
        given = {
            "authorization": sdk_key,
            **HEADERS,
            **{name.replace("_", "-"): each for name, each in headers.items()},
        }
        return await client.get(f"{CLIENT}/features?{query}", headers=given)

    return send


@pytest.fixture
async def report(client: Caller, sdk_key: str) -> Ask:
    """Send a body to a path below the client API."""

    async def send(path: str, body: Any) -> httpx.Response:
        content = {"content": body} if isinstance(body, bytes) else {"json": body}
        return await client.post(f"{CLIENT}/{path}", headers={"authorization": sdk_key, **HEADERS}, **content)

    return send
