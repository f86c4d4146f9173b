"""Two server processes on one PostgreSQL, one of which is stopped, killed or cut off for real."""

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from flagstaff.cluster.lease import LEASE_SECONDS, RENEW_SECONDS
from tests.support.api import Json, flag_path
from tests.support.clients import open_client
from tests.support.postgres import PostgresServer
from tests.support.remote import RemoteCaller
from tests.support.sdk_keys import create_key
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
        async with asyncio.timeout(30):
            for caller in (self.ada, self.application):
                while (await caller.get("/ready")).status_code != 200:
                    await asyncio.sleep(0.02)


@pytest.fixture
def when_cut_off() -> str:
    """Return the settings for the second instance's behaviour while it is cut off."""
    return "serve"


@pytest.fixture
async def pair(outage_store: Store, when_cut_off: str) -> AsyncIterator[Pair]:
    stores = [Store(outage_store.database_url, outage_store.data_directory / name) for name in ("first", "second")]
    own = {"FLAGSTAFF_INSTANCE_NAME": "second", "FLAGSTAFF_WHEN_CUT_OFF": when_cut_off}
    async with (
        ServerProcess(stores[0], ENVIRON) as first,
        ServerProcess(stores[1], {**ENVIRON, **own}) as second,
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


def evaluation(pair: Pair) -> tuple[str, dict[str, Any]]:
    """Return a request to the second instance."""
    headers = {"x-sdk-key": pair.project["sdk_key"]}
    return f"{pair.second.url}/sdk/v1/evaluate", {"json": {"environment": "production"}, "headers": headers}


@pytest.mark.parametrize("when_cut_off", ["serve", "refuse"])
async def test_a_paused_instance_is_named_in_the_response_and_knows_that_it_may_have_missed_changes(
    pair: Pair, when_cut_off: str
) -> None:
    url, request = evaluation(pair)
    async with open_client() as waiting, open_client() as waking:
        assert (await waiting.post(url, **request)).status_code == 200  # connected before the pause
        pair.second.signal(signal.SIGSTOP)
        try:
            toggled = await pair.ada.post(f"{flag_path(pair.flag)}/toggle")
            during = asyncio.create_task(waiting.post(url, **request))
            await asyncio.wait([during], timeout=0.1)
        finally:
            pair.second.signal(signal.SIGCONT)
        answers = [await during, *[await waking.post(url, **request) for _ in range(20)]]
    assert (toggled.status_code, toggled.headers["flagstaff-live-on"]) == (200, "1/2")
    assert toggled.headers["flagstaff-missing"] == "second"
    for answer in answers:
        if answer.status_code == 503:
            assert when_cut_off == "refuse"
            assert (answer.headers["retry-after"], "cut off" in answer.text) == ("1", True)
        elif "flagstaff-stale" in answer.headers:
            assert when_cut_off == "serve"
            assert int(answer.headers["flagstaff-stale"]) >= 3
        else:
            assert answer.json()["flags"][pair.flag["key"]]["enabled"] is False
    await pair.until_ready()
    toggled = await pair.ada.post(f"{flag_path(pair.flag)}/toggle")
    assert (toggled.status_code, toggled.headers["flagstaff-live-on"]) == (200, "2/2")
    assert "flagstaff-missing" not in toggled.headers
    assert await pair.is_on_at_second()


async def test_a_paused_instance_marks_that_it_lacks_what_was_made_meanwhile(pair: Pair) -> None:
    key = (await create_key(pair.ada, pair.project))["key"]
    context = {"context": {"targetingKey": "ada"}}
    asked: list[tuple[str, Any]] = [
        ("/sdk/v1/evaluate", {"environment": "new"}),
        ("/sdk/v1/evaluate/new-checkout", {"environment": "new"}),
        ("/sdk/v1/evaluate/new-flag", {"environment": "production"}),
        ("/ofrep/v1/evaluate/flags/new-flag", context),
    ]
    headers = {"x-sdk-key": pair.project["sdk_key"], "authorization": f"Bearer {key}"}

    async def ask(client: httpx.AsyncClient, path: str, body: Any) -> httpx.Response:
        return await client.post(f"{pair.second.url}{path}", json=body, headers=headers)

    async with AsyncExitStack() as stack:
        connected = [(await stack.enter_async_context(open_client()), *each) for each in asked]
        for each in connected:  # before the pause
            assert (await ask(*each)).status_code == 404
        pair.second.signal(signal.SIGSTOP)
        try:
            environment = {"key": "new", "name": "New"}
            made = await pair.ada.post(f"/api/projects/{pair.project['id']}/environments", json=environment)
            await pair.ada.create_flag(await pair.ada.get_environment(pair.project), key="new-flag")
            tasks = [asyncio.create_task(ask(*each)) for each in connected]
            await asyncio.wait(tasks, timeout=0.1)
        finally:
            pair.second.signal(signal.SIGCONT)
        answers = await asyncio.gather(*tasks)
    assert made.headers["flagstaff-missing"] == "second"
    for answer in answers:
        assert (answer.status_code, "flagstaff-stale" in answer.headers) in {(404, True), (200, False)}
    await pair.until_ready()


async def test_an_instance_that_resumes_in_time_has_the_change_when_its_call_returns(pair: Pair) -> None:
    pair.second.signal(signal.SIGSTOP)
    toggle = asyncio.create_task(pair.ada.post(f"{flag_path(pair.flag)}/toggle"))
    await asyncio.wait([toggle], timeout=1)
    assert not toggle.done()
    pair.second.signal(signal.SIGCONT)
    assert (await toggle).status_code == 200
    assert not await pair.is_on_at_second()


async def test_an_instance_that_was_killed_delays_changes_only_until_its_lease_has_lapsed(pair: Pair) -> None:
    await pair.second.kill()
    async with asyncio.timeout(4.5):
        toggled = await pair.ada.post(f"{flag_path(pair.flag)}/toggle")
    assert (toggled.status_code, toggled.headers["flagstaff-missing"]) == (200, "second")
    async with asyncio.timeout(LEASE_SECONDS - RENEW_SECONDS):
        assert (await pair.ada.post(f"{flag_path(pair.flag)}/toggle")).status_code == 200


async def test_an_instance_that_has_stopped_delays_no_change_and_is_not_missed(pair: Pair) -> None:
    await pair.second.stop()
    async with asyncio.timeout(LEASE_SECONDS - RENEW_SECONDS):
        toggled = await pair.ada.post(f"{flag_path(pair.flag)}/toggle")
    assert (toggled.status_code, toggled.headers["flagstaff-live-on"]) == (200, "1/1")
    assert "flagstaff-missing" not in toggled.headers


@pytest.mark.parametrize("crash", [False, True])
async def test_after_a_restart_of_postgresql_both_hear_of_each_other_again(
    pair: Pair, outage_postgres: PostgresServer, crash: bool
) -> None:
    outage_postgres.stop(crash=crash)
    for caller in (pair.ada, pair.application):
        async with asyncio.timeout(30):
            while (await caller.get("/ready")).status_code == 200:
                await asyncio.sleep(0.02)
    outage_postgres.start()
    await pair.until_ready()
    for wanted in (False, True):
        assert (await pair.ada.post(f"{flag_path(pair.flag)}/toggle")).status_code == 200
        assert await pair.is_on_at_second() is wanted


async def test_a_key_that_is_revoked_while_an_instance_is_paused_names_the_one_that_may_still_accept_it(
    pair: Pair,
) -> None:
    keys = f"/api/projects/{pair.project['id']}/sdk-keys"
    wanted = {"name": "Leaked", "environment": "production", "kind": "server"}
    made = await pair.ada.post(keys, json=wanted)
    assert (made.status_code, made.headers["flagstaff-live-on"]) == (201, "2/2")
    pair.second.signal(signal.SIGSTOP)
    try:
        revoked = await pair.ada.delete(f"{keys}/{made.json()['id']}")
    finally:
        pair.second.signal(signal.SIGCONT)
    assert (revoked.status_code, revoked.headers["flagstaff-live-on"]) == (204, "1/2")
    assert revoked.headers["flagstaff-missing"] == "second"
    assert int(revoked.headers["flagstaff-revision"]) > int(made.headers["flagstaff-revision"])
