"""Callers counted by several workers, and stored when the server stops."""

import asyncio
import time

import asyncpg

from tests.support.api import Json, environment_path
from tests.support.remote import RemoteCaller
from tests.support.sdk_keys import create_key
from tests.support.server import ServerProcess
from tests.support.stores import Store
from tests.support.workers import a_caller_of_each

GRANTED_SECONDS = 10  # the time that process managers allow before they kill
WORKERS = 2
ENVIRON = {
    "FLAGSTAFF_WORKERS": str(WORKERS),
    "FLAGSTAFF_EVALUATE_RATE_LIMIT": "off",
    "FLAGSTAFF_API_RATE_LIMIT": "off",
    "FLAGSTAFF_ACCESS_LOG": "off",
}


async def list_callers(caller: RemoteCaller, environment: Json) -> dict[str, int]:
    answer = await caller.get(f"{environment_path(environment)}/callers")
    assert answer.status_code == 200
    return {each["user_agent"]: each["requests_last_24_hours"] for each in answer.json()}


async def test_the_counts_of_all_workers_add_up_also_those_of_a_stop(store: Store) -> None:
    async with ServerProcess(store, ENVIRON) as server, RemoteCaller(server.url) as ada:
        await ada.sign_up()
        project = await ada.create_project()
        environment = await ada.get_environment(project)
        key = (await create_key(ada, project))["key"]
        async with a_caller_of_each(server, WORKERS) as callers:
            for caller in callers:
                caller.headers["user-agent"] = "shop/1.0"
                for _ in range(3):
                    assert (await caller.evaluate(key)).status_code == 200
            async with asyncio.timeout(30):
                while await list_callers(ada, environment) != {"shop/1.0": 3 * WORKERS}:
                    await asyncio.sleep(0.1)
            for caller in callers:
                caller.headers["user-agent"] = "late"
                assert (await caller.evaluate(key)).status_code == 200
        token = ada.headers["authorization"]
        assert await server.stop() == 0
    async with ServerProcess(store, ENVIRON) as again, RemoteCaller(again.url) as ada:
        ada.headers["authorization"] = token
        assert await list_callers(ada, environment) == {"shop/1.0": 3 * WORKERS, "late": WORKERS}


async def test_callers_that_cannot_be_stored_do_not_delay_a_stop(outage_store: Store) -> None:
    alone = {**ENVIRON, "FLAGSTAFF_WORKERS": "1"}
    async with ServerProcess(outage_store, alone) as server, RemoteCaller(server.url) as ada:
        await ada.sign_up()
        key = (await create_key(ada, await ada.create_project()))["key"]
        operator = await asyncpg.connect(outage_store.database_url)
        try:
            async with operator.transaction():
                await operator.execute("LOCK TABLE history.callers IN ACCESS EXCLUSIVE MODE")
                assert (await ada.evaluate(key)).status_code == 200
                asked = time.monotonic()
                assert await server.stop() == 0
                assert time.monotonic() - asked < GRANTED_SECONDS
        finally:
            await operator.close()
    assert "Traceback" not in server.log
