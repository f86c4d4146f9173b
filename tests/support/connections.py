"""HTTP at the level of bytes: a server whose reads a test controls, and connections that can send anything."""

import asyncio
import json
import socket
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Self

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.server import ServerState

from flagstaff.http.connections.protocol import BoundedProtocol

BODY = b'{"environment":"production","context":{"user_id":"ada"}}'
"""The body that an application sends for Ada."""

_PATIENCE_SECONDS = 10
_DATE = b"Fri, 20 Nov 2026 10:00:00 GMT"


def request(
    sdk_key: bytes, body: bytes = BODY, *headers: bytes, line: bytes = b"POST /sdk/v1/evaluate HTTP/1.1"
) -> bytes:
    """Return a request; `headers` come before the usual ones."""
    lines = (line, b"Host: flags", b"X-Request-ID: r1", *headers, b"X-SDK-Key: " + sdk_key)
    return b"\r\n".join((*lines, b"Content-Length: %d" % len(body), b"", body))


def bare(sdk_key: bytes, *headers: bytes, rest: bytes = b"", line: bytes = b"POST /sdk/v1/evaluate HTTP/1.1") -> bytes:
    """Return a request without a length, with these headers and with anything after them."""
    return b"\r\n".join((line, b"Host: flags", b"X-Request-ID: r1", b"X-SDK-Key: " + sdk_key, *headers, b"", rest))


@dataclass(frozen=True)
class Answer:
    """A response as received."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def header(self, name: str) -> str | None:
        """The value of a header."""
        return dict(self.headers).get(name)

    def json(self) -> Any:
        """The body, parsed as JSON."""
        return json.loads(self.body)


class Client:
    """A client's side of a connection. A context manager: leaving it closes the connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def connect(cls, port: int, *, source: str = "127.0.0.1") -> "Client":
        """Connect to a server on this machine; each `source` in 127.0.0.0/8 is a separate client."""
        return cls(*await asyncio.open_connection("127.0.0.1", port, local_addr=(source, 0)))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def send(self, data: bytes) -> None:
        """Send through the network."""
        self._writer.write(data)
        await self._writer.drain()

    def end(self) -> None:
        """Close the sending side; responses may still arrive."""
        self._writer.write_eof()

    async def receive(self) -> Answer:
        """The next response."""
        async with asyncio.timeout(_PATIENCE_SECONDS):
            head = await self._reader.readuntil(b"\r\n\r\n")
            status, *lines = head.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
            headers = tuple((name.lower(), value) for name, _, value in (line.partition(": ") for line in lines))
            body = await self._reader.readexactly(int(dict(headers).get("content-length", "0")))
        return Answer(int(status.split()[1]), headers, body)

    async def receive_rest(self) -> bytes:
        """Everything received until the server closes the connection."""
        async with asyncio.timeout(_PATIENCE_SECONDS):
            return await self._reader.read()

    async def close(self) -> None:
        """Close the connection."""
        self._writer.close()
        with suppress(ConnectionError):  # the server had already closed it
            await self._writer.wait_closed()


async def ask_as_written(port: int, method: str, path: str, *, key: str, accept: str, body: bytes) -> Answer:
    """Send a request whose path no client library has touched, with a key in the headers of every protocol."""
    lines = (
        f"{method} {path} HTTP/1.1",
        "Host: flags",
        f"Accept: {accept}",
        f"X-SDK-Key: {key}",
        f"X-API-Key: {key}",
        f"Authorization: {key}",
        f"Content-Length: {len(body)}",
    )
    async with await Client.connect(port) as client:
        await client.send(("\r\n".join(lines) + "\r\n\r\n").encode() + body)
        return await client.receive()


class Connection(Client):
    """Both sides of a connection: the client's, and the server's as `server`."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, server: BoundedProtocol) -> None:
        super().__init__(reader, writer)
        self.server = server

    def feed(self, *reads: bytes) -> None:
        """Make the server read these pieces one after the other, as the network might split them."""
        for read in reads:
            self.server.data_received(read)

    def stop_reading(self) -> None:
        """Stop reading. The server's buffer is made small so that it fills quickly."""
        self._writer.transport.pause_reading()  # type: ignore[attr-defined]
        self.server.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)


class Listener:
    """A listening server that behaves like `uvicorn.Server`, with a fixed date."""

    def __init__(
        self, app: ASGIApp, connection_class: type[BoundedProtocol], state: Mapping[str, object] | None = None
    ) -> None:
        """`state` is what each request's state begins with."""
        self._app = app
        self._app_state = dict(state or {})
        self._config = uvicorn.Config(self, http=connection_class, ws="none", lifespan="off", log_config=None)
        self._config.load()
        self.state = ServerState()
        self.state.default_headers = [(b"date", _DATE)]
        self.requests_of_app = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.requests_of_app += 1
        await self._app(scope, receive, send)

    def accept(self) -> asyncio.Protocol:
        """The protocol of a new connection."""
        return self._config.http_protocol_class(  # type: ignore[call-arg]
            config=self._config, server_state=self.state, app_state=self._app_state
        )

    async def connect(self) -> Connection:
        """Open a connection."""
        known = set(self.state.connections)
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        async with asyncio.timeout(_PATIENCE_SECONDS):
            while not (new := set(self.state.connections) - known):
                await asyncio.sleep(0)
        (server,) = new
        assert isinstance(server, BoundedProtocol)
        connection = Connection(reader, writer, server)
        self._connections.append(connection)
        return connection

    def shut_down(self) -> None:
        """Tell the connections that the server is stopping."""
        for connection in list(self.state.connections):
            connection.shutdown()

    async def __aenter__(self) -> Self:
        self._connections: list[Connection] = []
        self._server = await asyncio.get_running_loop().create_server(self.accept, "127.0.0.1", 0)
        self.port: int = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        for connection in self._connections:
            await connection.close()
        self._server.close()
        async with asyncio.timeout(_PATIENCE_SECONDS):
            while self.state.connections or self.state.tasks:
                await asyncio.sleep(0.001)
        await self._server.wait_closed()
