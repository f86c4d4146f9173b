"""The client of webhooks, whose module is loaded for the first message: few instances have any."""

import asyncio
from importlib import import_module
from typing import TYPE_CHECKING

from flagstaff.hooks.client.addresses import Reach
from flagstaff.hooks.client.answers import Answer
from flagstaff.hooks.client.tls import Tls

if TYPE_CHECKING:
    from flagstaff.hooks.client.client import WebhookClient


class LazyClient:
    """Sends messages like `WebhookClient`."""

    def __init__(self, reach: Reach, tls: Tls) -> None:
        """Nothing is opened yet, but the files of `tls` are read, if there are any.

        Raises:
            ValueError: a file of `tls` cannot be used.
        """
        self._reach, self._tls = reach, tls
        self._client: WebhookClient | None = None
        if tls != Tls():
            tls.context  # noqa: B018 -- it is kept

    async def send(self, url: str, headers: dict[str, str], body: bytes) -> Answer:
        """Send a message; raises SendError."""
        if self._client is None:
            # In a thread, where it does not hold the event loop for 10 ms.
            loaded = await asyncio.to_thread(import_module, "flagstaff.hooks.client.client")
            self._client = self._client or loaded.WebhookClient(self._reach, self._tls)
        return await self._client.send(url, headers, body)

    async def close(self) -> None:
        """Close the connections that are kept."""
        if self._client is not None:
            await self._client.close()
