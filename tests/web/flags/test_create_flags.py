"""POST /api/projects/{project_id}/flags."""

from typing import Any
from uuid import uuid4

import httpx
import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from tests.support.api import Caller, Json, created, environment_path, field_errors, project_path
from tests.support.changes import changes_in
from tests.support.members import join

KEY = "new-checkout"


@pytest.fixture
async def staging(ada: Caller, project: Json) -> Json:
    """The other environment of Ada's project."""
    return await ada.get_environment(project, "staging")


async def create(caller: Caller, project: Json, *environments: Json, **body: Any) -> httpx.Response:
    ids = [each["id"] for each in environments]
    given = {"name": "New checkout", "key": KEY, "environments": ids, **body}
    return await caller.post(f"{project_path(project)}/flags", json=given)


async def keys_in(caller: Caller, environment: Json) -> list[str]:
    return [each["key"] for each in (await caller.get(f"{environment_path(environment)}/flags")).json()]


async def test_it_needs_a_token_and_a_project_of_the_caller(
    client: Caller, eve: Caller, project: Json, environment: Json
) -> None:
    assert (await create(client, project, environment)).status_code == 401
    assert (await create(eve, project, environment)).status_code == 404


async def test_invalid_fields_are_named(ada: Caller, eve: Caller, project: Json, environment: Json) -> None:
    unknown = "must be the id of an environment of this project"
    foreign = await eve.get_environment(await eve.create_project())
    rejections: list[tuple[Json, Json]] = [
        ({"environments": []}, {"environments": "must have at least one environment"}),
        ({"environments": [environment["id"]] * 2}, {"environments": "must not have an environment twice"}),
        ({"environments": ["production"]}, {"environments.0": "must be a UUID"}),
        ({"environments": [str(uuid4())] * 101}, {"environments": "must have at most 100 items"}),
        ({"environments": [environment["id"], str(uuid4())]}, {"environments.1": unknown}),
        ({"environments": [foreign["id"]]}, {"environments.0": unknown}),
        (
            {"rollout_percentage": 101},
            {"rollout_percentage": "must be a whole number from 0 to 100, where 0 means everyone"},
        ),
        (
            {"prerequisites": [{"flag_key": "base"}]},
            {"prerequisites.0.flag_key": "must be the key of a flag of this environment"},
        ),
    ]
    for body, errors in rejections:
        assert field_errors(await create(ada, project, environment, **body)) == errors, body
    assert await keys_in(ada, environment) == []


async def test_the_permission_is_needed_in_each_environment(
    flagstaff: Flagstaff, ada: Caller, eve: Caller, project: Json, environment: Json, staging: Json
) -> None:
    await join(flagstaff, project, eve, "viewer", {"staging": "editor"})
    answer = await create(eve, project, staging, environment)
    assert (answer.status_code, answer.json()["permission"]) == (403, "flags:write")
    assert await keys_in(ada, staging) == []
    assert (await create(eve, project, staging)).status_code == 201


@pytest.mark.both_databases
async def test_a_key_that_is_taken_in_one_environment_keeps_it_from_all(
    ada: Caller, project: Json, environment: Json, staging: Json
) -> None:
    await ada.create_flag(staging)
    answer = await create(ada, project, environment, staging)
    assert answer.status_code == 409
    assert answer.json()["detail"] == "In staging: The environment already has a flag with the key new-checkout."
    assert await keys_in(ada, environment) == []


async def test_each_environment_gets_a_flag_of_its_own(
    flagstaff: Flagstaff, ada: Caller, client: Caller, project: Json, environment: Json, staging: Json
) -> None:
    values = {"enabled": True, "rollout_percentage": 40, "tags": ["a"], "description": "d" * 10_000}
    flags: Any = created(await create(ada, project, environment, staging, **values))
    assert [each["environment_id"] for each in flags] == [environment["id"], staging["id"]]
    assert flags[0]["id"] != flags[1]["id"]
    for place, flag in zip((environment, staging), flags, strict=True):
        assert (await ada.get(f"{environment_path(place)}/flags/{flag['id']}")).json() == flag
        assert {name: flag[name] for name in values} == values
        assert (await changes_in(flagstaff, place))[-1].action == "flag.created"
        assert KEY in (await client.evaluate(project["sdk_key"], place["key"])).json()["flags"]


async def test_with_an_idempotency_key_it_happens_once(
    ada: Caller, project: Json, environment: Json, staging: Json
) -> None:
    body = {"name": "New checkout", "key": KEY, "environments": [environment["id"], staging["id"]]}
    answers = [
        await ada.post(f"{project_path(project)}/flags", json=body, headers={"idempotency-key": "once"})
        for _ in range(2)
    ]
    assert answers[0].json() == answers[1].json()
    assert answers[1].headers["idempotency-replayed"] == "true"
    assert answers[1].headers["flagstaff-revision"] == answers[0].headers["flagstaff-revision"]
