"""A connection to a receiver from which only so much is read of each response, some at a time.

The event loop that reads a response also serves evaluations. The library reads and parses 64 kB at once, and any
number of interim responses (1xx), so a receiver could otherwise occupy the loop for the whole attempt.
"""

import asyncio
import ssl
from typing import Any

import httpcore

RESPONSE_MAX_BYTES = 16_384
RESPONSE_MAX_LINES = 500
_READ_AT_ONCE = 2048


class ResponseTooLongError(httpcore.ReadError):
    """A response has more bytes or lines than are read."""


class BoundedStream(httpcore.AsyncNetworkStream):
    """A stream whose bounds begin anew with each request that is written to it."""

    def __init__(self, stream: httpcore.AsyncNetworkStream) -> None:
        self._stream = stream
        self._bytes = self._lines = 0

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109 - the interface's
        """Read some bytes; raises ResponseTooLongError."""
        if self._bytes > RESPONSE_MAX_BYTES or self._lines > RESPONSE_MAX_LINES:
            raise ResponseTooLongError(
                f"The response has more than {RESPONSE_MAX_BYTES:,} bytes or {RESPONSE_MAX_LINES} lines."
            )
        if self._bytes:
            await asyncio.sleep(0)  # others go on, also where the data of TLS is already here
        read = await self._stream.read(min(max_bytes, _READ_AT_ONCE), timeout)
        self._bytes += len(read)
        self._lines += read.count(b"\n")
        return read

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109 - the interface's
        """Write a part of a request."""
        self._bytes = self._lines = 0
        await self._stream.write(buffer, timeout)

    async def aclose(self) -> None:
        """Close the connection."""
        await self._stream.aclose()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - the interface's
    ) -> httpcore.AsyncNetworkStream:
        """The stream inside TLS, with bounds of its own."""
        return BoundedStream(await self._stream.start_tls(ssl_context, server_hostname, timeout))

    def get_extra_info(self, info: str) -> Any:
        """A fact about the connection."""
        return self._stream.get_extra_info(info)
