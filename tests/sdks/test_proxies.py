"""Released clients, unmodified, behind a real nginx that refuses, keeps back, cuts off, delays, rewrites or compresses.

Each sees a flag turned off, or has no flags at all.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import pytest

from tests.sdks.test_browsers import ADA, origin, sqlite
from tests.sdks.test_ofrep import shop
from tests.sdks.test_tabs import one_browser
from tests.support.api import flag_path
from tests.support.applications import WITHOUT_STREAM, Application
from tests.support.built import LANGUAGES
from tests.support.providers import FrontendClient, Provider
from tests.support.proxies import WAYS, Proxies
from tests.support.server import ServerProcess
from tests.support.stores import Store

__all__ = ["origin", "sqlite"]  # fixtures
COMPILED = {"go", "java", "rust"}
REFUSING = ("refusing", "failing")
# These SDKs open their streams again and again, and do not poll. The one for Go waits for an answer for ever.
WITHOUT_FLAGS = {("python", way) for way in REFUSING} | {("go", way) for way in (*REFUSING, "buffering")}
MOVED = {"FLAGSTAFF_UNLEASH_FETCH_MODE": "streaming"}
# Behind a proxy that keeps events back, the SDKs for Node.js and Java wait for a minute, and so does the proxy.
PATIENCE_SECONDS = 150
PAUSE_SECONDS = 0.1

Ask = Callable[[], Coroutine[Any, Any, bool]]
Result = TypeVar("Result")


async def together(coroutines: Iterable[Coroutine[Any, Any, Result]]) -> list[Result]:
    """Run coroutines at once; return their results."""
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(each) for each in coroutines]
    return [each.result() for each in tasks]


class Crowd:
    """Clients behind proxies. `asks` tells by their names whether the flag is on in each."""

    def __init__(self, proxies: Proxies, key: str, origin: str, stack: AsyncExitStack) -> None:
        self._proxies = proxies
        self._key = key
        self._origin = origin
        self._stack = stack
        self.asks: dict[str, Ask] = {}

    async def add_application(self, language: str, mode: str, ways: Sequence[str]) -> None:
        """Add an application with an SDK of Unleash."""
        app = await self._stack.enter_async_context(Application(language, "", mode))
        for way in ways:
            await app.connect(self._key, way, self._proxies.url(way))
            self.asks[f"{language}, {mode}, {way}"] = partial(app.is_on, "checkout", name=way)

    async def add_ofrep(self, language: str, ways: Sequence[str]) -> None:
        """Add an application with an OFREP provider, which asks for each flag."""
        provider = await self._stack.enter_async_context(Provider(language, ""))

        async def is_on(way: str) -> bool:
            details = await provider.is_on("checkout", name=way)
            assert details.error is None, (language, way)
            return bool(details.value)

        for way in ways:
            await provider.connect(self._key, way, self._proxies.url(way))
            self.asks[f"{language}, OFREP, {way}"] = partial(is_on, way)

    async def add_frontend(self, method: str, ways: Sequence[str]) -> None:
        """Add an application with Unleash's client for browsers."""
        client = await self._stack.enter_async_context(FrontendClient(method, ""))

        async def is_on(way: str) -> bool:
            ((is_on, _, _),) = await client.ask([("checkout", {"userId": "ada", "properties": {}})], way)
            return bool(is_on)

        for way in ways:
            await client.connect(self._key, way, self._proxies.url(way))
            self.asks[f"frontend, {method}, {way}"] = partial(is_on, way)

    async def add_pages(self, ways: Sequence[str]) -> None:
        """Add pages with OFREP's provider for browsers, each with a stream."""
        browser = await self._stack.enter_async_context(one_browser())

        async def add(way: str) -> None:
            page = await browser.new_page()
            await page.goto(f"{self._origin}/browser.html")
            await page.wait_for_function("window.isReady")
            given = [self._proxies.url(way), self._key, ADA, {"stream": True}]
            await page.evaluate("([...given]) => openFeature(...given)", given)
            self.asks[f"page, {way}"] = partial(page.evaluate, "client.getBooleanValue('checkout', false)")

        await together(map(add, ways))

    async def until_all_are(self, on: bool) -> None:
        """Wait until the flag is on or off in all clients that can have it."""
        hopeless = {f"{language}, streaming, {way}" for language, way in WITHOUT_FLAGS} if on else ()
        waiting = {name: ask for name, ask in self.asks.items() if name not in hopeless}
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                while waiting:
                    answers = await together(ask() for ask in waiting.values())
                    waiting = {
                        name: waiting[name] for name, answer in zip(waiting, answers, strict=True) if answer is not on
                    }
                    await asyncio.sleep(PAUSE_SECONDS)
        except TimeoutError:
            pytest.fail(f"the flag is not {'on' if on else 'off'} in {sorted(waiting)}")


def everybody(crowd: Crowd) -> Iterator[Coroutine[Any, Any, None]]:
    """Add all clients behind all proxies, or behind those that matter most."""
    for language in LANGUAGES:
        ways = ("refusing", "buffering") if language in COMPILED else tuple(WAYS)
        yield crowd.add_application(language, "polling", ways)
        yield crowd.add_ofrep(language, ways)
        if language not in WITHOUT_STREAM:
            yield from (crowd.add_application(language, "streaming", [way]) for way in ways)
    if "node" in LANGUAGES:
        yield from (crowd.add_frontend(method, tuple(WAYS)) for method in ("GET", "POST"))
        yield crowd.add_pages(tuple(WAYS))


def those_that_are_moved(crowd: Crowd) -> Iterator[Coroutine[Any, Any, None]]:
    """Add clients that poll, and that the server moves to the stream."""
    yield from (crowd.add_application("node", "polling", [way]) for way in ("plain", *REFUSING))


@pytest.mark.parametrize(
    ("environ", "clients"),
    [
        pytest.param({}, everybody, id="everybody"),
        *([pytest.param(MOVED, those_that_are_moved, id="those that are moved")] if "node" in LANGUAGES else ()),
    ],
)
async def test_each_client_sees_a_flag_turned_off_or_has_none(
    sqlite: Store,
    origin: str,
    tmp_path: Path,
    environ: dict[str, str],
    clients: Callable[[Crowd], Iterator[Coroutine[Any, Any, None]]],
) -> None:
    async with (
        ServerProcess(sqlite, environ) as server,
        Proxies(tmp_path, server.port) as proxies,
        shop(server) as (caller, flag, key),
        AsyncExitStack() as stack,
    ):
        crowd = Crowd(proxies, key, origin, stack)
        await together(clients(crowd))
        await crowd.until_all_are(on=True)
        assert (await caller.post(f"{flag_path(flag)}/toggle")).status_code == 200
        await crowd.until_all_are(on=False)
        assert not any(await together(ask() for ask in crowd.asks.values()))
