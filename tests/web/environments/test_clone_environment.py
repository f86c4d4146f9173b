"""POST /api/projects/{project_id}/environments with `copy_from`."""

from contextlib import AsyncExitStack
from typing import Any
from uuid import uuid4

import httpx
import pytest
import sqlalchemy as sa

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.database import tables
from tests.support.api import Caller, Json, created, environment_path, field_errors, flag_path, project_path
from tests.support.changes import changes_in
from tests.support.members import join
from tests.support.tokens import issue

RED = {"key": "red", "weight": 1, "value": {"colour": "#f00"}}


async def clone(caller: Caller, environment: Json, **body: Any) -> httpx.Response:
    given = {"name": "Canary", "key": "canary", "copy_from": environment["id"], **body}
    return await caller.post(f"/api/projects/{environment['project_id']}/environments", json=given)


async def flags_of(caller: Caller, environment: Json) -> list[Json]:
    found: list[Json] = (await caller.get(f"{environment_path(environment)}/flags")).json()
    return found


async def differences(caller: Caller, origin: Json, target: Json) -> list[Json]:
    query = {"from": origin["id"], "to": target["id"]}
    found: list[Json] = (await caller.get(f"/api/projects/{origin['project_id']}/compare", params=query)).json()
    return found


async def test_it_needs_a_token_and_a_project_of_the_caller(client: Caller, eve: Caller, environment: Json) -> None:
    assert (await clone(client, environment)).status_code == 401
    assert (await clone(eve, environment)).status_code == 404


async def test_invalid_fields_are_named_and_nothing_is_created(
    ada: Caller, eve: Caller, project: Json, environment: Json
) -> None:
    unknown = {"copy_from": "must be the id of an environment of this project"}
    foreign = await eve.get_environment(await eve.create_project())
    rejections: list[tuple[Json, Json]] = [
        ({"copy_from": "production"}, {"copy_from": "must be a UUID"}),
        ({"copy_from": str(uuid4())}, unknown),
        ({"copy_from": foreign["id"]}, unknown),
        ({"all_off": "yes"}, {"all_off": "must be true or false"}),
        ({"copy_from": None, "all_off": True}, {"body": "all_off needs copy_from: a new environment has no flags"}),
    ]
    for body, errors in rejections:
        assert field_errors(await clone(ada, environment, **body)) == errors, body
    assert (await clone(ada, environment, key="staging")).status_code == 409
    assert len((await ada.get(f"{project_path(project)}/environments")).json()) == 2


async def test_an_editor_may_not_and_a_token_needs_to_write_flags_and_rules(
    flagstaff: Flagstaff, callers: AsyncExitStack, ada: Caller, eve: Caller, project: Json, environment: Json
) -> None:
    await join(flagstaff, project, eve, "editor")
    answer = await clone(eve, environment)
    assert (answer.status_code, answer.json()["permission"]) == (403, "environments:write")
    given = ["environments:write", "flags:read", "flags:write", "rules:write"]
    path = f"{project_path(project)}/tokens"
    for missing in given:
        token = await issue(flagstaff, callers, path, ada, *(each for each in given if each != missing))
        answer = await clone(token, environment)
        assert (answer.status_code, answer.json()["permission"]) == (403, missing)
    token = await issue(flagstaff, callers, path, ada, *given)
    assert (await clone(token, environment)).status_code == 201


@pytest.mark.both_databases
async def test_it_has_the_same_flags_and_rules_in_the_same_order_and_answers_the_same(
    ada: Caller, client: Caller, project: Json, environment: Json
) -> None:
    await ada.create_segment(project)
    await ada.create_flag(environment, key="base", variants=[RED])
    needs = [{"flag_key": "base", "variants": ["red"]}]
    flag = await ada.create_flag(environment, rollout_percentage=40, stickiness="tenant", prerequisites=needs)
    for value in ("c", "b", "a"):
        await ada.create_rule(flag, rule_value=value)
    await ada.create_rule(flag, rule_type="segment", rule_value="beta", rollout_percentage=30)
    archived = await ada.create_flag(environment, key="archived")
    await ada.post(f"{flag_path(archived)}/archive")

    canary = created(await clone(ada, environment))

    assert await differences(ada, environment, canary) == []
    assert [each["key"] for each in await flags_of(ada, canary)] == ["new-checkout", "base"]
    for number in range(30):
        context = {"user_id": f"user-{number}", "custom": {"tenant": f"t{number}"}}
        here, there = [await client.evaluate(project["sdk_key"], key, context) for key in ("production", "canary")]
        assert here.json() == there.json()


