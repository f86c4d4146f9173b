"""Releases on real instances that are killed: no step is applied twice, none is lost, and no guard acts twice."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from flagstaff.values.moments import format_moment
from tests.support.api import Json, environment_path, flag_path, project_path
from tests.support.releases import (
    create_metric,
    create_release,
    read_release,
    read_results,
    send_events,
    until,
    until_results,
    until_state,
    until_step,
)
from tests.support.remote import RemoteCaller
from tests.support.server import ServerProcess
from tests.support.stores import Store, sqlite_store

ENVIRON = {
    "FLAGSTAFF_EVALUATE_RATE_LIMIT": "off",
    "FLAGSTAFF_API_RATE_LIMIT": "off",
    "FLAGSTAFF_ACCESS_LOG": "off",
    "FLAGSTAFF_SECRET_KEY": "s" * 64,
}
HALF: Json = {"after_seconds": 0, "changes": {"enabled": True, "rollout_percentage": 50}}
LATER: Json = {"after_seconds": 3600, "changes": {"rollout_percentage": 100}}


@dataclass
class Fleet:
    """Three instances on one database, with a caller of each, all of them Ada."""

    servers: list[ServerProcess]
    callers: list[RemoteCaller]
    project: Json = field(default_factory=dict)
    environment: Json = field(default_factory=dict)

    @property
    def sdk_key(self) -> str:
        key: str = self.project["sdk_key"]
        return key

    async def evaluate(self, number: int, user: str) -> Json:
        """Return the flags of a user at an instance."""
        answer = await self.callers[number].evaluate(self.sdk_key, context={"user_id": user})
        assert answer.status_code == 200, answer.text
        flags: Json = answer.json()["flags"]
        return flags


@pytest.fixture
async def fleet(outage_store: Store) -> AsyncIterator[Fleet]:
    """Three instances, with a project of Ada's."""
    async with AsyncExitStack() as stack:
        stores = [Store(outage_store.database_url, outage_store.data_directory / name) for name in "abc"]
        servers = [await stack.enter_async_context(ServerProcess(each, ENVIRON)) for each in stores]
        callers = [await stack.enter_async_context(RemoteCaller(each.url)) for each in servers]
        await callers[0].sign_up()
        for caller in callers[1:]:
            await caller.log_in()
        project = await callers[0].create_project()
        yield Fleet(servers, callers, project, await callers[0].get_environment(project))


async def count_actions(caller: RemoteCaller, project: Json) -> Counter[tuple[str | None, str]]:
    """Return how often each action is in the audit trail, by the flag's key."""
    found: Counter[tuple[str | None, str]] = Counter()
    cursor = None
    while True:
        query = {"limit": 100} | ({"cursor": cursor} if cursor else {})
        page = (await caller.get(f"{project_path(project)}/changes", params=query)).json()
        found.update((each["flag_key"], each["action"]) for each in page["items"])
        cursor = page["next_cursor"]
        if cursor is None:
            return found


async def test_schedules_are_applied_once_although_instances_are_killed_at_their_moment(fleet: Fleet) -> None:
    ada, names = fleet.callers[0], [f"flag-{number}" for number in range(12)]
    flags = [await ada.create_flag(fleet.environment, key=name, enabled=False) for name in names]
    at = datetime.now(UTC) + timedelta(seconds=2)
    body = {
        "at": format_moment(at),
        "flags": [{"flag_id": each["id"], "changes": {"enabled": True}} for each in flags],
    }
    answer = await ada.post(f"{environment_path(fleet.environment)}/releases", json=body)
    assert answer.status_code == 201, answer.text
    await asyncio.sleep((at - datetime.now(UTC)).total_seconds())  # the kills come when the step is due
    await fleet.servers[1].kill()
    await fleet.servers[2].kill()
    for release in answer.json():
        await until_state(ada, release, "done")
    for server in fleet.servers[1:]:
        await server.start()
    await until_all_serve(fleet, dict.fromkeys(names, True))
    actions = await count_actions(ada, fleet.project)
    for name in names:
        assert (actions[name, "flag.updated"], actions[name, "release.done"]) == (1, 1), name


