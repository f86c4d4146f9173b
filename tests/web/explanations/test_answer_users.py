"""POST …/playground."""

import json
from contextlib import AsyncExitStack
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from tests.support.api import NO_IDS, Caller, Json, environment_path, field_errors, flag_path, project_path
from tests.support.builders import make_environment, make_flag, store_all
from tests.support.tokens import issue

ID = str(uuid4())
KEY = "new-checkout"
UNKNOWN_FLAG = "must be the key of a flag of one of the environments"
UNKNOWN_ENVIRONMENT = "must be the id of an environment of this project"
USERS: list[Any] = [
    None,
    {"user_id": "ada"},
    {"user_email": "Grace@Example.com"},
    {"user_id": "bob", "custom_attributes": {"plan": "gold", "age": 40}},
    {"user_id": "bob", "user_email": "bob@example.com", "custom_attributes": {"plan": "free"}},
    *({"user_id": f"user-{number}"} for number in range(20)),
]
MALFORMED: list[tuple[Any, dict[str, str]]] = [
    ({}, {"environment_ids": "is required", "users": "is required"}),
    ({"environment_ids": []}, {"environment_ids": "must have at least one environment"}),
    ({"environment_ids": ["production"]}, {"environment_ids.0": "must be a UUID"}),
    ({"environment_ids": [ID, ID]}, {"environment_ids": "must not have an environment twice"}),
    ({"environment_ids": [str(uuid4()) for _ in range(6)]}, {"environment_ids": "must have at most 5 items"}),
    ({"environment_ids": [ID]}, {"environment_ids.0": UNKNOWN_ENVIRONMENT}),
    ({"flag_keys": []}, {"flag_keys": "must not be empty"}),
    ({"flag_keys": [KEY] * 201}, {"flag_keys": "must have at most 200 items"}),
    ({"flag_keys": [KEY, "x", KEY, "y"]}, {"flag_keys.1": UNKNOWN_FLAG, "flag_keys.3": UNKNOWN_FLAG}),
    ({"users": []}, {"users": "must not be empty"}),
    ({"users": [{}] * 201}, {"users": "must have at most 200 items"}),
    ({"users": [{}, 7]}, {"users.1": "must be an object or null"}),
    ({"users": [{"user_id": 7}]}, {"users.0.user_id": "must be a string or null"}),
    ({"users": [{"user_email": "x" * 1025}]}, {"users.0.user_email": "must be at most 1,024 characters long"}),
    ({"users": [{"custom_attributes": []}]}, {"users.0.custom_attributes": "must be an object"}),
    (
        {"users": [{"custom_attributes": {"x": "y" * 9_000}}]},
        {"users.0.custom_attributes": "must have at most 8,192 bytes and 8 lists"},
    ),
    (
        {"flag_keys": [KEY] * 101, "users": [{}] * 200},
        {"users": "times flags times environments must be at most 20,000 answers, not 20,200"},
    ),
]


async def ask(caller: Caller, project: Json, environments: list[Json], **values: Any) -> httpx.Response:
    body = {"environment_ids": [each["id"] for each in environments], "flag_keys": [KEY], "users": [{}], **values}
    return await caller.post(f"{project_path(project)}/playground", json=body)


async def test_it_needs_a_token(client: Caller, project: Json, environment: Json) -> None:
    assert (await ask(client, project, [environment])).status_code == 401


async def test_a_project_of_others_is_not_found(ada: Caller, eve: Caller, project: Json, environment: Json) -> None:
    assert (await ask(eve, project, [environment])).status_code == 404
    for project_id in (*NO_IDS, uuid4()):
        assert (await ask(ada, {"id": project_id}, [environment])).status_code == 404, project_id


async def test_a_token_for_one_environment_gets_no_answers_of_another(
    flagstaff: Flagstaff, callers: AsyncExitStack, ada: Caller, project: Json, environment: Json
) -> None:
    await ada.create_flag(environment)
    staging = await ada.get_environment(project, "staging")
    path = f"{project_path(project)}/tokens"
    token = await issue(flagstaff, callers, path, ada, "flags:read", environments=[environment["id"]])
    refused = await ask(token, project, [environment, staging])
    assert (refused.status_code, refused.json()["permission"]) == (403, "flags:read")
    assert (await ask(token, project, [environment])).status_code == 200


async def test_a_malformed_body_is_refused_by_name(ada: Caller, project: Json, environment: Json) -> None:
    await ada.create_flag(environment)
    valid = {"environment_ids": [environment["id"]], "flag_keys": [KEY], "users": [{}]}
    for body, errors in MALFORMED:
        answer = await ada.post(f"{project_path(project)}/playground", json={**(valid if body else {}), **body})
        assert field_errors(answer) == errors


async def test_an_environment_of_another_project_is_refused(
    ada: Caller, eve: Caller, project: Json, environment: Json
) -> None:
    foreign = await eve.get_environment(await eve.create_project())
    answer = await ask(ada, project, [environment, foreign])
    assert field_errors(answer) == {"environment_ids.1": UNKNOWN_ENVIRONMENT}


async def test_archived_flags_have_no_answers(ada: Caller, project: Json, environment: Json) -> None:
    await ada.post(f"{flag_path(await ada.create_flag(environment))}/archive")
    assert field_errors(await ask(ada, project, [environment])) == {"flag_keys.0": UNKNOWN_FLAG}


