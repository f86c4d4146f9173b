"""GET …/environments/{env_id}/changes/summary."""

from uuid import uuid4

import pytest

from tests.support.api import Caller, Json, created, environment_path, field_errors, flag_path, project_path
from tests.support.clock import Clock
from tests.support.sessions import PASSWORD


def path(environment: Json) -> str:
    return f"{environment_path(environment)}/changes/summary"


async def summary(caller: Caller, environment: Json, **query: str) -> list[Json]:
    answer = await caller.get(path(environment), params=query)
    assert answer.status_code == 200, answer.text
    intervals: list[Json] = answer.json()["intervals"]
    return intervals


async def test_it_needs_a_token(client: Caller, environment: Json) -> None:
    assert (await client.get(path(environment))).status_code == 401


async def test_an_environment_that_is_not_there_or_not_yours_is_not_found(
    ada: Caller, eve: Caller, environment: Json
) -> None:
    other = await ada.create_project()
    assert (await eve.get(path(environment))).status_code == 404
    assert (await ada.get(path({**environment, "project_id": other["id"]}))).status_code == 404
    assert (await ada.get(path({**environment, "id": uuid4()}))).status_code == 404


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("interval=1", "interval"),
        ("interval=0m", "interval"),
        ("interval=1m&since=2020-01-01T00:00:00Z", "interval"),
        ("since=tuesday", "since"),
        ("since=2020-01-01T00:00:00Z&interval=30d", "since"),
        ("since=2999-01-01T00:00:00Z", "since"),
        ("until=2026-11-31", "until"),
        ("flag_key=Not%20a%20key", "flag_key"),
        ("flag_id=x", "flag_id"),
    ],
)
async def test_a_query_that_makes_no_sense_is_refused_by_name(
    ada: Caller, environment: Json, query: str, field: str
) -> None:
    assert list(field_errors(await ada.get(f"{path(environment)}?{query}"))) == [field]


async def test_without_a_change_to_flags_there_is_no_interval(ada: Caller, environment: Json) -> None:
    answer = await ada.get(f"{path(environment)}?interval=6h")
    assert answer.json() == {
        "since": "2026-11-19T06:00:00.000000Z",
        "until": "2026-11-20T12:00:00.000000Z",
        "interval": "6h",
        "tz": "UTC",
        "intervals": [],
    }


@pytest.mark.both_databases
async def test_it_counts_changes_of_flags_rules_and_segments_by_interval(
    ada: Caller, project: Json, environment: Json, clock: Clock
) -> None:
    flag = await ada.create_flag(environment)
    await ada.create_rule(flag)
    staging = await ada.get_environment(project, "staging")
    await ada.create_flag(staging)
    clock.advance(hours=3)
    await ada.put(environment_path(environment), json={"name": "Live"})
    await ada.create_segment(project)
    await ada.post(f"{flag_path(flag)}/toggle")
    newest = (await ada.get(f"{environment_path(environment)}/changes")).json()["items"][0]
    clock.advance(minutes=1)
    found = await summary(ada, environment)
    assert [(each["start"], each["changes"], each["segment_changes"]) for each in found] == [
        ("2026-11-20T10:00:00.000000Z", 2, 0),
        ("2026-11-20T13:00:00.000000Z", 2, 1),
    ]
    names = ("id", "at", "action", "flag_key")
    assert found[1]["newest"] == {**{name: newest[name] for name in names}, "actor_email": "ada@example.com"}
    assert [each["changes"] for each in await summary(ada, environment, interval="1d")] == [4]
    assert await summary(ada, environment, until="2026-11-20T10:00:00Z") == []


@pytest.mark.both_databases
async def test_of_one_flag_it_counts_its_own_changes_and_those_of_the_segments_that_its_rules_name(
    ada: Caller, project: Json, environment: Json, clock: Clock
) -> None:
    flag = await ada.create_flag(environment)
    other = await ada.create_flag(environment, key="other")
    segments = [await ada.create_segment(project, key=key, name=key) for key in ("beta", "staff")]
    await ada.create_rule(flag, rule_type="segment", rule_value="beta")
    clock.advance(hours=2)
    for segment in segments:
        answer = await ada.put(f"{project_path(project)}/segments/{segment['id']}", json={"name": "Renamed"})
        assert answer.status_code == 200
    await ada.post(f"{flag_path(other)}/toggle")
    clock.advance(seconds=1)
    counted = [
        (each["changes"], each["segment_changes"]) for each in await summary(ada, environment, flag_key=flag["key"])
    ]
    assert counted == [(3, 1), (1, 1)]
    assert [each["changes"] for each in await summary(ada, environment, flag_key="other")] == [1, 1]
    assert await summary(ada, environment, flag_key="unknown") == []
    await ada.delete(flag_path(other))
    clock.advance(seconds=1)
    assert [each["changes"] for each in await summary(ada, environment, flag_key="other")] == [1, 2]


@pytest.mark.both_databases
async def test_a_token_for_an_environment_sees_no_changes_of_segments(
    client: Caller, ada: Caller, project: Json, environment: Json, clock: Clock
) -> None:
    await ada.create_flag(environment)
    await ada.create_segment(project)
    clock.advance(minutes=1)
    body: Json = {"name": "Watcher", "permissions": ["audit:read"], "current_password": PASSWORD}
    body["environments"] = [environment["id"]]
    token = created(await ada.post(f"{project_path(project)}/tokens", json=body))["token"]
    answer = await client.get(path(environment), headers={"authorization": f"Bearer {token}"})
    assert [each["changes"] for each in answer.json()["intervals"]] == [1]
    assert [each["changes"] for each in await summary(ada, environment)] == [2]