async def until_all_serve(fleet: Fleet, wanted: Mapping[str, bool], user: str = "ada") -> None:
    """Wait until each instance serves these flags in the wanted state to a user."""
    for number in range(3):

        async def read(number: int = number) -> Json:
            return await fleet.evaluate(number, user)

        await until(read, lambda found: all(found[name]["enabled"] == is_on for name, is_on in wanted.items()))


async def test_a_guard_acts_once_and_no_instance_serves_the_flag_afterwards(fleet: Fleet) -> None:
    ada = fleet.callers[0]
    await create_metric(ada, fleet.project)
    flag = await ada.create_flag(fleet.environment, enabled=False)
    guard = {"metric": "errors", "action": "turn_off"}
    release = await create_release(ada, flag, HALF, LATER, guards=[guard])
    await until_step(ada, release, 0)
    served = []
    for number in range(60):  # evaluated at one instance, and the error sent to another
        found = await fleet.evaluate(number % 3, f"u-{number}")
        if found[flag["key"]]["enabled"]:
            served.append(f"u-{number}")
            error = {"metric": "errors", "user_id": served[-1]}
            await send_events(fleet.callers[(number + 1) % 3], fleet.sdk_key, error)
    stopped = await until_state(fleet.callers[2], release, "stopped")
    # The state can be read as soon as it is stored; instances are notified some milliseconds later.
    await until_all_serve(fleet, {flag["key"]: False}, served[0])
    actions = await count_actions(ada, fleet.project)
    assert (actions[flag["key"], "release.stopped"], actions[flag["key"], "flag.toggled"]) == (1, 1)
    assert len(stopped["alarms"]) == 1


async def test_everything_is_counted_once_although_those_who_count_are_killed(fleet: Fleet) -> None:
    ada = fleet.callers[0]
    await create_metric(ada, fleet.project)
    flag = await ada.create_flag(fleet.environment, enabled=False)
    guard = {"metric": "errors", "action": "notify"}
    release = await create_release(ada, flag, HALF, LATER, guards=[guard])
    await until_step(ada, release, 0)
    for number in range(1, 4):
        for user in range(20):
            name = f"u-{number}-{user}"
            await fleet.evaluate(0, name)
            await send_events(ada, fleet.sdk_key, {"metric": "errors", "user_id": name, "id": name})
        victim = 1 + number % 2
        await fleet.servers[victim].kill()
        await fleet.servers[victim].start()
    results = await until_results(ada, release, lambda found: found["users"] == 60 and counted(found) >= 60)
    assert counted(results) == 60
    assert (await read_release(ada, release))["state"] == "running"


def counted(results: Json) -> int:
    """Return the number of users with an event."""
    return sum(arm["users_with_events"] for arm in results["metrics"][0]["arms"])


async def test_a_release_goes_on_after_its_only_instance_was_killed_at_any_moment(
    sqlite_template: Path, data_directory: Path
) -> None:
    store = sqlite_store(sqlite_template, data_directory)
    async with ServerProcess(store, ENVIRON) as server, RemoteCaller(server.url) as ada:
        await ada.sign_up()
        project = await ada.create_project()
        flag = await ada.create_flag(await ada.get_environment(project), enabled=False)
        await create_metric(ada, project)
        steps = [HALF, *({"after_seconds": 1, "changes": {"rollout_percentage": 51 + number}} for number in range(4))]
        guard = {"metric": "errors", "action": "turn_off"}
        release = await create_release(ada, flag, *steps, guards=[guard])
        users: list[str] = []
        for number in range(4):
            for user in range(10):
                users.append(name := f"u-{number}-{user}")
                assert (await ada.evaluate(project["sdk_key"], context={"user_id": name})).status_code == 200
            await server.kill()
            await server.start()
        done = await until_step(ada, release, 4)
        assert [each["step"] for each in done["applied"]] == list(range(5))
        actions = await count_actions(ada, project)
        assert actions[flag["key"], "release.step_applied"] == 5
        results = await read_results(ada, release)
        assert results["users"] <= len(users)
        assert (await ada.get(flag_path(flag))).json()["rollout_percentage"] == 54