async def create_mixed_flags(ada: Caller, environment: Json) -> list[str]:
    """Create flags of every kind; return their keys."""
    variants = [{"key": key, "weight": 1, "value": key} for key in ("red", "blue")]
    gold = {"attribute": "plan", "operator": "in", "values": ["gold"]}
    await ada.create_segment(
        {"id": environment["project_id"]},
        key="grown-ups",
        conditions=[
            {"attribute": "age", "operator": "gte", "values": ["18"]},
        ],
    )
    await ada.create_rule(await ada.create_flag(environment, key="ruled", rollout_percentage=30), name="Ada herself")
    varied = await ada.create_flag(environment, key="varied", variants=variants)
    await ada.create_rule(varied, rule_type="attributes", rule_value=None, conditions=[gold], variant="blue")
    narrow = await ada.create_flag(environment, key="narrow", fallthrough="off")
    await ada.create_rule(narrow, rule_type="segment", rule_value="grown-ups", rollout_percentage=50)
    await ada.create_rule(narrow, rule_type="email_domain", rule_value="example.com")
    needs = [{"flag_key": "varied", "enabled": True, "variants": ["red"]}]
    await ada.create_flag(environment, key="needs", prerequisites=needs)
    await ada.create_flag(environment, key="off", enabled=False)
    await ada.create_flag(environment, key="half", rollout_percentage=50)
    await ada.create_flag(environment, key="everyone")
    return ["off", "needs", "varied", "ruled", "narrow", "half", "everyone"]


async def test_the_answers_are_those_of_an_evaluation(ada: Caller, project: Json, environment: Json) -> None:
    keys = await create_mixed_flags(ada, environment)
    found = (await ask(ada, project, [environment], flag_keys=keys, users=USERS)).json()["environments"][0]["flags"]
    assert [each["flag_key"] for each in found] == keys
    for place, user in enumerate(USERS):
        evaluated = (await ada.evaluate(project["sdk_key"], context=user)).json()["flags"]
        for flag in found:
            answer, evaluation = flag["answers"][flag["of_users"][place]], evaluated[flag["flag_key"]]
            assert {name: answer[name] for name in ("enabled", "reason")} == {
                name: evaluation[name] for name in ("enabled", "reason")
            }
            assert answer["variant"] == evaluation.get("variant")


async def test_it_says_why_as_an_explanation_does_and_each_answer_once(
    ada: Caller, project: Json, environment: Json
) -> None:
    keys = await create_mixed_flags(ada, environment)
    found = (await ask(ada, project, [environment], flag_keys=keys, users=USERS)).json()["environments"][0]["flags"]
    for place, user in enumerate(USERS[:5]):
        explained = await ada.post(f"{environment_path(environment)}/explain", json={"context": user})
        why = {each["flag_key"]: each["decided_by"] for each in explained.json()["flags"]}
        for flag in found:
            assert flag["answers"][flag["of_users"][place]]["decided_by"] == why[flag["flag_key"]]
    for flag in found:
        assert len(flag["answers"]) == len({str(each) for each in flag["answers"]}) <= 5


@pytest.mark.both_databases
async def test_environments_answer_in_the_order_asked_with_the_flags_that_they_have(
    ada: Caller, project: Json, environment: Json
) -> None:
    staging = await ada.get_environment(project, "staging")
    await ada.create_flag(environment)
    await ada.create_flag(staging, enabled=False)
    await ada.create_flag(staging, key="only-there")
    keys = ["only-there", KEY]
    asked = await ask(ada, project, [staging, environment], flag_keys=keys, users=[{"user_id": "ada"}] * 2)
    first, second = asked.json()["environments"]
    assert (first["environment_key"], second["environment_id"]) == ("staging", environment["id"])
    assert [[each["flag_key"] for each in one["flags"]] for one in (first, second)] == [keys, [KEY]]
    assert [one["flags"][-1]["answers"][0]["enabled"] for one in (first, second)] == [False, True]
    assert second["flags"][0]["of_users"] == [0, 0]


async def test_without_keys_the_first_flags_answer(ada: Caller, project: Json, environment: Json) -> None:
    staging = await ada.get_environment(project, "staging")
    for number in range(3):
        await ada.create_flag(environment, key=f"b-{number}")
    await ada.create_flag(staging, key="a")
    found = (await ask(ada, project, [environment, staging], flag_keys=None)).json()
    keys = [[each["flag_key"] for each in one["flags"]] for one in found["environments"]]
    assert (keys, found["more_flags"]) == ([["b-0", "b-1", "b-2"], ["a"]], False)


async def test_the_first_flags_are_as_many_as_answers_fit(
    ada: Caller, flagstaff: Flagstaff, project: Json, environment: Json
) -> None:
    home = make_environment(UUID(project["id"]), id=UUID(environment["id"]))
    await store_all(flagstaff.database, *(make_flag(home, key=f"flag-{number:03}") for number in range(201)))
    for users, flags in ((1, 200), (160, 125)):
        found = (await ask(ada, project, [environment], flag_keys=None, users=[{}] * users)).json()
        assert (len(found["environments"][0]["flags"]), found["more_flags"]) == (flags, True)


async def test_half_a_character_in_an_attribute_is_no_error(ada: Caller, project: Json, environment: Json) -> None:
    await ada.create_flag(environment)
    users = [{"user_id": "ada", "custom_attributes": {"name": "\ud83d"}}, {"user_id": "eve"}]
    body = {"environment_ids": [environment["id"]], "flag_keys": [KEY], "users": users}
    answer = await ada.post(
        f"{project_path(project)}/playground",
        content=json.dumps(body).encode(),
        headers={"content-type": "application/json"},
    )
    assert answer.json()["environments"][0]["flags"][0]["of_users"] == [0, 0]


async def test_nothing_is_recorded(ada: Caller, flagstaff: Flagstaff, project: Json, environment: Json) -> None:
    await ada.create_flag(environment)
    assert (await ask(ada, project, [environment], users=[{"user_id": "ada"}])).status_code == 200
    assert flagstaff.history.recorder.waiting == 0
    assert (await ada.get(f"{environment_path(environment)}/evaluations")).json()["items"] == []
