"""Accepting connections: a failed one frees its place, and one that is being set up takes part in a stop."""

import asyncio
import socket
from collections.abc import Iterator
from functools import partial

import pytest
import uvicorn
from structlog.testing import capture_logs
from uvicorn.server import ServerState

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.http.connections.protocol import BoundedProtocol


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening


async def test_a_connection_that_cannot_be_set_up_is_closed_logged_and_no_longer_counted(
    flagstaff: Flagstaff, listener: socket.socket
) -> None:
    def fail() -> BoundedProtocol:
        raise RuntimeError("out of luck")

    acceptor = flagstaff.edge.make_acceptor(listener, fail)
    acceptor.start()
    try:
        with capture_logs() as entries:
            reader, writer = await asyncio.open_connection(*listener.getsockname())
            assert await asyncio.wait_for(reader.read(), 30) == b""
            writer.close()
            await acceptor.wait_closed()
    finally:
        acceptor.close()
    assert flagstaff.serving.connection_bounds.open == 0
    assert [entry["event"] for entry in entries] == ["connection_failed"]


async def test_a_connection_that_is_being_set_up_is_known_before_a_stop_goes_on(
    flagstaff: Flagstaff, listener: socket.socket
) -> None:
    config = uvicorn.Config(
        flagstaff.edge.asgi, http=flagstaff.edge.connection_class, ws="none", lifespan="off", log_config=None
    )
    state = ServerState()
    config.load()
    make_protocol = partial(flagstaff.edge.connection_class, config=config, server_state=state, app_state={})
    acceptor = flagstaff.edge.make_acceptor(listener, make_protocol)
    listener.setblocking(False)
    with socket.create_connection(listener.getsockname()) as client:
        acceptor._accept()
        acceptor.close()
        await acceptor.wait_closed()
        (connection,) = state.connections
        connection.shutdown()
        client.setblocking(False)
        assert await asyncio.wait_for(asyncio.get_running_loop().sock_recv(client, 1), 30) == b""
    await flagstaff.foundation.supervisor.drain(5)
    assert flagstaff.serving.connection_bounds.open == 0
