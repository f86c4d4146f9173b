"""POST /sdk/v1/evaluate/{flag_key}."""

import asyncio
from typing import Any

import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from tests.support.api import Caller, Json, environment_path, field_errors


@pytest.fixture
def environ() -> dict[str, str]:
    """No limit."""
    return {"FLAGSTAFF_EVALUATE_RATE_LIMIT": "off"}


async def evaluate(client: Caller, project: Json, key: str, **body: Any) -> Any:
    given = {"environment": "production", **body}
    headers = {"x-sdk-key": project["sdk_key"]}
    return await client.post(f"/sdk/v1/evaluate/{key}", json=given, headers=headers)


async def test_what_all_flags_refuse_one_refuses_too(client: Caller, ada: Caller, project: Json) -> None:
    await ada.create_flag(await ada.get_environment(project), key="flag")
    assert (await evaluate(client, {"sdk_key": "sdk_x"}, "flag")).status_code == 401
    assert (await evaluate(client, project, "flag", environment="missing")).status_code == 404
    assert field_errors(await evaluate(client, project, "flag", contxt={})).keys() == {"contxt"}
    answer = await client.get("/sdk/v1/evaluate/flag", headers={"x-sdk-key": project["sdk_key"]})
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")


async def test_a_key_that_does_not_exist_is_not_found(client: Caller, ada: Caller, project: Json) -> None:
    await ada.create_flag(await ada.get_environment(project, "staging"), key="flag")
    for key in ("flag", "FLAG", "%00", "flag/x"):
        assert (await evaluate(client, project, key)).status_code == 404, key


async def test_each_flag_alone_is_as_it_is_among_all(
    client: Caller, ada: Caller, project: Json, environment: Json
) -> None:
    variants = [{"key": 'a "b"', "weight": 1, "value": {"ü": [1, "x"]}}, {"key": "b", "weight": 1, "value": {}}]
    await ada.create_flag(environment, key="off", enabled=False, variants=variants)
    await ada.create_flag(environment, key="on")
    await ada.create_flag(environment, key="rollout", rollout_percentage=50)
    await ada.create_flag(environment, key="sticky", rollout_percentage=50, stickiness="company")
    await ada.create_flag(environment, key="varied", variants=variants)
    ruled = await ada.create_flag(environment, key="ruled", fallthrough="off", variants=variants)
    await ada.create_rule(ruled, rule_value="user-1", rollout_percentage=90, variant="b")
    await ada.create_flag(environment, key="needing", prerequisites=[{"flag_key": "ruled"}])
    for number in range(12):
        context = {"user_id": f"user-{number % 4}", "custom_attributes": {"company": number}}
        flags = (await client.evaluate(project["sdk_key"], context=context)).json()["flags"]
        for key, expected in flags.items():
            answer = await evaluate(client, project, key, context=context)
            assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
            assert answer.json() == expected


async def test_the_history_has_one_flag_of_an_evaluation_of_one(
    flagstaff: Flagstaff, client: Caller, ada: Caller, project: Json, environment: Json
) -> None:
    await ada.create_flag(environment, key="other", rollout_percentage=50)
    await ada.create_flag(environment, key="rollout", rollout_percentage=99)
    await ada.create_flag(environment, key="constant")
    for key in ("rollout", "constant"):
        await evaluate(client, project, key, context={"user_id": "ada"})
    while flagstaff.history.recorder.waiting:
        await asyncio.sleep(0.01)
    items = (await ada.get(f"{environment_path(environment)}/evaluations")).json()["items"]
    assert [list(item["flags"]) for item in items] == [["constant"], ["rollout"]]
    summary = (await ada.get(f"{environment_path(environment)}/evaluations/summary?interval=99999d")).json()["flags"]
    assert summary.keys() == {"constant", "rollout"}
