"""A minimal HTTP client, which discards bodies so that it is not the bottleneck."""

import asyncio
import json
from dataclasses import dataclass
from typing import Self

_READ_BYTES = 1 << 20


def request(
    method: str,
    path: str,
    body: object = None,
    *,
    token: str | None = None,
    sdk_key: str | None = None,
    idempotency_key: str | None = None,
) -> bytes:
    """The bytes of a request."""
    content = b"" if body is None else json.dumps(body).encode()
    head = f"{method} {path} HTTP/1.1\r\nHost: bench\r\nContent-Length: {len(content)}\r\n"
    if content:
        head += "Content-Type: application/json\r\n"
    if token:
        head += f"Authorization: Bearer {token}\r\n"
    if sdk_key:
        head += f"X-SDK-Key: {sdk_key}\r\n"
    if idempotency_key:
        head += f"Idempotency-Key: {idempotency_key}\r\n"
    return f"{head}\r\n".encode() + content


@dataclass(frozen=True)
class Connection:
    """A persistent connection."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    @classmethod
    async def open(cls, port: int) -> Self:
        """Connect to a port of this machine."""
        return cls(*await asyncio.open_connection("127.0.0.1", port, limit=_READ_BYTES))

    async def exchange(self, sent: bytes) -> int:
        """Send a request and read its whole answer; return its status, or 0 if the server closed the connection."""
        try:
            self.writer.write(sent)
            head = await self.reader.readuntil(b"\r\n\r\n")
            left = _content_length(head)
            if left is not None:
                await self._discard(left)
            elif b"transfer-encoding: chunked" in head.lower():
                while size := int(await self.reader.readuntil(b"\r\n"), 16):
                    await self._discard(size + 2)
                await self._discard(2)
        except (ConnectionError, asyncio.IncompleteReadError):
            return 0
        return int(head[9:12])

    async def fetch(self, sent: bytes) -> tuple[int, bytes]:
        """Send a request; return the status and the body of an answer that states its length, or 0 and nothing."""
        try:
            self.writer.write(sent)
            head = await self.reader.readuntil(b"\r\n\r\n")
            return int(head[9:12]), await self.reader.readexactly(_content_length(head) or 0)
        except (ConnectionError, asyncio.IncompleteReadError):
            return 0, b""

    async def _discard(self, left: int) -> None:
        while left:
            read = await self.reader.read(min(left, _READ_BYTES))
            if not read:
                raise ConnectionResetError
            left -= len(read)

    def close(self) -> None:
        """Close it."""
        self.writer.close()


def _content_length(head: bytes) -> int | None:
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            return int(line.partition(b":")[2])
    return None
