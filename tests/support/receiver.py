"""A receiver of webhooks: a real HTTP server that records its requests, and answers as a test says."""

import asyncio
import hashlib
import hmac
import json
import socket
import ssl
import struct
from base64 import b64decode, b64encode
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self


@dataclass(frozen=True)
class Message:
    """A request that a receiver has received."""

    headers: dict[str, str]
    body: bytes

    @property
    def id(self) -> str:
        """The message's id."""
        return self.headers["webhook-id"]

    @property
    def json(self) -> dict[str, Any]:
        """The body."""
        parsed: dict[str, Any] = json.loads(self.body)
        return parsed

    @property
    def type(self) -> str:
        """The type of the event."""
        kind: str = self.json["type"]
        return kind

    def is_signed_with(self, secret: str) -> bool:
        """Return whether one of the signatures was made with the secret, as Standard Webhooks specifies."""
        content = b".".join((self.id.encode(), self.headers["webhook-timestamp"].encode(), self.body))
        digest = hmac.new(b64decode(secret.removeprefix("whsec_")), content, hashlib.sha256).digest()
        return f"v1,{b64encode(digest).decode()}" in self.headers["webhook-signature"].split(" ")


Answer = Callable[[Message], bytes | None]


def response(status: int = 200, body: bytes = b"ok", **headers: str) -> bytes:
    """A whole response."""
    lines = [f"HTTP/1.1 {status} Whatever", f"content-length: {len(body)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


RESET = b"reset"
"""An answer that resets the connection instead."""


class Receiver:
    """A server on loopback. `answer` returns a response, or None to leave the request without one."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self._tls = tls
        self.messages: list[Message] = []
        self.answer: Answer = lambda _: response()
        self._came = asyncio.Condition()

    @property
    def url(self) -> str:
        """The address at which it listens."""
        return f"http://127.0.0.1:{self.port}/hook?token=s3cret"

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self._tls)
        self.port: int = self._server.sockets[0].getsockname()[1]
        self._open: set[asyncio.StreamWriter] = set()
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for writer in list(self._open):
            writer.close()
        await self._server.wait_closed()

    async def wait_for(self, count: int) -> list[Message]:
        """Wait for this number of messages, and return all of them."""
        async with asyncio.timeout(30), self._came:
            await self._came.wait_for(lambda: len(self.messages) >= count)
        return self.messages

    async def wait_for_another(self, message: Message) -> None:
        """Wait until a message has arrived twice."""
        async with asyncio.timeout(30), self._came:
            await self._came.wait_for(lambda: [each.id for each in self.messages].count(message.id) > 1)

    async def refuse_all(self) -> None:
        """Answer the pending requests with 500."""
        for writer in list(self._open):
            writer.write(response(500))
            await writer.drain()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                lines = head.strip().split("\r\n")[1:]
                headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
                message = Message(headers, await reader.readexactly(int(headers.get("content-length", "0"))))
                async with self._came:
                    self.messages.append(message)
                    answer = self.answer(message)
                    self._came.notify_all()
                if answer is RESET:
                    linger = struct.pack("ii", 1, 0)  # closing sends RST
                    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                    break
                if answer is not None:
                    writer.write(answer)
                    await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError, ssl.SSLError):
            pass
        finally:
            self._open.discard(writer)
            writer.close()
