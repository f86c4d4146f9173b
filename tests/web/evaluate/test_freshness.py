"""POST /sdk/v1/evaluate: when a change has been answered, no evaluation sees the old state or runs SQL."""

import asyncio
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager

import pytest
import sqlalchemy as sa

from flagstaff.assembly.bootstrap import Flagstaff
from tests.support.api import Caller, Json, environment_path, flag_path, project_path
from tests.support.snapshots import unload_all

CLIENTS = 8
TOGGLES = 8

_configuration = re.compile(r"\b(FROM|INTO|UPDATE|JOIN) (accounts|projects|environments|flags|rules)\b")


@pytest.fixture
def environ() -> dict[str, str]:
    """No limit."""
    return {"FLAGSTAFF_EVALUATE_RATE_LIMIT": "off", "FLAGSTAFF_API_RATE_LIMIT": "off", "FLAGSTAFF_ACCESS_LOG": "off"}


@pytest.fixture
async def flag(ada: Caller, project: Json) -> Json:
    """The one flag of production, which is on."""
    return await ada.create_flag(await ada.get_environment(project), key="flag")


async def reason(client: Caller, project: Json, environment: str = "production") -> str | None:
    """Return the reason of the flag `flag` for Ada, or None if there is no such flag."""
    answer = await client.evaluate(project["sdk_key"], environment, {"user_id": "ada"})
    assert answer.status_code == 200, answer.text
    found: Json = answer.json()["flags"].get("flag", {})
    return found.get("reason")


@contextmanager
def statements() -> Iterator[list[str]]:
    """Record every SQL statement on the configuration; the history is written all the time."""
    seen: list[str] = []

    def note(_c: object, _u: object, statement: str, *_: object) -> None:
        if _configuration.search(statement):
            seen.append(statement)

    sa.event.listen(sa.Engine, "before_cursor_execute", note)
    try:
        yield seen
    finally:
        sa.event.remove(sa.Engine, "before_cursor_execute", note)


async def test_unknown_keys_cost_no_query(client: Caller, flag: Json) -> None:
    with statements() as seen:
        for number in range(100):
            assert (await client.evaluate(f"sdk_{number:043}")).status_code == 401
    assert not seen


async def test_a_loaded_project_costs_no_query(client: Caller, project: Json, flag: Json) -> None:
    await reason(client, project)
    with statements() as seen:
        for _ in range(20):
            assert await reason(client, project) == "Flag enabled globally"
            assert (await client.evaluate(project["sdk_key"], "nowhere")).status_code == 404
    assert not seen


@pytest.mark.both_databases
async def test_first_evaluations_at_once_share_one_load(
    flagstaff: Flagstaff, client: Caller, project: Json, flag: Json
) -> None:
    unload_all(flagstaff.serving.snapshots)
    flagstaff.serving.sdk_keys.known.clear()
    with statements() as seen:
        reasons = await asyncio.gather(*(reason(client, project) for _ in range(30)))
    assert set(reasons) == {"Flag enabled globally"}
    assert len([each for each in seen if "FROM projects" in each]) == 1


async def test_every_kind_of_change_is_seen_by_the_very_next_evaluation(
    client: Caller, ada: Caller, project: Json
) -> None:
    production = await ada.get_environment(project)
    assert await reason(client, project) is None
    flag = await ada.create_flag(production, key="flag")
    assert await reason(client, project) == "Flag enabled globally"
    await ada.post(f"{flag_path(flag)}/toggle")
    assert await reason(client, project) == "Flag is globally disabled"
    await ada.put(flag_path(flag), json={"enabled": True, "rollout_percentage": 100})
    assert await reason(client, project) == "User in 100% rollout"
    rule = await ada.create_rule(flag)
    assert await reason(client, project) == "Matched user_id targeting rule"
    await ada.put(f"{flag_path(flag)}/rules/{rule['id']}", json={"rule_value": "eve"})
    assert await reason(client, project) == "User in 100% rollout"
    await ada.put(f"{flag_path(flag)}/rules/{rule['id']}", json={"rule_value": "ada"})
    assert await reason(client, project) == "Matched user_id targeting rule"
    await ada.delete(f"{flag_path(flag)}/rules/{rule['id']}")
    assert await reason(client, project) == "User in 100% rollout"
    await ada.delete(flag_path(flag))
    assert await reason(client, project) is None


