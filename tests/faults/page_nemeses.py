"""Faults of browsers. In each round, the feature on their pages is turned off during the fault."""

import asyncio
from abc import abstractmethod
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from itertools import cycle
from random import Random

import httpx

from tests.faults.fleet import Fleet
from tests.faults.nemesis import Nemesis
from tests.faults.pages import ADDRESS, Shop
from tests.faults.process_nemeses import Killed
from tests.sdks.test_kills import frozen
from tests.support.middlebox import Trouble

_PAUSE_SECONDS = 0.05


class PagesHit(Nemesis):
    """The base of these faults. In half of them, open streams are reset, too."""

    name: str
    victims = ()

    def __init__(self, random: Random) -> None:
        self.seconds = random.uniform(2, 15)
        self._is_cut = random.random() < 0.5
        self._lasting = AsyncExitStack()

    def __str__(self) -> str:
        return f"pages: {self.name}{', streams reset' if self._is_cut else ''}"

    @abstractmethod
    def trouble(self, shop: Shop) -> AbstractAsyncContextManager[None]:
        """What happens to the pages during the block."""

    async def start(self, fleet: Fleet) -> None:
        if not fleet.shop.visitors:
            return
        await self._lasting.enter_async_context(self.trouble(fleet.shop))
        if self._is_cut:
            for box in fleet.shop.boxes:
                box.cut()

    async def heal(self, fleet: Fleet) -> None:  # noqa: ARG002
        await self._lasting.aclose()


class Frozen(PagesHit):
    """The processes of the pages are stopped (SIGSTOP), while the browser keeps their connections."""

    name = "frozen"

    def trouble(self, shop: Shop) -> AbstractAsyncContextManager[None]:
        return frozen([each.page for each in shop.visitors])


class Offline(PagesHit):
    """The browsers are offline. Chromium keeps open streams."""

    name = "offline"

    @asynccontextmanager
    async def trouble(self, shop: Shop) -> AsyncIterator[None]:
        contexts = [each.page.context for each in shop.visitors]
        for each in contexts:
            await each.set_offline(True)
        yield
        for each in contexts:
            await each.set_offline(False)


class Refused(PagesHit):
    """Something between the pages and the server refuses, loses or answers their requests for flags."""

    def __init__(self, random: Random) -> None:
        super().__init__(random)
        self._trouble = random.choice(list(Trouble))
        self.name = f"requests {self._trouble}"

    @asynccontextmanager
    async def trouble(self, shop: Shop) -> AsyncIterator[None]:
        for each in shop.boxes:
            each.trouble = self._trouble
        yield
        for each in shop.boxes:
            each.trouble = None


class Crowded(PagesHit):
    """Others behind the same address open pages, until the limit of the address refuses them, and go on."""

    name = "limit of their address used up"

    @asynccontextmanager
    async def trouble(self, shop: Shop) -> AsyncIterator[None]:
        is_full = asyncio.Event()
        others = asyncio.create_task(_open_pages(shop, is_full))
        await is_full.wait()
        yield
        others.cancel()
        await asyncio.wait([others])


async def _open_pages(shop: Shop, is_full: asyncio.Event) -> None:
    headers = {"authorization": f"Bearer {shop.key}", "x-forwarded-for": ADDRESS}
    async with httpx.AsyncClient(headers=headers) as client:
        for place in cycle(shop.instances):
            answer = await client.post(f"{place.url}/ofrep/v1/evaluate/flags", json={})
            if answer.status_code == 429:
                is_full.set()
                await asyncio.sleep(_PAUSE_SECONDS)


class KilledAtOnce(Killed):
    """An instance gets SIGKILL as soon as it has confirmed that the feature is off, and so may another one."""

    def __str__(self) -> str:
        return f"pages: feature turned off, SIGKILL of {len(self.victims)} at once"

    async def start(self, fleet: Fleet) -> None:
        await fleet.shop.turn(on=False, at=next(iter(self.victims)))
        await super().start(fleet)
