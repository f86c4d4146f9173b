"""Concurrent requests: every write counts once, none is lost, and no race causes a 500."""

import asyncio
import io
import time
from collections import Counter
from collections.abc import Awaitable
from uuid import UUID

import pytest

from flagstaff.assembly.bootstrap import Flagstaff, utc_now
from flagstaff.changes.changes import Actor
from flagstaff.database import tables
from flagstaff.flags.access import FlagPath
from flagstaff.flags.condition_work_budgets import WorkBudgets
from flagstaff.flags.flags_service import Flags
from flagstaff.settings import Settings
from tests.support.api import Caller, Json, environment_path, flag_path, project_path
from tests.support.changes import changes_in
from tests.support.snapshots import unload_all

TOGGLES = 41
CREATIONS = 16


@pytest.fixture
def environ() -> dict[str, str]:
    """No limit."""
    return {"FLAGSTAFF_EVALUATE_RATE_LIMIT": "off", "FLAGSTAFF_API_RATE_LIMIT": "off", "FLAGSTAFF_ACCESS_LOG": "off"}


@pytest.fixture
async def flag(ada: Caller, project: Json) -> Json:
    """The one flag of production, which is on."""
    return await ada.create_flag(await ada.get_environment(project))


async def enabled(client: Caller, project: Json, flag: Json) -> bool:
    """Evaluate the flag; return whether it is on."""
    answer = await client.evaluate(project["sdk_key"])
    found: bool = answer.json()["flags"][flag["key"]]["enabled"]
    return found


@pytest.mark.both_databases
async def test_41_toggles_at_once_flip_41_times(
    flagstaff: Flagstaff, client: Caller, ada: Caller, project: Json, flag: Json
) -> None:
    answers = await asyncio.gather(*(ada.post(f"{flag_path(flag)}/toggle") for _ in range(TOGGLES)))
    assert Counter((answer.status_code, answer.json()["enabled"]) for answer in answers) == {
        (200, False): 21,
        (200, True): 20,
    }
    assert len({answer.json()["updated_at"] for answer in answers}) == TOGGLES
    assert (await ada.get(flag_path(flag))).json()["enabled"] is False
    assert await enabled(client, project, flag) is False
    toggled = [
        change
        for change in await changes_in(flagstaff, {"id": flag["environment_id"]})
        if change.action == "flag.toggled"
    ]
    assert [change.after and change.after["enabled"] for change in toggled] == [False, True] * 20 + [False]
    assert [change.before for change in toggled[1:]] == [change.after for change in toggled[:-1]]


@pytest.mark.both_databases
async def test_16_creations_of_one_environment_at_once_make_one(ada: Caller, project: Json) -> None:
    path = f"{project_path(project)}/environments"
    answers = await asyncio.gather(
        *(ada.post(path, json={"name": "Canary", "key": "canary"}) for _ in range(CREATIONS))
    )
    assert Counter(answer.status_code for answer in answers) == {201: 1, 409: CREATIONS - 1}
    assert [each["key"] for each in (await ada.get(path)).json()].count("canary") == 1


