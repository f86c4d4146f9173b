"""A write of a value that is already stored is answered when every evaluation sees that value, with real processes.

Each round sends the same PUT over two connections at the same time, and evaluates everywhere after each response.
"""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass

import httpx
import pytest

from tests.support.api import Json, environment_path, flag_path
from tests.support.remote import RemoteCaller
from tests.support.server import ServerProcess
from tests.support.stores import Store
from tests.support.workers import a_caller_of_each

ROUNDS = 30
ENVIRON = {
    "FLAGSTAFF_EVALUATE_RATE_LIMIT": "off",
    "FLAGSTAFF_API_RATE_LIMIT": "off",
    "FLAGSTAFF_ACCESS_LOG": "off",
    "FLAGSTAFF_SECRET_KEY": "k" * 32,
    "FLAGSTAFF_WHEN_CUT_OFF": "refuse",
}


@dataclass
class Fleet:
    """Callers of every process, with a flag that is on in an environment that takes a while to load."""

    callers: Sequence[RemoteCaller]
    project: Json
    flag: Json

    async def set_flag(self, caller: RemoteCaller, *, enabled: bool) -> httpx.Response:
        return await caller.put(flag_path(self.flag), json={"enabled": enabled})

    async def set_all(self, caller: RemoteCaller, *, enabled: bool) -> httpx.Response:
        action = {"flags": [self.flag["id"]], "action": "enable" if enabled else "disable"}
        return await caller.post(f"{environment_path(self.environment)}/bulk-actions", json=action)

    @property
    def environment(self) -> Json:
        return {"project_id": self.project["id"], "id": self.flag["environment_id"]}

    async def answers(self) -> list[bool]:
        """Return the result of an evaluation at each of the callers."""
        answers = await asyncio.gather(*(each.evaluate(self.project["sdk_key"]) for each in self.callers))
        return [each.json()["flags"][self.flag["key"]]["enabled"] for each in answers]

    async def stale_answers(self, *, in_bulk: bool) -> int:
        """Return how many evaluations after a 200 miss the written state. Each round sends two equal writes at once."""
        write = self.set_all if in_bulk else self.set_flag
        stale = 0

        async def put_and_evaluate(caller: RemoteCaller, *, enabled: bool) -> int:
            response = await write(caller, enabled=enabled)
            assert response.status_code == 200, response.text
            return (await self.answers()).count(not enabled)

        for turn in range(ROUNDS):
            first, second = self.callers[turn % len(self.callers)], self.callers[(turn + 1) % len(self.callers)]
            enabled = turn % 2 == 1
            stale += sum(await asyncio.gather(*(put_and_evaluate(each, enabled=enabled) for each in (first, second))))
        return stale


async def make_fleet(callers: Sequence[RemoteCaller]) -> Fleet:
    ada = callers[0]
    await ada.sign_up()
    for caller in callers[1:]:
        caller.headers["authorization"] = ada.headers["authorization"]
    project = await ada.create_project()
    environment = await ada.get_environment(project)
    flag = await ada.create_flag(environment)
    rules = [{"name": f"Filler {number}", "key": f"filler-{number}"} for number in range(20)]
    await asyncio.gather(*(ada.create_flag(environment, **each) for each in rules))
    fleet = Fleet(callers, project, flag)
    assert await fleet.answers() == [True] * len(callers)
    return fleet


@pytest.fixture
async def one_process(store: Store) -> AsyncIterator[Fleet]:
    async with (
        ServerProcess(store, ENVIRON) as server,
        RemoteCaller(server.url) as one,
        RemoteCaller(server.url) as other,
    ):
        yield await make_fleet([one, other])
        assert "Traceback" not in server.log


@pytest.fixture
async def workers(store: Store) -> AsyncIterator[tuple[ServerProcess, Fleet]]:
    async with ServerProcess(store, {**ENVIRON, "FLAGSTAFF_WORKERS": "2"}) as server:
        async with a_caller_of_each(server, 2) as callers:
            yield server, await make_fleet(callers)
        assert "Traceback" not in server.log


@pytest.fixture
async def three_instances(outage_store: Store) -> AsyncIterator[Fleet]:
    async with AsyncExitStack() as opened:
        callers = []
        for name in ("first", "second", "third"):
            own = Store(outage_store.database_url, outage_store.data_directory / name)
            server = await opened.enter_async_context(ServerProcess(own, {**ENVIRON, "FLAGSTAFF_INSTANCE_NAME": name}))
            callers.append(await opened.enter_async_context(RemoteCaller(server.url)))
        yield await make_fleet(callers)


@pytest.mark.each_case_on_both_databases
@pytest.mark.parametrize("in_bulk", [False, True], ids=["put", "bulk action"])
async def test_equal_writes_at_once_at_one_process_leave_no_answer_stale(one_process: Fleet, in_bulk: bool) -> None:
    assert await one_process.stale_answers(in_bulk=in_bulk) == 0


@pytest.mark.each_case_on_both_databases
@pytest.mark.parametrize("in_bulk", [False, True], ids=["put", "bulk action"])
async def test_equal_writes_at_once_at_two_workers_leave_no_answer_stale(
    workers: tuple[ServerProcess, Fleet], in_bulk: bool
) -> None:
    assert await workers[1].stale_answers(in_bulk=in_bulk) == 0


@pytest.mark.parametrize("in_bulk", [False, True], ids=["put", "bulk action"])
async def test_equal_writes_at_once_at_three_instances_leave_no_answer_stale(
    three_instances: Fleet, in_bulk: bool
) -> None:
    assert await three_instances.stale_answers(in_bulk=in_bulk) == 0


async def test_a_write_that_was_not_confirmed_is_not_confirmed_by_its_repetition_until_the_other_worker_has_it(
    workers: tuple[ServerProcess, Fleet],
) -> None:
    """Workers on SQLite do not see each other's writes while their parent is paused, and they keep their leases."""
    server, fleet = workers
    one, other = fleet.callers
    os.kill(server.pid, signal.SIGSTOP)
    try:
        for _ in range(2):
            response = await fleet.set_flag(one, enabled=False)
            if response.status_code != 200:
                assert (response.status_code, "retry-after" in response.headers) == (503, False)
            assert await fleet.answers() == [False, response.status_code != 200]
    finally:
        os.kill(server.pid, signal.SIGCONT)
    assert (await fleet.set_flag(one, enabled=False)).status_code == 200
    assert await fleet.answers() == [False, False]
    repeated = await fleet.set_flag(other, enabled=False)
    assert (repeated.status_code, repeated.headers["flagstaff-live-on"]) == (200, "2/2")


async def test_a_repeated_write_names_the_revision_and_the_instances_that_serve_it(three_instances: Fleet) -> None:
    made = await three_instances.set_flag(three_instances.callers[0], enabled=False)
    for caller in three_instances.callers:
        repeated = await three_instances.set_flag(caller, enabled=False)
        for name in ("flagstaff-revision", "flagstaff-live-on"):
            assert repeated.headers[name] == made.headers[name]
        assert "flagstaff-change" not in repeated.headers
