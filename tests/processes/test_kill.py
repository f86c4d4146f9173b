"""kill -9: acknowledged management writes survive, and the history loses at most the last second."""

import time

from tests.support.remote import RemoteCaller, under_load
from tests.support.server import ServerProcess
from tests.support.stores import Store

LOST_SECONDS = 1.0


async def test_a_kill_under_load_loses_no_acknowledged_write_and_at_most_a_second_of_history(store: Store) -> None:
    unlimited = {"FLAGSTAFF_EVALUATE_RATE_LIMIT": "off", "FLAGSTAFF_ACCESS_LOG": "off"}
    async with ServerProcess(store, unlimited) as server:
        async with RemoteCaller(server.url) as caller:
            await caller.sign_up()
            async with under_load(caller) as load:
                began = time.monotonic()
                await load.until_well_under_way()
                await load.until(lambda: time.monotonic() - began > 2 * LOST_SECONDS)
                killed = time.monotonic()
                await server.kill()
        await server.start()
        async with RemoteCaller(server.url) as caller:
            await caller.log_in()
            await load.assert_writes_are_there(caller)
            safe = {user for user, answered in load.evaluated.items() if answered < killed - LOST_SECONDS}
            assert safe
            missing = safe - await load.recorded_users(caller)
            assert not missing, f"{len(missing)} of {len(safe)} evaluations are not in the history"
            answer = await caller.evaluate(load.project["sdk_key"])
            stored = await caller.get(f"/api/projects/{load.project['id']}/environments/{load.environment['id']}/flags")
            assert {key: each["enabled"] for key, each in answer.json()["flags"].items()} == {
                flag["key"]: flag["enabled"] for flag in stored.json()
            }
