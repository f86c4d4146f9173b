"""Workers of one server share the limits through memory: a client gets its limit once, even if workers are killed."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.api import flag_path
from tests.support.remote import RemoteCaller
from tests.support.sdk_keys import create_key
from tests.support.server import ServerProcess
from tests.support.stores import sqlite_store
from tests.support.workers import a_caller_of_each, worker_pids
from tests.web.test_refetches import OFREP, Page

WORKERS = 3
KEY = {"x-sdk-key": "sdk_" + "x" * 40}  # the limit is checked before the key


@pytest.fixture
async def server(sqlite_template: Path, data_directory: Path) -> AsyncIterator[ServerProcess]:
    environ = {
        "FLAGSTAFF_WORKERS": str(WORKERS),
        "FLAGSTAFF_ACCESS_LOG": "off",
        "FLAGSTAFF_TRUSTED_PROXIES": "127.0.0.1",
    }
    async with ServerProcess(sqlite_store(sqlite_template, data_directory), environ) as process:
        yield process


async def test_workers_allow_a_client_its_limit_once_and_a_replaced_one_goes_on_with_it(server: ServerProcess) -> None:
    async with a_caller_of_each(server, WORKERS) as callers:
        assert 200 <= await allowed(callers, "192.0.2.1", 300) <= 210
        assert await allowed(callers[:1], "192.0.2.2", 150) == 150
    before = worker_pids(server)
    for pid in before:
        os.kill(pid, signal.SIGKILL)
    async with asyncio.timeout(30):
        while len(worker_pids(server) - before) < WORKERS:
            await asyncio.sleep(0.02)
    async with a_caller_of_each(server, WORKERS) as callers:
        # A new worker asks the others about a client after its first request. Alone, each worker would allow all of
        # them.
        assert await allowed(callers, "192.0.2.1", 100) <= 30
        assert 50 <= await allowed(callers, "192.0.2.2", 150) <= 80


async def test_every_worker_knows_the_clients_in_browsers_and_they_have_their_shares_once(
    sqlite_template: Path, data_directory: Path
) -> None:
    environ = {"FLAGSTAFF_WORKERS": str(WORKERS), "FLAGSTAFF_BROWSER_RATE_LIMIT": "2/minute"}
    async with (
        ServerProcess(sqlite_store(sqlite_template, data_directory), environ) as server,
        RemoteCaller(server.url) as owner,
        a_caller_of_each(server, WORKERS) as callers,
    ):
        await owner.sign_up()
        flag = await owner.create_flag()
        key = (await create_key(owner, {"id": flag["project_id"]}, kind="browser"))["key"]
        page = Page(callers[0], OFREP, key)
        assert (await page.fetch()).status_code == 200
        async with asyncio.timeout(30):  # until the workers have told each other
            while (await Page(callers[1], OFREP, key).fetch()).status_code != 429:
                await asyncio.sleep(0.02)
        assert (await owner.post(f"{flag_path(flag)}/toggle")).status_code == 200
        statuses = []
        for number in range(20 * WORKERS):
            page.caller = callers[(number + 1) % WORKERS]
            statuses.append((await page.fetch()).status_code)
        assert statuses[:10] == [200] + [304] * 9
        assert 10 <= len(statuses) - statuses.count(429) <= 20


async def allowed(callers: list[RemoteCaller], address: str, times: int) -> int:
    """Return how many evaluations of a client are not refused with 429. The workers get them in turn."""
    headers = {**KEY, "x-forwarded-for": address}
    statuses = [
        (await callers[number % len(callers)].post("/sdk/v1/evaluate", headers=headers)).status_code
        for number in range(times)
    ]
    assert set(statuses) <= {401, 429}
    return statuses.count(401)
