"""A PostgreSQL outage under load: evaluations continue from memory, management returns 503, and everything recovers."""

import asyncio
import time
from pathlib import Path

import httpx
import pytest

from flagstaff.database.sqlite.files import CONFIGURATION_FILE, HISTORY_FILE
from tests.support.api import flag_path
from tests.support.postgres import PostgresServer
from tests.support.remote import RemoteCaller, under_load
from tests.support.server import ServerProcess
from tests.support.stores import Store, sqlite_store

GRANTED_SECONDS = 10  # the time that process managers allow before they kill
UNLIMITED = {"FLAGSTAFF_EVALUATE_RATE_LIMIT": "off", "FLAGSTAFF_API_RATE_LIMIT": "off", "FLAGSTAFF_ACCESS_LOG": "off"}


async def test_a_database_restart_under_load_does_not_affect_evaluations(
    outage_postgres: PostgresServer, outage_store: Store
) -> None:
    async with ServerProcess(outage_store, UNLIMITED) as server, RemoteCaller(server.url) as caller:
        await caller.sign_up()
        async with under_load(caller) as load:
            managed, evaluated = load.statuses["manage"], load.statuses["evaluate"]
            await load.until_well_under_way()
            outage_postgres.stop()
            await load.until(lambda: managed[503] > 0)
            evaluations = len(load.evaluated)
            await load.until(lambda: len(load.evaluated) > evaluations + 100)

            assert (await caller.get("/health")).status_code == 200
            answers = {path: await caller.get(path) for path in ("/api/me", flag_path(load.toggled))}
            for path, answer in {**answers, "/ready": await until_not_ready(caller)}.items():
                assert (answer.status_code, answer.headers["retry-after"].isdigit()) == (503, True), path

            outage_postgres.start()
            await load.until_well_under_way()
            async with asyncio.timeout(
                15
            ):  # the answer is up to a second old, and the feed pauses before it reconnects
                while (await caller.get("/ready")).status_code != 200:
                    await asyncio.sleep(0.1)
        assert set(managed) == {200, 201, 503}
        assert set(evaluated) == {200}
        await load.assert_writes_are_there(caller)
        answer = await caller.evaluate(load.project["sdk_key"])
        toggled = (await caller.get(flag_path(load.toggled))).json()
        assert answer.json()["flags"][toggled["key"]]["enabled"] is toggled["enabled"]
        async with asyncio.timeout(30):  # the evaluations that were kept on disk are written to the store
            while load.evaluated.keys() - await load.recorded_users(caller):
                await asyncio.sleep(0.1)
        assert "Traceback" not in server.log


async def until_not_ready(caller: RemoteCaller) -> httpx.Response:
    """Return the answer that says why. The server may repeat an earlier answer for up to a second."""
    async with asyncio.timeout(30):
        while (answer := await caller.get("/ready")).status_code == 200:
            await asyncio.sleep(0.05)
    return answer


async def test_a_crash_of_the_database_does_not_affect_evaluations_either(
    outage_postgres: PostgresServer, outage_store: Store
) -> None:
    async with ServerProcess(outage_store, UNLIMITED) as server, RemoteCaller(server.url) as caller:
        await caller.sign_up()
        async with under_load(caller) as load:
            await load.until_well_under_way()
            outage_postgres.restart(crash=True)
            await load.until_well_under_way()
        assert set(load.statuses["evaluate"]) == {200}
        assert set(load.statuses["manage"]) <= {200, 201, 503}
        await load.assert_writes_are_there(caller)


async def test_a_database_that_hangs_is_reported_and_delays_neither_evaluations_nor_a_stop(
    outage_postgres: PostgresServer, outage_store: Store
) -> None:
    async with ServerProcess(outage_store, UNLIMITED) as server, RemoteCaller(server.url) as caller:
        await caller.sign_up()
        flags = [await caller.create_flag() for _ in range(3)]
        async with under_load(caller) as load:
            await load.until_well_under_way()
            with outage_postgres.hanging():
                evaluations = len(load.evaluated)
                assert (await until_not_ready(caller)).status_code == 503
                await load.until(lambda: len(load.evaluated) > evaluations + 100)
                toggles = [asyncio.create_task(caller.post(f"{flag_path(flag)}/toggle")) for flag in flags]
                await asyncio.wait(toggles, timeout=1)
                began = time.monotonic()
                assert await server.stop() == 0
                assert time.monotonic() - began < GRANTED_SECONDS
                for toggle in toggles:
                    assert (await toggle).status_code == 503
        assert "Traceback" not in server.log
        await server.start()
        await caller.log_in()
        await load.assert_writes_are_there(caller)
        async with asyncio.timeout(30):
            while load.evaluated.keys() - await load.recorded_users(caller):
                await asyncio.sleep(0.1)


@pytest.mark.parametrize("name", [CONFIGURATION_FILE, HISTORY_FILE])
async def test_no_write_is_acknowledged_once_the_database_is_deleted(
    sqlite_template: Path, data_directory: Path, name: str
) -> None:
    async with (
        ServerProcess(sqlite_store(sqlite_template, data_directory)) as server,
        RemoteCaller(server.url) as caller,
    ):
        await caller.sign_up()
        project = await caller.create_project()
        flag = await caller.create_flag(await caller.get_environment(project))
        (data_directory / name).rename(data_directory / "aside")
        toggle = await caller.post(f"{flag_path(flag)}/toggle")
        if name == CONFIGURATION_FILE:
            assert (toggle.status_code, "was deleted or replaced" in toggle.json()["detail"]) == (503, True)
        else:
            assert toggle.status_code == 200
        answer = await caller.evaluate(project["sdk_key"])
        assert answer.json()["flags"][flag["key"]]["enabled"] is (name == CONFIGURATION_FILE)
        async with asyncio.timeout(30):
            while (await caller.get("/ready")).status_code != 503:
                await asyncio.sleep(0.05)
        (data_directory / "aside").rename(data_directory / name)
        assert (await caller.post(f"{flag_path(flag)}/toggle")).status_code == 200
        async with asyncio.timeout(30):
            while (await caller.get("/ready")).status_code != 200:
                await asyncio.sleep(0.05)
