"""The maximum number of resources in one place."""

import asyncio
import json
from typing import Any

import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.database import tables
from tests.support.api import Caller, Json, environment_path, flag_path, project_path


def quota(name: str, maximum: int) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("environ", [{f"FLAGSTAFF_MAX_{name}": str(maximum)}])


@pytest.mark.both_databases
@quota("PROJECTS_PER_ACCOUNT", 2)
async def test_an_account_may_have_so_many_projects_also_when_it_makes_them_at_once(ada: Caller, eve: Caller) -> None:
    answers = await asyncio.gather(*(ada.post("/api/projects", json={"name": "Shop"}) for _ in range(5)))

    assert sorted(each.status_code for each in answers) == [201, 201, 409, 409, 409]
    refused = next(each for each in answers if each.status_code == 409)
    assert "The account has 2 projects, and FLAGSTAFF_MAX_PROJECTS_PER_ACCOUNT allows 2." in refused.json()["detail"]
    listed = (await ada.get("/api/projects")).json()
    assert len(listed) == 2
    assert (await ada.delete(project_path(listed[0]))).status_code == 204
    await ada.create_project()
    await eve.create_project()


@quota("ENVIRONMENTS_PER_PROJECT", 3)
async def test_a_project_may_have_so_many_environments(ada: Caller, project: Json) -> None:
    path = f"{project_path(project)}/environments"
    answers = [await ada.post(path, json={"name": "x", "key": key}) for key in ("a", "b")]

    assert [each.status_code for each in answers] == [201, 409]
    assert "FLAGSTAFF_MAX_ENVIRONMENTS_PER_PROJECT" in answers[1].json()["detail"]
    assert len((await ada.get(path)).json()) == 3


@quota("SEGMENTS_PER_PROJECT", 2)
async def test_a_project_may_have_so_many_segments(ada: Caller, project: Json) -> None:
    path = f"{project_path(project)}/segments"
    answers = [await ada.post(path, json={"name": "x", "key": key, "conditions": []}) for key in ("a", "b", "c")]

    assert [each.status_code for each in answers] == [201, 201, 409]
    assert "FLAGSTAFF_MAX_SEGMENTS_PER_PROJECT" in answers[2].json()["detail"]
    assert len((await ada.get(path)).json()) == 2


@quota("VIEWS_PER_PROJECT", 2)
async def test_a_project_may_have_so_many_views(ada: Caller, project: Json) -> None:
    path = f"{project_path(project)}/views"
    answers = [await ada.post(path, json={"name": name, "search": {}}) for name in ("a", "b", "c")]

    assert [each.status_code for each in answers] == [201, 201, 409]
    assert "FLAGSTAFF_MAX_VIEWS_PER_PROJECT" in answers[2].json()["detail"]
    assert len((await ada.get(path)).json()) == 2


@quota("FLAGS_PER_ENVIRONMENT", 2)
async def test_an_environment_may_have_so_many_flags(ada: Caller, project: Json, environment: Json) -> None:
    path = f"{environment_path(environment)}/flags"
    answers = [await ada.post(path, json={"name": "x", "key": key}) for key in ("a", "b", "c")]

    assert [each.status_code for each in answers] == [201, 201, 409]
    assert "FLAGSTAFF_MAX_FLAGS_PER_ENVIRONMENT" in answers[2].json()["detail"]
    assert len((await ada.get(path)).json()) == 2
    await ada.create_flag(await ada.get_environment(project, "staging"))


@quota("RULES_PER_FLAG", 2)
async def test_a_flag_may_have_so_many_rules(ada: Caller, environment: Json) -> None:
    flag = await ada.create_flag(environment)
    path = f"{flag_path(flag)}/rules"
    answers = [await ada.post(path, json={"rule_type": "user_id", "rule_value": each}) for each in "abc"]

    assert [each.status_code for each in answers] == [201, 201, 409]
    assert "FLAGSTAFF_MAX_RULES_PER_FLAG" in answers[2].json()["detail"]
    assert len((await ada.get(path)).json()) == 2
    await ada.create_rule(await ada.create_flag(environment, key="other"))


@quota("RULES_PER_ENVIRONMENT", 2)
async def test_the_flags_of_an_environment_may_have_so_many_rules_together(ada: Caller, project: Json) -> None:
    environment, staging = [await ada.get_environment(project, key) for key in ("production", "staging")]
    flags = [await ada.create_flag(environment, key=key) for key in ("one", "two", "three")]
    rule = {"rule_type": "user_id", "rule_value": "ada"}
    answers = [await ada.post(f"{flag_path(flag)}/rules", json=rule) for flag in flags]

    assert [each.status_code for each in answers] == [201, 201, 409]
    assert "FLAGSTAFF_MAX_RULES_PER_ENVIRONMENT" in answers[2].json()["detail"]
    await ada.create_rule(await ada.create_flag(staging, key="one"))


@quota("CONDITION_CHARACTERS", 400)
async def test_the_conditions_of_an_environment_may_have_so_many_characters(ada: Caller, environment: Json) -> None:
    flag = await ada.create_flag(environment)
    path = f"{flag_path(flag)}/rules"
    long = {"attribute": "plan", "operator": "in", "values": ["x" * 200]}
    created = await ada.post(path, json={"rule_type": "attributes", "conditions": [long]})
    assert created.status_code == 201

    rejections = [
        await ada.post(path, json={"rule_type": "attributes", "conditions": [long]}),
        await ada.put(f"{path}/{created.json()['id']}", json={"conditions": [long, long]}),
    ]

    assert [each.status_code for each in rejections] == [409, 409]
    assert all("FLAGSTAFF_MAX_CONDITION_CHARACTERS allows 400" in each.json()["detail"] for each in rejections)
    assert (await ada.get(path)).json() == [created.json()]


