"""Fixtures for the tests of evaluate. They use the same event loop as the server."""

from asyncio import AbstractEventLoop
from collections.abc import AsyncIterator, Callable, Mapping

import pytest
import uvloop

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.http.connections.protocol import Bounds
from flagstaff.serving.fast_path.fast_path import connection_class
from tests.support.api import Json
from tests.support.connections import Connection, Listener


def pytest_asyncio_loop_factories(
    config: pytest.Config, item: pytest.Item
) -> Mapping[str, Callable[[], AbstractEventLoop]]:
    """The event loops, because uvloop's transports differ from asyncio's at a half-close and with a full buffer."""
    return {"uvloop": uvloop.new_event_loop}


@pytest.fixture
def bounds() -> Bounds:
    """The bounds on what clients send, and how slowly."""
    return Bounds()


@pytest.fixture
async def fast_path(flagstaff: Flagstaff, bounds: Bounds) -> AsyncIterator[Listener]:
    """A server with the fast path."""
    bounded = type("Bounded", (flagstaff.edge.connection_class,), {"bounds": bounds})
    async with Listener(flagstaff.edge.asgi, bounded) as listener:
        yield listener


@pytest.fixture
async def route(flagstaff: Flagstaff, bounds: Bounds) -> AsyncIterator[Listener]:
    """A server without the fast path."""
    bounded = type("Bounded", (connection_class(flagstaff.edge.rejections, None),), {"bounds": bounds})
    async with Listener(flagstaff.edge.asgi, bounded) as listener:
        yield listener


@pytest.fixture(params=["fast path", "route"])
def server(request: pytest.FixtureRequest, fast_path: Listener, route: Listener) -> Listener:
    """Each of the two."""
    return fast_path if request.param == "fast path" else route


@pytest.fixture
async def connection(server: Listener, project: Json) -> Connection:
    """A connection to each of the two."""
    return await server.connect()
