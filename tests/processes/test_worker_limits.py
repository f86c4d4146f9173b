"""Workers of one server share the limits through memory: a client gets its limit once, even if workers are killed."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.remote import RemoteCaller
from tests.support.server import ServerProcess
from tests.support.stores import sqlite_store
from tests.support.workers import a_caller_of_each, worker_pids

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
    async with asyncio.timeout(20):
        while len(worker_pids(server) - before) < WORKERS:
            await asyncio.sleep(0.02)
    async with a_caller_of_each(server, WORKERS) as callers:
        # A new worker asks the others about a client after its first request. Alone, each worker would allow all of
        # them.
        assert await allowed(callers, "192.0.2.1", 100) <= 30
        assert 50 <= await allowed(callers, "192.0.2.2", 150) <= 80


async def allowed(callers: list[RemoteCaller], address: str, times: int) -> int:
    """Return how many evaluations of a client are not refused with 429. The workers get them in turn."""
    headers = {**KEY, "x-forwarded-for": address}
    statuses = [
        (await callers[number % len(callers)].post("/sdk/v1/evaluate", headers=headers)).status_code
        for number in range(times)
    ]
    assert set(statuses) <= {401, 429}
    return statuses.count(401)
