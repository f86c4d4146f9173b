"""Instances that a real proxy cuts off from PostgreSQL: how long requests take, and how recovery affects others."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, nullcontext
from dataclasses import dataclass

import httpx
import pytest

from flagstaff.concurrency.supervisor import is_set_within
from tests.faults.proxy import Proxy
from tests.support.api import Json, environment_path, flag_path
from tests.support.postgres import PostgresServer
from tests.support.remote import RemoteCaller
from tests.support.server import ServerProcess
from tests.support.stores import Store

MOST_SECONDS = 5.0
HEALED_SECONDS = 8.0
ENVIRON = {
    "FLAGSTAFF_EVALUATE_RATE_LIMIT": "off",
    "FLAGSTAFF_API_RATE_LIMIT": "off",
    "FLAGSTAFF_ACCESS_LOG": "off",
    "FLAGSTAFF_SECRET_KEY": "k" * 32,
}


@dataclass(frozen=True)
class Asked:
    """A request, its answer, and when it began and ended."""

    kind: str
    path: str
    answer: httpx.Response
    began: float
    ended: float

    @property
    def is_refused(self) -> bool:
        return self.answer.status_code == 503

    @property
    def is_unclear(self) -> bool:
        return self.is_refused and "retry-after" not in self.answer.headers


@dataclass
class Cuttable:
    """Two instances that have loaded Ada's flags. The second one reaches PostgreSQL through the proxy."""

    proxy: Proxy
    near: RemoteCaller
    far: RemoteCaller
    project: Json
    environment: Json
    flags: list[Json]

    async def ask_far(self, number: int) -> "Asked":
        """Send one of several requests to the second instance."""
        flag = self.flags[number % len(self.flags)]
        choices: tuple[tuple[str, str, Json], ...] = (
            ("toggle", f"{flag_path(flag)}/toggle", {}),
            ("create", f"{environment_path(self.environment)}/flags", {"json": {"name": "n", "key": f"new-{number}"}}),
            ("GET", flag_path(flag), {}),
            ("GET", f"{environment_path(self.environment)}/evaluations", {}),
        )
        kind, path, body = choices[number % 4]
        began = time.monotonic()
        answer = await self.far.request("GET" if kind == "GET" else "POST", path, **body)
        return Asked(kind, path, answer, began, time.monotonic())

    async def assert_that_only_answered_changes_are_stored(self, asked: "Sequence[Asked]") -> None:
        """Assert that requests that were refused with a retry time have changed nothing."""
        answer = await self.near.get(f"{environment_path(self.environment)}/flags")
        stored = {flag["key"]: flag["enabled"] for flag in answer.json()}
        toggled = Counter(each.path for each in asked if each.kind == "toggle" and not each.answer.is_error)
        unclear = {each.path for each in asked if each.is_unclear}
        for flag in self.flags:
            path = f"{flag_path(flag)}/toggle"
            assert path in unclear or stored[flag["key"]] is (toggled[path] % 2 == 0), flag["key"]


@pytest.fixture
async def cuttable(outage_postgres: PostgresServer, outage_store: Store) -> AsyncIterator[Cuttable]:
    async with AsyncExitStack() as stack:
        proxy = await stack.enter_async_context(Proxy(outage_postgres.port, 1))
        assert outage_store.database_url is not None
        far_url = outage_store.database_url.replace(f":{outage_postgres.port}/", f":{proxy.ports[0]}/")
        urls = {"near": outage_store.database_url, "far": far_url}
        stores = [Store(url, outage_store.data_directory / name) for name, url in urls.items()]
        servers = [await stack.enter_async_context(ServerProcess(store, ENVIRON)) for store in stores]
        near, far = [await stack.enter_async_context(RemoteCaller(server.url)) for server in servers]
        await near.sign_up()
        far.headers["authorization"] = near.headers["authorization"]
        project = await near.create_project()
        environment = await near.get_environment(project)
        flags = [await near.create_flag(environment, key=f"flag-{number}") for number in range(8)]
        for caller in (near, far):
            assert (await caller.evaluate(project["sdk_key"])).status_code == 200
        yield Cuttable(proxy, near, far, project, environment, flags)
        for server in servers:
            assert "Traceback" not in server.log


@asynccontextmanager
async def asking(cuttable: Cuttable, clients: int = 4) -> AsyncIterator[list[Asked]]:
    """Run clients that send requests to the second instance during the block; yield their answers so far."""
    asked: list[Asked] = []
    is_over = asyncio.Event()

    async def ask(first: int) -> None:
        number = first
        while not is_over.is_set():
            asked.append(await cuttable.ask_far(number))
            number += 9  # every client sends each kind of request, and each flag has only one client
            await is_set_within(is_over, 0.1 if asked[-1].is_refused else 0.01)

    async with asyncio.TaskGroup() as group:
        for first in range(clients):
            group.create_task(ask(first))
        try:
            yield asked
        finally:
            is_over.set()


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(40):
        while not condition():
            await asyncio.sleep(0.02)


@pytest.mark.parametrize("state", ["dropped", "half_open", "hanging"])
async def test_each_request_at_an_instance_that_is_cut_off_is_answered_within_five_seconds(
    cuttable: Cuttable, outage_postgres: PostgresServer, state: str
) -> None:
    async with asking(cuttable) as asked:
        await until(lambda: len(asked) > 40)
        cut = time.monotonic()
        with outage_postgres.hanging() if state == "hanging" else nullcontext():
            await cuttable.proxy.change(0, state if state != "hanging" else "open")
            await until(lambda: sum(each.is_refused for each in asked) > 100)
        await cuttable.proxy.change(0, "open")
        async with asyncio.timeout(HEALED_SECONDS):
            while any(each.is_refused for each in asked[-8:]):
                await asyncio.sleep(0.02)
    # A request that began before may have waited for a lock.
    slow = [each for each in asked if each.ended - max(each.began, cut) > MOST_SECONDS]
    assert not slow
    assert {each.answer.status_code for each in asked} <= {200, 201, 503}
    assert not any(each.is_unclear for each in asked if each.kind == "GET")
    await cuttable.assert_that_only_answered_changes_are_stored(asked)


@pytest.mark.parametrize("state", ["half_open", "dropped"])
async def test_the_healing_of_a_partition_costs_the_other_instance_no_unconfirmed_change(
    cuttable: Cuttable, state: str
) -> None:
    path = f"{flag_path(cuttable.flags[-1])}/toggle"
    answers: list[httpx.Response] = []

    async def toggle_until(live_on: str) -> None:
        async with asyncio.timeout(30):
            while not answers or answers[-1].headers["flagstaff-live-on"] != live_on:
                answers.append(await cuttable.near.post(path))
                assert answers[-1].status_code == 200, answers[-1].text

    async with asking(cuttable, clients=2) as asked:
        await until(lambda: len(asked) > 20)
        await cuttable.proxy.change(0, state)
        await toggle_until("1/2")
        await until(lambda: sum(each.is_refused for each in asked) > 50)
        await cuttable.proxy.change(0, "open")
        await toggle_until("2/2")
        answers += [await cuttable.near.post(path) for _ in range(20)]
    assert {answer.status_code for answer in answers} == {200}
