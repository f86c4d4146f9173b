"""Two server processes on one PostgreSQL, one of which is stopped, killed or cut off for real."""

import asyncio
import signal
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest

from tests.support.api import Json, flag_path
from tests.support.postgres import PostgresServer
from tests.support.remote import RemoteCaller
from tests.support.server import ServerProcess
from tests.support.stores import Store

ENVIRON = {
    "FLAGSTAFF_EVALUATE_RATE_LIMIT": "off",
    "FLAGSTAFF_API_RATE_LIMIT": "off",
    "FLAGSTAFF_ACCESS_LOG": "off",
    "FLAGSTAFF_SECRET_KEY": "k" * 32,
}


@dataclass
class Pair:
    """Ada works at the first process; the second has her flag, which is on."""

    first: ServerProcess
    second: ServerProcess
    ada: RemoteCaller
    application: RemoteCaller
    project: Json
    flag: Json

    async def is_on_at_second(self) -> bool:
        answer = await self.application.evaluate(self.project["sdk_key"])
        enabled: bool = answer.json()["flags"][self.flag["key"]]["enabled"]
        return enabled

    async def until_ready(self) -> None:
        async with asyncio.timeout(20):
            for caller in (self.ada, self.application):
                while (await caller.get("/ready")).status_code != 200:
                    await asyncio.sleep(0.02)


@pytest.fixture
async def pair(outage_store: Store) -> AsyncIterator[Pair]:
    stores = [Store(outage_store.database_url, outage_store.data_directory / name) for name in ("first", "second")]
    async with (
        ServerProcess(stores[0], ENVIRON) as first,
        ServerProcess(stores[1], ENVIRON) as second,
        RemoteCaller(first.url) as ada,
        RemoteCaller(second.url) as application,
    ):
        await ada.sign_up()
        project = await ada.create_project()
        flag = await ada.create_flag(await ada.get_environment(project))
        made = Pair(first, second, ada, application, project, flag)
        assert await made.is_on_at_second()
        yield made
        for server in (first, second):
            assert "Traceback" not in server.log


async def test_a_paused_instance_is_waited_for_and_then_reported_as_not_confirmed(pair: Pair) -> None:
    pair.second.signal(signal.SIGSTOP)
    try:
        answer = await pair.ada.post(f"{flag_path(pair.flag)}/toggle")
    finally:
        pair.second.signal(signal.SIGCONT)
    assert answer.status_code == 503
    assert answer.json()["detail"].startswith("The change is stored and this instance serves it")
    assert "retry-after" not in answer.headers
    async with asyncio.timeout(10):
        while await pair.is_on_at_second():
            await asyncio.sleep(0.01)
    assert (await pair.ada.post(f"{flag_path(pair.flag)}/toggle")).status_code == 200
    assert await pair.is_on_at_second()


async def test_an_instance_that_resumes_in_time_has_the_change_when_its_call_returns(pair: Pair) -> None:
    pair.second.signal(signal.SIGSTOP)
    toggle = asyncio.create_task(pair.ada.post(f"{flag_path(pair.flag)}/toggle"))
    await asyncio.wait([toggle], timeout=1)
    assert not toggle.done()
    pair.second.signal(signal.SIGCONT)
    assert (await toggle).status_code == 200
    assert not await pair.is_on_at_second()


async def test_an_instance_that_was_killed_delays_no_change(pair: Pair) -> None:
    await pair.second.kill()
    async with asyncio.timeout(4):
        assert (await pair.ada.post(f"{flag_path(pair.flag)}/toggle")).status_code == 200


@pytest.mark.parametrize("crash", [False, True])
async def test_after_a_restart_of_postgresql_both_hear_of_each_other_again(
    pair: Pair, outage_postgres: PostgresServer, crash: bool
) -> None:
    outage_postgres.stop(crash=crash)
    for caller in (pair.ada, pair.application):
        async with asyncio.timeout(10):
            while (await caller.get("/ready")).status_code == 200:
                await asyncio.sleep(0.02)
    outage_postgres.start()
    await pair.until_ready()
    for wanted in (False, True):
        assert (await pair.ada.post(f"{flag_path(pair.flag)}/toggle")).status_code == 200
        assert await pair.is_on_at_second() is wanted
