"""The attributes that are kept with evaluations, by FLAGSTAFF_HISTORY_ATTRIBUTES, and shown in their records."""

import json
import random
from datetime import datetime
from typing import Any
from uuid import UUID

import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.changes.changes import Actor
from flagstaff.evaluation.evaluator import evaluate as evaluate_flags
from flagstaff.evaluation.history.filters import EvaluationFilter
from flagstaff.evaluation.history.records import RecordedEvaluation
from tests.support.api import Caller, Json, environment_path, flag_path
from tests.support.clock import Clock
from tests.web.history.conftest import WhenRecorded

GIVEN = {"plan": "gold", "seats": 5, "team": "red"}


def keeps(choice: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("environ", [{"FLAGSTAFF_HISTORY_ATTRIBUTES": choice}])


def condition(attribute: str, operator: str, *values: str) -> Json:
    return {"attribute": attribute, "operator": operator, "values": values}


async def add_rule(ada: Caller, flag: Json, *conditions: Json, **values: Any) -> None:
    await ada.create_rule(flag, rule_type="attributes", rule_value=None, conditions=conditions, **values)


@pytest.fixture
async def flag(ada: Caller, environment: Json) -> Json:
    """A flag for the plan `gold`."""
    flag = await ada.create_flag(environment, fallthrough="off")
    await add_rule(ada, flag, condition("plan", "in", "gold"))
    return flag


async def kept(
    ada: Caller, client: Caller, environment: Json, when_recorded: WhenRecorded, attributes: Json = GIVEN
) -> Json | None:
    """Return the attributes in the record of an evaluation with these, or None if the record has none."""
    return await kept_of(ada, client, environment, when_recorded, {"custom_attributes": attributes})


async def kept_of(
    ada: Caller, client: Caller, environment: Json, when_recorded: WhenRecorded, context: Json
) -> Json | None:
    """Return the same of an evaluation in a context."""
    project = {"id": environment["project_id"]}
    sdk_key = (await ada.get(f"/api/projects/{project['id']}")).json()["sdk_key"]
    answer = await client.evaluate(sdk_key, context=context)
    assert answer.status_code == 200
    await when_recorded()
    items = (await ada.get(f"{environment_path(environment)}/evaluations", params={"limit": 1})).json()["items"]
    assert "attributes" not in items[0] or items[0]["attributes"] is not None
    found: Json | None = items[0].get("attributes")
    return found


async def test_what_no_rule_looks_at_is_not_kept(
    ada: Caller, client: Caller, environment: Json, when_recorded: WhenRecorded
) -> None:
    flag = await ada.create_flag(environment, rollout_percentage=50)
    assert await kept(ada, client, environment, when_recorded) is None
    await ada.create_rule(flag, conditions=[condition("environment", "in", "production")])
    assert await kept(ada, client, environment, when_recorded) is None
    await add_rule(ada, flag, condition("plan", "in", "gold"), enabled=False)
    assert await kept(ada, client, environment, when_recorded) is None


async def test_a_request_without_attributes_is_recorded_as_having_none(
    ada: Caller, client: Caller, environment: Json, flag: Json, when_recorded: WhenRecorded
) -> None:
    contexts: tuple[Json, ...] = ({}, {"user_id": "ada"}, {"custom_attributes": {}})
    for context in contexts:
        assert await kept_of(ada, client, environment, when_recorded, context) == {}


async def test_what_rules_segments_and_stickiness_look_at_is_kept(
    ada: Caller, client: Caller, project: Json, environment: Json, flag: Json, when_recorded: WhenRecorded
) -> None:
    assert await kept(ada, client, environment, when_recorded) == {"plan": "gold"}
    await ada.create_segment(project, conditions=[condition("seats", "gt", "3")])
    assert await kept(ada, client, environment, when_recorded) == {"plan": "gold"}
    await ada.create_rule(flag, rule_type="segment", rule_value="beta")
    assert await kept(ada, client, environment, when_recorded) == {"plan": "gold", "seats": 5}
    await ada.create_flag(environment, key="sticky", rollout_percentage=50, stickiness="team")
    assert await kept(ada, client, environment, when_recorded) == GIVEN
    assert await kept(ada, client, environment, when_recorded, {"other": 1}) == {}


async def test_of_lists_and_objects_only_what_conditions_can_compare_is_kept(
    ada: Caller, client: Caller, environment: Json, flag: Json, when_recorded: WhenRecorded
) -> None:
    for value in ("ü\x00", 5, 5.0, -1e300, 10**400, True, None, "x" * 1025, ["gold", 1, False]):
        assert repr(await kept(ada, client, environment, when_recorded, {"plan": value})) == repr({"plan": value})
    others: tuple[Any, ...] = ({}, [], [[]], {"a": []}, ["x"] * 101)
    for other in others:
        assert await kept(ada, client, environment, when_recorded, {"plan": other}) == {"plan": None}
    assert await kept(ada, client, environment, when_recorded, {"plan": ["a", {}, ["b"]]}) == {"plan": ["a"]}


@pytest.mark.both_databases
async def test_attributes_of_every_context_are_not_kept_twice(
    ada: Caller, client: Caller, environment: Json, flag: Json, when_recorded: WhenRecorded
) -> None:
    reserved = dict.fromkeys(("user_id", "user_email", "email_domain", "environment", "current_time"), "x")
    await add_rule(ada, flag, *(condition(name, "in", "y") for name in reserved if name != "current_time"))
    assert await kept(ada, client, environment, when_recorded, {**reserved, "plan": "gold"}) == {"plan": "gold"}


@keeps("all")
async def test_all_attributes_are_kept_where_that_is_set_up_to_eight_kibibytes(
    ada: Caller, client: Caller, environment: Json, when_recorded: WhenRecorded
) -> None:
    flag = await ada.create_flag(environment)
    assert await kept(ada, client, environment, when_recorded) == GIVEN
    await add_rule(ada, flag, condition("plan", "in", "gold"))
    assert await kept(ada, client, environment, when_recorded) == GIVEN
    assert await kept(ada, client, environment, when_recorded, {"current_time": "x", "x" * 129: 1}) == {}
    many = {f"other-{number}": "x" * 1000 for number in range(8)}
    assert await kept(ada, client, environment, when_recorded, {**many, "plan": "g" * 1000}) == {
        **dict(list(many.items())[:7]),
        "plan": "g" * 1000,
    }
    response = await ada.get(f"{environment_path(environment)}/evaluations")
    assert len(response.content) < 40_000


@keeps("none")
async def test_no_attribute_is_kept_where_that_is_set(
    ada: Caller, client: Caller, environment: Json, flag: Json, when_recorded: WhenRecorded
) -> None:
    assert await kept(ada, client, environment, when_recorded) is None


async def test_attributes_are_in_the_evaluations_of_a_flag_too(
    ada: Caller, client: Caller, project: Json, environment: Json, flag: Json, when_recorded: WhenRecorded
) -> None:
    body = {"environment": "production", "context": {"custom_attributes": GIVEN}}
    path = f"/sdk/v1/evaluate/{flag['key']}"
    assert (await client.post(path, json=body, headers={"x-sdk-key": project["sdk_key"]})).status_code == 200
    await kept(ada, client, environment, when_recorded, {"plan": "free"})
    items = (await ada.get(f"{flag_path(flag)}/evaluations")).json()["items"]
    assert [(each["attributes"], each["enabled"]) for each in items] == [
        ({"plan": "free"}, False),
        ({"plan": "gold"}, True),
    ]


@pytest.mark.parametrize("environ", [{"FLAGSTAFF_MAX_CONDITION_WORK": "100000"}])
async def test_attributes_that_take_too_many_bytes_are_left_out_and_the_evaluation_is_recorded(
    ada: Caller, client: Caller, environment: Json, flag: Json, when_recorded: WhenRecorded
) -> None:
    names = [f"{'n' * 120}{number:03}" for number in range(150)]
    for some in range(0, 150, 50):
        await add_rule(ada, flag, *(condition(name, "in", "x") for name in names[some : some + 50]))
    assert await kept(ada, client, environment, when_recorded, dict.fromkeys(names, 1)) is None
    assert await kept(ada, client, environment, when_recorded) == {"plan": "gold"}


async def test_a_recorded_evaluation_can_be_repeated_with_the_same_answer(
    ada: Caller,
    client: Caller,
    flagstaff: Flagstaff,
    project: Json,
    environment: Json,
    flag: Json,
    clock: Clock,
    when_recorded: WhenRecorded,
) -> None:
    await add_rule(
        ada, flag, condition("seats", "gte", "3"), condition("current_time", "after", "2026-11-20T10:00:05Z")
    )
    await ada.create_flag(environment, key="sticky", rollout_percentage=50, stickiness="team")
    variants = [{"key": key, "weight": 500, "value": key} for key in "ab"]
    await ada.create_flag(environment, key="varied", variants=variants, stickiness="seats")
    chance, answers = random.Random(1), []
    odd: list[Any] = [None, True, 5, 5.0, "5", "gold", ["gold", []], {"a": 1}, "x" * 1025, 10**400, "", *range(10, 30)]
    for _ in range(40):
        clock.advance(seconds=0.250001)
        names = chance.sample(["plan", "seats", "team", "other"], chance.randrange(5))
        context = {"user_id": chance.choice(["ada", None]), "custom_attributes": {n: chance.choice(odd) for n in names}}
        body = json.dumps({"environment": "production", "context": context})
        answer = await client.post("/sdk/v1/evaluate", content=body, headers={"x-sdk-key": project["sdk_key"]})
        answers.append((clock.at, answer.content))
    await when_recorded()
    snapshot = flagstaff.serving.sdk_keys.known[project["sdk_key"]].project.environments["production"]

    def repeat(each: RecordedEvaluation) -> tuple[datetime, bytes]:
        return each.evaluated_at, evaluate_flags(snapshot, each.user_id, each.user_email, each.values())[0]

    page = await flagstaff.history.service.list_environment_evaluations(
        Actor(UUID(ada.account["id"]), ada.account["email"]),
        UUID(project["id"]),
        UUID(environment["id"]),
        EvaluationFilter(),
        limit=100,
        before=None,
    )
    assert [repeat(each) for each in page.items] == answers[::-1]
    assert len({body for _, body in answers}) > 4
