"""Streams over real connections, in the event loop of the server."""

from asyncio import AbstractEventLoop
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack

import pytest
import uvloop

from flagstaff.assembly.bootstrap import Flagstaff
from tests.support.api import Json
from tests.support.clients import open_client
from tests.support.connections import Listener
from tests.support.event_streams import EventStream
from tests.support.sdk_keys import KeyMaker


def pytest_asyncio_loop_factories(
    config: pytest.Config, item: pytest.Item
) -> Mapping[str, Callable[[], AbstractEventLoop]]:
    """The event loop that serves."""
    return {"uvloop": uvloop.new_event_loop}


class Streamer:
    """Opens streams from one server."""

    def __init__(self, base_url: str, stack: AsyncExitStack) -> None:
        self._stack = stack
        self.client = open_client(base_url=base_url, timeout=30)

    async def open(self, path: str, **headers: str) -> EventStream:
        """Open a stream, which must succeed."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        response = await self._stack.enter_async_context(self.client.stream("GET", path, headers=named))
        assert response.status_code == 200, await response.aread()
        return EventStream(response)


@pytest.fixture
async def streamer(flagstaff: Flagstaff) -> AsyncIterator[Streamer]:
    """The service behind a real server."""
    async with Listener(flagstaff.edge.asgi, flagstaff.edge.connection_class) as listener, AsyncExitStack() as stack:
        made = Streamer(f"http://127.0.0.1:{listener.port}", stack)
        await stack.enter_async_context(made.client)
        yield made


@pytest.fixture
async def sdk_key(keys: KeyMaker, environment: Json) -> str:
    """A key of `production`."""
    return await keys.create(environment)
