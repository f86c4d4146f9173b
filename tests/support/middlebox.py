"""A proxy between a browser and a server that can do to fetches what middleboxes do, while open streams go on."""

import asyncio
import socket
import struct
from asyncio import StreamReader, StreamWriter
from enum import StrEnum
from typing import Self

from tests.support.ports import free_port

_HEAD_MAX_BYTES = 64 * 1024
_FETCHES = (b"POST ", b"GET /unleash/api/frontend?")
_RESET = struct.pack("ii", 1, 0)  # SO_LINGER: a close discards what was not sent, and resets the connection
_OPEN = b"Access-Control-Allow-Origin: *\r\nAccess-Control-Allow-Headers: *, Authorization\r\n"


class Trouble(StrEnum):
    """What happens to a fetch."""

    RESET = "reset"
    """The connection is reset, and the server does not get the request."""
    LOST = "lost"
    """The server gets the request, and the connection is reset instead of the response."""
    LIMITED = "limited"
    """A proxy's limit on requests answers with a 429."""
    UNAVAILABLE = "unavailable"
    """A proxy answers with a 503 of its own, without the headers that let a page read it."""
    PORTAL = "portal"
    """A captive portal answers with a 200 and its page."""


_ANSWERS = {
    Trouble.LIMITED: (b"429 Too Many Requests", b"Retry-After: 1\r\n" + _OPEN, b"{}"),
    Trouble.UNAVAILABLE: (b"503 Service Unavailable", b"", b"<html>"),
    Trouble.PORTAL: (b"200 OK", b"Content-Type: text/html\r\n" + _OPEN, b"<html>Sign in to use this network.</html>"),
}


class Middlebox:
    """A context manager that forwards to a port of this machine, each request over a connection of its own."""

    def __init__(self, upstream_port: int, *, address: str | None = None) -> None:
        """`address` is the client's, which the server is told."""
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.trouble: Trouble | None = None
        """What happens to the fetches of flags that begin now; None if they are forwarded."""
        self.troubled = 0
        """The number of fetches that had trouble."""
        self.fetches = 0
        """The number of fetches that the server has got and answered."""
        self._upstream_port = upstream_port
        self._added = [f"X-Forwarded-For: {address}".encode()] if address else []
        self._writers: set[StreamWriter] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port, limit=_HEAD_MAX_BYTES)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        self.cut()
        await self._server.wait_closed()

    def cut(self) -> None:
        """Reset all connections."""
        for writer in tuple(self._writers):
            _reset(writer)

    async def _serve(self, reader: StreamReader, writer: StreamWriter) -> None:
        self._writers.add(writer)
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            await self._handle(head, reader, writer)
        except (asyncio.IncompleteReadError, OSError):
            pass  # one of the two has left
        finally:
            self._writers.discard(writer)
            writer.close()

    async def _handle(self, head: bytes, reader: StreamReader, writer: StreamWriter) -> None:
        is_fetch, trouble = head.startswith(_FETCHES), self.trouble
        if not is_fetch or trouble is None:
            await self._forward(head, reader, writer)
            self.fetches += is_fetch
            return
        self.troubled += 1
        if trouble is Trouble.LOST:
            await self._forward(head, reader, None)
        if trouble in _ANSWERS:
            status, headers, body = _ANSWERS[trouble]
            length = b"Connection: close\r\nContent-Length: %d\r\n\r\n" % len(body)
            writer.write(b"HTTP/1.1 " + status + b"\r\n" + headers + length + body)
            await writer.drain()
        else:
            _reset(writer)

    async def _forward(self, head: bytes, reader: StreamReader, writer: StreamWriter | None) -> None:
        """Forward a request, and the response to `writer`, or to nobody."""
        upstream, forward = await asyncio.open_connection("127.0.0.1", self._upstream_port)
        self._writers.add(forward)
        request, _, headers = head.partition(b"\r\n")
        kept = [each for each in headers.split(b"\r\n") if not each.lower().startswith(b"connection:")]
        forward.write(b"\r\n".join((request, b"Connection: close", *self._added, *kept)))
        sending = asyncio.create_task(_copy(reader, forward))
        try:
            await _copy(upstream, writer)
        finally:
            sending.cancel()
            self._writers.discard(forward)
            forward.close()


async def _copy(reader: StreamReader, writer: StreamWriter | None) -> None:
    while data := await reader.read(64 * 1024):
        if writer is not None:
            writer.write(data)
            await writer.drain()


def _reset(writer: StreamWriter) -> None:
    connection: socket.socket | None = writer.get_extra_info("socket")
    if connection is not None and not writer.is_closing():
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
    writer.transport.abort()
