"""Tables of PostgreSQL that are not there any more: evaluations go on, nothing is lost, and a line says what to do."""

import asyncio
from collections.abc import Awaitable, Callable

import asyncpg

from flagstaff.database.health import CONFIGURATION, HISTORY
from tests.support.api import environment_path, flag_path
from tests.support.remote import RemoteCaller
from tests.support.server import ServerProcess
from tests.support.stores import Store


async def execute(store: Store, statement: str) -> None:
    assert store.database_url is not None
    connection = await asyncpg.connect(store.database_url)
    try:
        await connection.execute(statement)
    finally:
        await connection.close()


async def until(condition: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(30):
        while not await condition():
            await asyncio.sleep(0.05)


async def works(caller: RemoteCaller) -> dict[str, bool]:
    answer = await caller.get("/ready")
    found: dict[str, bool] = answer.json().get("works", {})
    return found


async def test_without_its_history_a_server_keeps_evaluations_until_it_is_back(outage_store: Store) -> None:
    server = ServerProcess(outage_store, {"FLAGSTAFF_EVALUATE_RATE_LIMIT": "off"})
    async with server, RemoteCaller(server.url) as caller:
        await caller.sign_up()
        project = await caller.create_project()
        environment = await caller.get_environment(project)
        await caller.create_flag(environment)
        await execute(outage_store, "ALTER SCHEMA history RENAME TO history_gone")
        users = {f"user-{number}" for number in range(20)}
        for user in users:
            answer = await caller.evaluate(project["sdk_key"], context={"user_id": user})
            assert answer.status_code == 200, answer.text

        async def is_told() -> bool:
            return await works(caller) == {"evaluations": True, "writes": True, HISTORY: False}

        await until(is_told)
        assert "lacks tables of the history" in (await caller.get("/ready")).json()["detail"]
        page = f"{environment_path(environment)}/evaluations"
        refused = await caller.get(page)
        assert (refused.status_code, "Restore a backup." in refused.json()["detail"]) == (503, True)
        assert "flagstaff_history_dropped_total 0" in (await caller.get("/metrics")).text

        await execute(outage_store, "ALTER SCHEMA history_gone RENAME TO history")

        async def is_recorded() -> bool:
            found = await caller.get(page)
            return found.status_code == 200 and {each["user_id"] for each in found.json()["items"]} == users

        await until(is_recorded)

        async def is_ready() -> bool:
            return (await caller.get("/ready")).status_code == 200

        await until(is_ready)


async def test_without_a_table_of_the_configuration_changes_are_refused_and_evaluations_go_on(
    outage_store: Store,
) -> None:
    async with ServerProcess(outage_store) as server, RemoteCaller(server.url) as caller:
        await caller.sign_up()
        project = await caller.create_project()
        flag = await caller.create_flag(await caller.get_environment(project))
        assert (await caller.evaluate(project["sdk_key"])).status_code == 200
        await execute(outage_store, "ALTER TABLE rules RENAME TO rules_gone")
        refused = await caller.get(f"{flag_path(flag)}/rules")
        assert (refused.status_code, "lacks tables of the configuration" in refused.json()["detail"]) == (503, True)

        async def is_told() -> bool:
            return await works(caller) == {"evaluations": True, "writes": False, HISTORY: True}

        await until(is_told)
        assert "rules does not exist" in (await caller.get("/ready")).json()["detail"]
        assert (await caller.evaluate(project["sdk_key"])).status_code == 200
        assert f'flagstaff_store_up{{store="{CONFIGURATION}"}} 0' in (await caller.get("/metrics")).text

        await execute(outage_store, "ALTER TABLE rules_gone RENAME TO rules")

        async def is_ready() -> bool:
            return (await caller.get("/ready")).status_code == 200

        await until(is_ready)
        assert (await caller.get(f"{flag_path(flag)}/rules")).status_code == 200