@pytest.mark.both_databases
async def test_environments_and_keys_are_known_and_forgotten_at_once(
    client: Caller, ada: Caller, project: Json
) -> None:
    assert (await client.evaluate(project["sdk_key"], "canary")).status_code == 404
    canary = await ada.create_environment(project, key="canary")
    assert await reason(client, project, "canary") is None
    await ada.create_flag(canary, key="flag")
    assert await reason(client, project, "canary") == "Flag enabled globally"
    await ada.put(environment_path(canary), json={"name": "Renamed"})
    assert await reason(client, project, "canary") == "Flag enabled globally"
    await ada.delete(environment_path(canary))
    assert (await client.evaluate(project["sdk_key"], "canary")).status_code == 404
    renewed = (await ada.post(f"{project_path(project)}/regenerate-key")).json()
    assert (await client.evaluate(project["sdk_key"])).status_code == 401
    assert (await client.evaluate(renewed["sdk_key"])).status_code == 200
    await ada.put(project_path(project), json={"name": "Renamed"})
    assert (await client.evaluate(renewed["sdk_key"])).status_code == 200
    await ada.delete(project_path(project))
    assert (await client.evaluate(renewed["sdk_key"])).status_code == 401


class Watchers:
    """Clients that evaluate continuously, and compare the results with the responses to earlier changes."""

    def __init__(self, client: Caller, flag: Json) -> None:
        self.client = client
        self.key = flag["key"]
        self.sdk_key = ""
        self.told: object = flag["enabled"]  # the state in the latest response to a change
        self.is_changing = False  # whether a change is running, so that either state may be seen
        self.changes = 0
        self.evaluations = 0
        self._stopping = False

    async def watch(self) -> None:
        while not self._stopping:
            told, is_changing, changes = self.told, self.is_changing, self.changes
            answer = await self.client.evaluate(self.sdk_key)
            self.evaluations += 1
            if changes == self.changes and not is_changing and not self.is_changing:
                assert answer.json()["flags"][self.key]["enabled"] is told, "an old state was served"
            await asyncio.sleep(0)

    def stop(self) -> None:
        self._stopping = True


@pytest.fixture
async def watchers(client: Caller, project: Json, flag: Json) -> AsyncIterator[Watchers]:
    """Eight running clients."""
    made = Watchers(client, flag)
    made.sdk_key = project["sdk_key"]
    async with asyncio.TaskGroup() as group:
        for _ in range(CLIENTS):
            group.create_task(made.watch())
        yield made
        made.stop()


async def test_no_evaluation_sees_the_old_state_after_a_toggles_response(
    ada: Caller, flag: Json, watchers: Watchers
) -> None:
    for _ in range(TOGGLES):
        watchers.is_changing = True
        answer = await ada.post(f"{flag_path(flag)}/toggle")
        watchers.told, watchers.is_changing = answer.json()["enabled"], False
        watchers.changes += 1
        seen = watchers.evaluations
        async with asyncio.timeout(30):
            while watchers.evaluations < seen + 2 * CLIENTS:  # every client has evaluated since
                await asyncio.sleep(0)


@pytest.mark.both_databases
async def test_no_evaluation_sees_an_old_state_while_changes_follow_one_another(
    ada: Caller, client: Caller, project: Json, flag: Json
) -> None:
    """Each evaluation sees at least the changes that were answered before it started."""
    answered = 0
    percentages: list[int] = []

    async def change() -> None:
        nonlocal answered
        for percentage in range(1, 13):
            await ada.put(flag_path(flag), json={"rollout_percentage": percentage})
            answered = percentage

    async def watch(changing: asyncio.Task[None]) -> None:
        while not changing.done():
            least = answered
            given = await reason(client, project)
            percentage = int(given.split()[-2].rstrip("%")) if given and "%" in given else 0
            assert percentage >= least, "an old state was served"
            percentages.append(percentage)
            await asyncio.sleep(0)  # an evaluation awaits nothing, so no other task runs

    changing = asyncio.create_task(change())
    await asyncio.gather(changing, *(watch(changing) for _ in range(CLIENTS)))
    assert await reason(client, project) in {"User in 12% rollout", "User not in 12% rollout"}
    assert len(set(percentages)) > 2


async def test_a_key_rotated_under_evaluations_opens_until_its_response_and_never_after(
    ada: Caller, client: Caller, project: Json, flag: Json
) -> None:
    current, retired = project["sdk_key"], set[str]()
    evaluations = 0
    is_done = False

    async def watch() -> None:
        nonlocal evaluations
        while not is_done:
            key = current
            was_retired = key in retired
            answer = await client.evaluate(key)
            evaluations += 1
            assert answer.status_code in (200, 401)
            if answer.status_code == 401:
                assert key != current or is_rotating, "the current key was refused"
            else:
                assert not was_retired, "a retired key was taken"
            await asyncio.sleep(0)

    is_rotating = False
    async with asyncio.TaskGroup() as group:
        for _ in range(CLIENTS):
            group.create_task(watch())
        for _ in range(4):
            is_rotating = True
            renewed = (await ada.post(f"{project_path(project)}/regenerate-key")).json()
            retired.add(current)
            current, is_rotating = renewed["sdk_key"], False
            for old in retired:
                assert (await client.evaluate(old)).status_code == 401
        is_done = True
    assert evaluations > CLIENTS
