"""Clients with an open stream, as Unleash's SDKs have: each must learn of every change, or be told to reconnect."""

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress

import httpx

_HEARD_WITHIN_SECONDS = 10.0
_RECONNECT_SECONDS = 0.1
_REVISION = re.compile(r'"eventId":\s*(\d+)')


class Listener:
    """A stream from one instance, which is reopened whenever it ends. `revision` is the newest that it has received."""

    def __init__(self, instance: int, url: str, sdk_key: str) -> None:
        self.instance = instance
        self.revision = 0
        self._url = url
        self._headers = {"authorization": sdk_key}

    async def run(self) -> None:
        """Listen until it is cancelled."""
        async with httpx.AsyncClient(base_url=self._url, timeout=None) as client:
            while True:
                with suppress(httpx.TransportError):
                    await self._listen(client)
                await asyncio.sleep(_RECONNECT_SECONDS)

    async def _listen(self, client: httpx.AsyncClient) -> None:
        async with client.stream("GET", "/unleash/api/client/streaming", headers=self._headers) as response:
            if response.status_code == 200:
                async for line in response.aiter_lines():
                    if line.startswith("data: "):
                        self.revision = max(self.revision, *map(int, _REVISION.findall(line)), 0)


@asynccontextmanager
async def listening(urls: Sequence[str], sdk_key: str) -> AsyncIterator[list[Listener]]:
    """Run a listener at each instance during the block."""
    listeners = [Listener(number, url, sdk_key) for number, url in enumerate(urls)]
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(each.run()) for each in listeners]
        try:
            yield listeners
        finally:
            for task in tasks:
                task.cancel()


async def find_unaware(listeners: Sequence[Listener], revision: int) -> list[str]:
    """Return the listeners that do not receive a revision soon, in words: they would keep an old state."""
    with suppress(TimeoutError):
        async with asyncio.timeout(_HEARD_WITHIN_SECONDS):
            while any(each.revision < revision for each in listeners):
                await asyncio.sleep(0.02)
    return [
        f"a stream at instance {each.instance} has heard of revision {each.revision} only, and the last is {revision}"
        for each in listeners
        if each.revision < revision
    ]
