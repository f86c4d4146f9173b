"""How many resources there may be in one place."""

import asyncio

import pytest

from tests.support.api import Caller, Json, environment_path, flag_path, project_path


def quota(name: str, maximum: int) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("environ", [{f"FLAGSTAFF_MAX_{name}": str(maximum)}])


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
    answers = [await ada.post(path, json={"name": "x", "key": key}) for key in ("a", "b", "c")]

    assert [each.status_code for each in answers] == [201, 201, 409]
    assert "FLAGSTAFF_MAX_SEGMENTS_PER_PROJECT" in answers[2].json()["detail"]
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


@quota("CONDITION_CHARACTERS", 400)
async def test_the_conditions_of_an_environment_may_have_so_many_characters(ada: Caller, environment: Json) -> None:
    flag = await ada.create_flag(environment)
    path = f"{flag_path(flag)}/rules"
    long = {"attribute": "plan", "operator": "in", "values": ["x" * 200]}
    created = await ada.post(path, json={"rule_type": "attributes", "conditions": [long]})
    assert created.status_code == 201

    refusals = [
        await ada.post(path, json={"rule_type": "attributes", "conditions": [long]}),
        await ada.put(f"{path}/{created.json()['id']}", json={"conditions": [long, long]}),
    ]

    assert [each.status_code for each in refusals] == [409, 409]
    assert all("FLAGSTAFF_MAX_CONDITION_CHARACTERS allows 400" in each.json()["detail"] for each in refusals)
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
