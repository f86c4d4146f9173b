"""GET /api/instances with one process; tests/web/test_several_instances.py has tests with several."""

import asyncio

from flagstaff import __version__
from tests.support.api import Caller, Json
from tests.support.stores import Store

PATH = "/api/instances"


async def until_current(caller: Caller) -> Json:
    """Return the only instance when it reports that it serves every change."""
    async with asyncio.timeout(10):
        while True:
            (found,) = (await caller.get(PATH)).json()
            if found["changes_behind"] == 0:
                return found
            await asyncio.sleep(0.05)


async def test_only_administrators_see_the_instances(client: Caller, root: Caller, eve: Caller) -> None:
    assert (await client.get(PATH)).status_code == 401
    answer = await eve.get(PATH)
    assert (answer.status_code, answer.json()["detail"]) == (403, "Only administrators of this instance can do this.")


async def test_the_instance_that_answers_says_what_it_serves_and_how_busy_it_is(root: Caller, store: Store) -> None:
    found = await until_current(root)
    assert (found["answered"], found["version"], found["workers"]) == (True, __version__, 1)
    assert found["seconds_behind"] == 0
    assert found["lease"]["state"] == ("live" if store.database_url else "none")
    assert found["load"]["memory_bytes"] > 10_000_000
    assert (found["load"]["connections"], found["load"]["streams"]) == (0, 0)
