"""kill -9: what was answered of management is there after a start; of the history at most the last second is lost."""

import asyncio
import signal
import time
from pathlib import Path

import pytest

from tests.support.remote import RemoteCaller, under_load
from tests.support.server import ServerProcess
from tests.support.stores import Store

LOST_SECONDS = 1.0


async def test_a_kill_under_load_loses_no_answered_write_and_at_most_a_second_of_history(store: Store) -> None:
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


def children(process_id: int) -> set[int]:
    """The processes that a process has started, from whichever thread."""
    lists = Path(f"/proc/{process_id}/task").glob("*/children")
    return {int(child) for each in lists for child in each.read_text().split()}


def is_alive(process_id: int) -> bool:
    try:
        state = Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
async def test_the_process_that_hashes_passwords_ends_with_the_server(store: Store, number: signal.Signals) -> None:
    async with ServerProcess(store) as server:
        async with RemoteCaller(server.url) as caller:
            await caller.sign_up()
        assert server.pid is not None
        started = children(server.pid)
        assert len(started) == 1
        server.signal(number)
        async with asyncio.timeout(30):
            while any(map(is_alive, started)):
                await asyncio.sleep(0.02)
