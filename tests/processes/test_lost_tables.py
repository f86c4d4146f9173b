"""Missing tables of PostgreSQL: evaluations continue, nothing is lost, and a line says what to do.

test_lost_files.py has the same tests for SQLite.
"""

import asyncio
import json
import subprocess
from collections.abc import Awaitable, Callable

import asyncpg
import pytest

from flagstaff.database.health import CONFIGURATION, HISTORY
from tests.support.api import environment_path, flag_path
from tests.support.command import run_flagstaff
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


def new_history(store: Store) -> subprocess.CompletedProcess[str]:
    return run_flagstaff("history", "new", environ=store.environ)


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
        assert (refused.status_code, "flagstaff history new" in refused.json()["detail"]) == (503, True)
        examined = await asyncio.to_thread(run_flagstaff, "doctor", "--json", environ=outage_store.environ)
        finding = next(each for each in json.loads(examined.stdout) if each["check"] == "history")
        assert (finding["status"], "flagstaff history new" in finding["advice"]) == ("FAIL", True)
        assert "flagstaff_history_dropped_total 0" in (await caller.get("/metrics")).text

        await execute(outage_store, "ALTER SCHEMA history_gone RENAME TO history")

        async def is_recorded() -> bool:
            found = await caller.get(page)
            return found.status_code == 200 and {each["user_id"] for each in found.json()["items"]} == users

        await until(is_recorded)

        async def is_ready() -> bool:
            return (await caller.get("/ready")).status_code == 200

        await until(is_ready)


@pytest.mark.parametrize(
    ("lose", "kept"), [("DROP SCHEMA history CASCADE", False), ("DROP TABLE history.summaries", True)]
)
async def test_servers_go_on_with_a_new_history_and_lose_no_evaluation(
    outage_store: Store, lose: str, kept: bool
) -> None:
    server = ServerProcess(outage_store, {"FLAGSTAFF_EVALUATE_RATE_LIMIT": "off"})
    async with server, RemoteCaller(server.url) as caller:
        await caller.sign_up()
        project = await caller.create_project()
        environment = await caller.get_environment(project)
        await caller.create_flag(environment)
        page = f"{environment_path(environment)}/evaluations"

        async def evaluate(users: set[str]) -> None:
            for user in users:
                answer = await caller.evaluate(project["sdk_key"], context={"user_id": user})
                assert answer.status_code == 200, answer.text

        def recorded(users: set[str]) -> Callable[[], Awaitable[bool]]:
            async def is_recorded() -> bool:
                found = await caller.get(page)
                return found.status_code == 200 and {each["user_id"] for each in found.json()["items"]} == users

            return is_recorded

        await evaluate({"before"})
        await until(recorded({"before"}))
        refused = await asyncio.to_thread(new_history, outage_store)
        assert (refused.returncode, "history is complete" in refused.stderr) == (1, True)

        await execute(outage_store, lose)
        meanwhile = {f"user-{number}" for number in range(20)}
        await evaluate(meanwhile)

        async def is_told() -> bool:
            return await works(caller) == {"evaluations": True, "writes": True, HISTORY: False}

        await until(is_told)
        made = await asyncio.to_thread(new_history, outage_store)
        assert made.returncode == 0, made.stderr
        assert ("is now in the schema history_" in made.stdout) is kept
        await evaluate({"after"})
        await until(recorded(meanwhile | {"after"}))

        async def is_ready() -> bool:
            return (await caller.get("/ready")).status_code == 200

        await until(is_ready)
        assert "flagstaff_history_dropped_total 0" in (await caller.get("/metrics")).text


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