@quota("CONDITION_CHARACTERS", 400)
async def test_the_conditions_of_a_projects_segments_may_have_so_many_characters(ada: Caller, project: Json) -> None:
    path = f"{project_path(project)}/segments"
    long = {"attribute": "plan", "operator": "in", "values": ["x" * 200]}
    answers = [await ada.post(path, json={"name": "x", "key": key, "conditions": [long]}) for key in ("a", "b")]

    assert [each.status_code for each in answers] == [201, 409]
    segment = answers[0].json()
    assert (await ada.put(f"{path}/{segment['id']}", json={"conditions": [long, long]})).status_code == 409
    assert (await ada.get(path)).json() == [segment]


def variants(*values: Any) -> list[Json]:
    return [{"key": f"v{place}", "weight": 1, "value": value} for place, value in enumerate(values)]


@quota("VARIANT_CHARACTERS", 400)
async def test_the_variants_of_an_environment_may_have_so_many_characters(
    ada: Caller, project: Json, environment: Json
) -> None:
    path = f"{environment_path(environment)}/flags"
    flag = await ada.create_flag(environment, variants=variants("x" * 200))
    rejections = [
        await ada.post(path, json={"name": "x", "key": "other", "variants": variants("x" * 200)}),
        await ada.post(path, json={"name": "x", "key": "other", "variants": variants({"x": "ü" * 40})}),
        await ada.put(flag_path(flag), json={"variants": variants("x" * 200, "x" * 200)}),
    ]

    assert [each.status_code for each in rejections] == [409] * 3
    for each in rejections:
        assert each.json()["detail"].startswith("The variants of the environment would have ")
        assert "FLAGSTAFF_MAX_VARIANT_CHARACTERS allows 400" in each.json()["detail"]
    assert (await ada.get(path)).json() == [flag]
    assert (await ada.put(flag_path(flag), json={"variants": variants("y" * 300)})).status_code == 200
    assert (await ada.post(f"{flag_path(flag)}/toggle")).status_code == 200
    await ada.create_flag(environment, key="plain")
    await ada.create_flag(await ada.get_environment(project, "staging"), variants=variants("x" * 300))


@pytest.mark.both_databases
@quota("VARIANT_CHARACTERS", 400)
async def test_variants_made_at_once_share_the_quota(ada: Caller, environment: Json) -> None:
    path = f"{environment_path(environment)}/flags"
    flags = [await ada.create_flag(environment, key=f"flag-{number}") for number in range(4)]
    body = {"name": "x", "variants": variants("x" * 100)}
    answers = await asyncio.gather(
        *(ada.post(path, json={**body, "key": f"new-{number}"}) for number in range(4)),
        *(ada.put(flag_path(flag), json={"variants": variants("x" * 100)}) for flag in flags),
    )

    assert sorted(each.status_code // 100 for each in answers) == [2, 2, *[4] * 6]
    stored = (await ada.get(path)).json()
    assert sum(bool(each["variants"]) for each in stored) == 2


@pytest.mark.both_databases
@quota("VARIANT_CHARACTERS", 400)
async def test_variants_beyond_a_quota_that_was_lowered_can_become_shorter_but_not_longer(
    ada: Caller, flagstaff: Flagstaff, environment: Json
) -> None:
    flag = await ada.create_flag(environment)
    async with flagstaff.database.transaction() as transaction:
        await transaction.connection.execute(tables.flags.update().values(variants=variants("x" * 1000)))

    async def put(*values: str) -> int:
        return (await ada.put(flag_path(flag), json={"variants": variants(*values)})).status_code

    assert await put("x" * 1001) == 409
    assert await put("x" * 900) == 200
    assert (await ada.put(flag_path(flag), json={"name": "Renamed"})).status_code == 200
    assert await put("x" * 1000) == 409
    assert await put("x" * 100) == 200


@quota("VARIANT_CHARACTERS", 3000)
@pytest.mark.parametrize("character", ["x", '"', "ü", "\u2028", "😀"])
async def test_the_quotas_bound_the_response_to_an_evaluation(
    ada: Caller, client: Caller, project: Json, environment: Json, character: str
) -> None:
    needed = "n" * 128
    await ada.create_flag(environment, key=needed, enabled=False)
    values = {"prerequisites": [{"flag_key": needed}], "variants": variants(character * 10)}
    for place in range(5):
        await ada.create_flag(environment, key=f"{place}".rjust(128, "k"), **values)
    used = 5 * len(json.dumps(values["variants"])) + len(json.dumps(variants("aa")))
    room = (3000 - used) // len(json.dumps(character)[1:-1])
    key = f"a{character * min(126, room // 2)}a"
    longest = {"key": key, "weight": 1, "value": character * (room - len(key))}
    await ada.create_flag(environment, key="v" * 128, variants=[longest])

    response = await client.evaluate(project["sdk_key"])
    flags = response.json()["flags"]
    assert flags["v" * 128]["variant"] == key
    assert {each["reason"] for each in flags.values()} >= {f"Prerequisite {needed} is not met"}
    assert len(response.content) <= 3000 + 400 * len(flags)