@pytest.mark.both_databases
async def test_16_registrations_of_one_email_at_once_make_one_account(client: Caller) -> None:
    emails = ["grace@example.com", " Grace@Example.COM "] * (CREATIONS // 2)
    answers = await asyncio.gather(
        *(client.post("/auth/register", json={"email": email, "password": "p" * 8}) for email in emails)
    )
    assert Counter(answer.status_code for answer in answers) == {201: 1, 409: CREATIONS - 1}


@pytest.mark.both_databases
async def test_updates_of_different_fields_at_once_lose_nothing(ada: Caller, flag: Json) -> None:
    given: list[Json] = [
        {"name": "Renamed"},
        {"description": "Changed"},
        {"enabled": False},
        {"rollout_percentage": 75},
    ]
    answers = await asyncio.gather(*(ada.put(flag_path(flag), json=each) for each in given))
    assert {answer.status_code for answer in answers} == {200}
    after = (await ada.get(flag_path(flag))).json()
    for each in given:
        assert after.items() >= each.items()
    assert len({answer.json()["updated_at"] for answer in answers}) == len(given)


@pytest.mark.both_databases
async def test_creations_during_an_environments_deletion_are_not_found_or_deleted_with_it(
    client: Caller, ada: Caller, project: Json
) -> None:
    for number in range(4):
        environment = await ada.create_environment(project, key=f"env-{number}")
        path = environment_path(environment)
        creations = [ada.post(f"{path}/flags", json={"name": "n", "key": f"key-{each}"}) for each in range(6)]
        deletion, *answers = await asyncio.gather(ada.delete(path), *creations)
        assert deletion.status_code == 204
        assert {answer.status_code for answer in answers} <= {201, 404}
        assert (await ada.get(f"{path}/flags")).status_code == 404
        assert (await client.evaluate(project["sdk_key"], f"env-{number}")).status_code == 404


@pytest.mark.both_databases
async def test_writes_to_a_project_during_its_deletion_are_not_found_or_deleted_with_it(
    client: Caller, ada: Caller
) -> None:
    for _ in range(4):
        project = await ada.create_project()
        flag = await ada.create_flag(await ada.get_environment(project))
        path = project_path(project)
        deletion, *answers = await asyncio.gather(
            ada.delete(path),
            ada.post(f"{path}/environments", json={"name": "n", "key": "n"}),
            ada.post(f"{flag_path(flag)}/toggle"),
            ada.post(f"{flag_path(flag)}/rules", json={"rule_type": "user_id", "rule_value": "ada"}),
            ada.post(f"{path}/regenerate-key"),
            ada.put(path, json={"name": "Renamed"}),
        )
        assert deletion.status_code == 204
        assert {answer.status_code for answer in answers} <= {200, 201, 404}
        for answer in answers:
            if "sdk_key" in answer.json():
                assert (await client.evaluate(answer.json()["sdk_key"])).status_code == 401
        assert (await ada.get(path)).status_code == 404


@pytest.mark.both_databases
async def test_keys_regenerated_at_once_leave_one_that_opens(client: Caller, ada: Caller, project: Json) -> None:
    answers = await asyncio.gather(*(ada.post(f"{project_path(project)}/regenerate-key") for _ in range(8)))
    keys = [answer.json()["sdk_key"] for answer in answers]
    current = (await ada.get(project_path(project))).json()["sdk_key"]
    assert len(set(keys)) == 8
    for key in [*keys, project["sdk_key"]]:
        assert (await client.evaluate(key)).status_code == (200 if key == current else 401)


async def set_rule_types(flagstaff: Flagstaff, rule_type: str) -> None:
    """Change a row as another version might, without notifying any instance."""
    async with flagstaff.database.transaction() as transaction:
        await transaction.connection.execute(tables.rules.update().values(rule_type=rule_type))


@pytest.mark.both_databases
async def test_a_load_that_fails_after_the_commit_is_repeated_by_a_retry(
    flagstaff: Flagstaff, client: Caller, ada: Caller, project: Json, flag: Json, log_stream: io.StringIO
) -> None:
    await ada.create_rule(flag)
    assert await enabled(client, project, flag) is True
    await set_rule_types(flagstaff, "device")
    refused = await ada.post(f"{flag_path(flag)}/toggle")
    assert refused.status_code == 503
    assert refused.json()["detail"].startswith("The change is stored, but this instance could not load it")
    assert "retry-after" not in refused.headers
    assert (await ada.get(flag_path(flag))).json()["enabled"] is False
    assert await enabled(client, project, flag) is True
    assert "1 project(s) could not be loaded" in (await client.get("/ready")).json()["detail"]
    await set_rule_types(flagstaff, "user_id")
    async with asyncio.timeout(10):
        while await enabled(client, project, flag):
            await asyncio.sleep(0.01)
        while (await client.get("/ready")).status_code != 200:  # its answer may be a second old
            await asyncio.sleep(0.1)


@pytest.mark.both_databases
async def test_a_project_that_cannot_be_loaded_at_all_is_unavailable_until_it_can(
    flagstaff: Flagstaff, client: Caller, ada: Caller, project: Json, flag: Json, log_stream: io.StringIO
) -> None:
    await ada.create_rule(flag)
    await set_rule_types(flagstaff, "device")
    unload_all(flagstaff.serving.snapshots)
    flagstaff.serving.sdk_keys.known.clear()
    refused = await client.evaluate(project["sdk_key"])
    assert refused.status_code == 503
    assert "device" not in refused.text
    await set_rule_types(flagstaff, "user_id")
    assert await enabled(client, project, flag) is True


async def seconds_of(work: Awaitable[object]) -> float:
    """Return how long something takes."""
    began = time.perf_counter()
    await work
    return time.perf_counter() - began


async def test_a_toggle_cancelled_at_any_moment_leaves_the_snapshot_as_the_database_is(
    flagstaff: Flagstaff, client: Caller, ada: Caller, project: Json, flag: Json
) -> None:
    """The server cancels running work when a stop takes too long."""
    actor = Actor(UUID(ada.account["id"]), ada.account["email"])
    path = FlagPath(UUID(flag["project_id"]), UUID(flag["environment_id"]), UUID(flag["id"]))
    settings = Settings.load({})
    flags = Flags(flagstaff.database, utc_now, settings, WorkBudgets(settings.max_condition_work))
    toggles = [await seconds_of(flags.toggle_flag(actor, path)) for _ in range(5)]
    whole_seconds = min(toggles)  # the first one takes longest
    ends = Counter[bool]()
    for part in range(24):
        toggle = asyncio.create_task(flags.toggle_flag(actor, path))
        await asyncio.wait([toggle], timeout=whole_seconds * part / 20)
        toggle.cancel()
        await asyncio.wait([toggle])
        ends[toggle.cancelled()] += 1
        stored = (await ada.get(flag_path(flag))).json()["enabled"]
        async with asyncio.timeout(10):  # the load of the snapshot continued after its caller was cancelled
            while await enabled(client, project, flag) is not stored:
                await asyncio.sleep(0.001)
    assert ends[True] > 3
    assert (await ada.post(f"{flag_path(flag)}/toggle")).status_code == 200


@pytest.mark.both_databases
async def test_projects_created_at_once_with_idempotency_keys_do_not_wait_for_each_other_in_a_circle(
    ada: Caller,
) -> None:
    answers = await asyncio.gather(
        *(
            ada.post("/api/projects", json={"name": "Shop"}, headers={"idempotency-key": f"key-{number}"})
            for number in range(CREATIONS)
        )
    )
    assert [answer.status_code for answer in answers] == [201] * CREATIONS