async def test_all_flags_can_be_off(ada: Caller, environment: Json) -> None:
    await ada.create_flag(environment)
    canary = created(await clone(ada, environment, all_off=True))
    (flag,) = await flags_of(ada, canary)
    assert flag["enabled"] is False
    ((field,),) = [each["fields"] for each in await differences(ada, environment, canary)]
    assert field == {"field": "enabled", "from": True, "to": False}


async def test_each_flag_and_rule_leaves_its_row_and_a_deleted_flag_comes_back(
    flagstaff: Flagstaff, ada: Caller, project: Json, environment: Json
) -> None:
    flag = await ada.create_flag(environment)
    await ada.create_rule(flag)
    canary = created(await clone(ada, environment))
    made = await changes_in(flagstaff, canary)
    assert [each.action for each in made] == ["environment.created", "flag.created", "rule.created"]
    assert sorted(made, key=lambda each: each.at) == made
    (copy,) = await flags_of(ada, canary)
    await ada.delete(flag_path(copy))
    deletion = (await ada.get(f"{project_path(project)}/changes", params={"limit": 1})).json()["items"][0]["id"]
    await ada.post(f"{project_path(project)}/changes/{deletion}/restore")
    assert await differences(ada, environment, canary) == []


@pytest.mark.parametrize("environ", [{"FLAGSTAFF_MAX_ENVIRONMENTS_PER_PROJECT": "2"}])
async def test_the_quota_of_environments_holds(ada: Caller, environment: Json) -> None:
    answer = await clone(ada, environment)
    assert (answer.status_code, "FLAGSTAFF_MAX_ENVIRONMENTS_PER_PROJECT" in answer.json()["detail"]) == (409, True)


async def test_an_environment_with_too_many_flags_and_rules_is_refused(
    ada: Caller, project: Json, environment: Json, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("flagstaff.copying.clones_service.CLONED_MAX", 3)
    await ada.create_rule(await ada.create_flag(environment, key="one"))
    archived = await ada.create_flag(environment, key="archived")
    await ada.create_rule(archived)
    await ada.post(f"{flag_path(archived)}/archive")
    two = await ada.create_flag(environment, key="two")
    created(await clone(ada, environment, key="first"))
    await ada.create_rule(two)

    answer = await clone(ada, environment, key="second")

    assert answer.status_code == 409
    assert answer.json()["detail"].startswith(
        "The environment production has 4 flags and rules that are not archived, and at most 3 can be copied at once."
    )
    assert len((await ada.get(f"{project_path(project)}/environments")).json()) == 3


@pytest.mark.both_databases
async def test_many_flags_are_copied_whole(ada: Caller, environment: Json) -> None:
    for number in range(120):
        await ada.create_rule(await ada.create_flag(environment, key=f"flag-{number}"))
    canary = created(await clone(ada, environment))
    assert len(await flags_of(ada, canary)) == 120
    assert await differences(ada, environment, canary) == []


@pytest.mark.both_databases
async def test_a_clone_with_a_key_is_made_once_and_a_refused_one_leaves_the_key_unused(
    flagstaff: Flagstaff, ada: Caller, project: Json, environment: Json
) -> None:
    await ada.create_rule(await ada.create_flag(environment))
    path = f"{project_path(project)}/environments"
    body = {"name": "Canary", "key": "staging", "copy_from": environment["id"]}
    key = {"idempotency-key": "once"}

    assert (await ada.post(path, json=body, headers=key)).status_code == 409
    first = await ada.post(path, json=body | {"key": "canary"}, headers=key)
    canary = created(first)
    again = await ada.post(path, json=body | {"key": "canary"}, headers=key)

    assert (again.status_code, again.headers["idempotency-replayed"], again.json()) == (201, "true", canary)
    assert await differences(ada, environment, canary) == []
    assert [each.action for each in await changes_in(flagstaff, canary)] == [
        "environment.created",
        "flag.created",
        "rule.created",
    ]
    async with flagstaff.database.query() as connection:
        hidden = tables.environments.c.project_id.is_(None)
        assert (await connection.execute(sa.select(tables.environments.c.id).where(hidden))).all() == []
