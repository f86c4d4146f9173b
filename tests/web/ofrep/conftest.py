"""A caller that uses OFREP."""

from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import pytest

from tests.support.api import Caller, Json
from tests.support.sdk_keys import KeyMaker

PATH = "/ofrep/v1/evaluate/flags"
Ask = Callable[..., Awaitable[httpx.Response]]


@pytest.fixture
async def sdk_key(keys: KeyMaker, environment: Json) -> str:
    """A key of `production`."""
    return await keys.create(environment)


@pytest.fixture
async def ask(client: Caller, sdk_key: str) -> Ask:
    """Ask for all flags, or for one by its key, with a context."""

    async def send(
        context: Any = None, *, flag: str = "", headers: dict[str, str] | None = None, **options: Any
    ) -> httpx.Response:
        path = f"{PATH}/{flag}" if flag else PATH
        given = {"authorization": f"Bearer {sdk_key}", **(headers or {})}
        return await client.post(path, headers=given, **({"json": {"context": context}} | options))

    return send
