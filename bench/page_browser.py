"""A person at a dashboard without a cache, and the traffic of their page, for `bench.pages`."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from playwright.async_api import Browser, CDPSession

from bench.page_data import EMAIL
from tests.e2e.contexts import Contexts
from tests.e2e.people import Person

PATIENCE_MILLISECONDS = 60_000
ELEMENTS = "document.querySelectorAll('*').length"


@dataclass
class Traffic:
    """The requests of a page, those to the API, and the transferred bytes, compressed.

    `all` includes their headers.
    """

    requests: int = 0
    to_api: int = 0
    script: int = 0
    rest: int = 0
    all: int = 0
    _scripts: set[str] = field(default_factory=set)

    def watch(self, devtools: CDPSession) -> None:
        """Start to count."""
        devtools.on("Network.requestWillBeSent", self._sent)
        devtools.on("Network.responseReceived", self._began)
        devtools.on("Network.dataReceived", self._came)

    def _sent(self, event: dict[str, Any]) -> None:
        self.requests += 1
        self.to_api += urlsplit(event["request"]["url"]).path.startswith("/api/")

    def _began(self, event: dict[str, Any]) -> None:
        self.all += event["response"]["encodedDataLength"]
        if event["type"] == "Script":
            self._scripts.add(event["requestId"])

    def _came(self, event: dict[str, Any]) -> None:
        self.all += event["encodedDataLength"]
        if event["requestId"] in self._scripts:
            self.script += event["encodedDataLength"]
        else:
            self.rest += event["encodedDataLength"]


@asynccontextmanager
async def opened(browser: Browser, url: str, token: str) -> AsyncIterator[tuple[Person, Traffic]]:
    """Open a browser without a cache for a signed-in person; yield it with the traffic of its page."""
    async with Person(Contexts(browser), url) as person:
        person.email = EMAIL
        person.context.set_default_timeout(PATIENCE_MILLISECONDS)
        await person.use_token(token)
        devtools = await person.context.new_cdp_session(person.page)
        await devtools.send("Network.enable")
        await devtools.send("Network.setCacheDisabled", {"cacheDisabled": True})
        traffic = Traffic()
        traffic.watch(devtools)
        yield person, traffic
