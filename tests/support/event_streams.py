"""The client's side of streams of server-sent events, and the server's keep-alives."""

import asyncio
from typing import Any

import httpx
import msgspec

from flagstaff.serving.streams import TURNS, Streams

_PATIENCE_SECONDS = 10


class EventStream:
    """The client's side of a stream of server-sent events."""

    def __init__(self, response: httpx.Response) -> None:
        self.response = response
        self._lines = response.aiter_lines()

    async def next(self) -> dict[str, Any]:
        """Return the next event's fields, with its data decoded. Comments and `retry` are skipped."""
        fields: dict[str, Any] = {}
        async with asyncio.timeout(_PATIENCE_SECONDS):
            async for line in self._lines:
                name, _, value = line.partition(": ")
                if name in ("id", "event"):
                    fields[name] = value
                elif name == "data":
                    fields[name] = msgspec.json.decode(value)
                elif not line and "data" in fields:
                    return fields
        raise EOFError

    async def rest(self) -> list[str]:
        """Return the lines that follow until the response ends completely."""
        async with asyncio.timeout(_PATIENCE_SECONDS):
            return [line async for line in self._lines]

    async def is_over(self) -> bool:
        """Return whether the response ends completely, after any number of events."""
        await self.rest()
        return True


async def keep_alive(streams: Streams) -> None:
    """Keep each stream alive once, as the server does every ten seconds."""
    for _ in range(TURNS):
        await streams.keep_alive()
