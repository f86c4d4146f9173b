"""GET and PUT /api/projects/{project_id}/environments/order."""

from typing import Any
from uuid import uuid4

import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.projects.environments_routes import ORDERED_MAX
from tests.support.api import NO_IDS, Caller, Json, environment_path, field_errors, project_path
from tests.support.clock import Clock
from tests.support.members import join
from tests.web.conftest import ListChanges

ABSENT = "01a21f4e-f430-731a-8000-000000010000"


@pytest.fixture
async def environments(ada: Caller, project: Json, clock: Clock) -> list[Json]:
    """The environments of Ada's project: production, staging and canary."""
    clock.advance(seconds=1)
    await ada.create_environment(project)
    return await list_environments(ada, project)


async def list_environments(caller: Caller, project: Json, **params: Any) -> list[Json]:
    listed: list[Json] = (await caller.get(f"{project_path(project)}/environments", params=params)).json()
    return listed


def order_path(project: Json) -> str:
    return f"{project_path(project)}/environments/order"


def order_of(environments: list[Json]) -> Json:
    return {"environment_ids": [each["id"] for each in environments]}


def keys(environments: list[Json]) -> list[str]:
    return [each["key"] for each in environments]


async def test_reading_and_changing_require_a_token(client: Caller, project: Json) -> None:
    assert (await client.get(order_path(project))).status_code == 401
    assert (await client.put(order_path(project), json={"environment_ids": [ABSENT]})).status_code == 401


async def test_a_missing_or_foreign_project_is_not_found(
    ada: Caller, eve: Caller, project: Json, environments: list[Json]
) -> None:
    for project_id in (uuid4(), *NO_IDS):
        path = f"/api/projects/{project_id}/environments/order"
        assert (await ada.get(path)).status_code == 404
        assert (await ada.put(path, json=order_of(environments))).status_code == 404
    assert (await eve.get(order_path(project))).status_code == 404
    assert (await eve.put(order_path(project), json=order_of(environments[::-1]))).status_code == 404
    assert await list_environments(ada, project) == environments


@pytest.mark.both_databases
async def test_a_viewer_may_see_the_order_but_not_change_it(
    flagstaff: Flagstaff, ada: Caller, eve: Caller, project: Json, environments: list[Json]
) -> None:
    await join(flagstaff, project, eve, "viewer", {"production": "admin"})

    assert (await eve.get(order_path(project))).json() == order_of(environments)
    assert (await eve.put(order_path(project), json=order_of(environments[::-1]))).status_code == 403
    assert await list_environments(ada, project) == environments


@pytest.mark.both_databases
async def test_an_order_without_each_environment_exactly_once_changes_nothing(
    ada: Caller, project: Json, environments: list[Json], list_changes: ListChanges
) -> None:
    ids = order_of(environments)["environment_ids"]
    elsewhere = (await ada.get_environment(await ada.create_project()))["id"]
    before = await list_changes()
    for given, error in (
        (None, "must be a list"),
        ([], "must have at least one environment"),
        ([*ids, ids[0]], "must not have an environment twice"),
        (ids[:-1], "must have all environments of the project; Canary is missing"),
        ([*ids, elsewhere], f"must have only environments of the project; {elsewhere} is not one"),
        ([ABSENT] * (ORDERED_MAX + 1), f"must have at most {ORDERED_MAX:,} items"),
    ):
        refused = await ada.put(order_path(project), json={"environment_ids": given})
        assert field_errors(refused) == {"environment_ids": error}, given
    refused = await ada.put(order_path(project), json={"environment_ids": [*ids[:-1], "canary"]})
    assert field_errors(refused) == {"environment_ids.2": "must be a UUID"}
    assert field_errors(await ada.put(order_path(project), json={})) == {"environment_ids": "is required"}
    assert await list_environments(ada, project) == environments
    assert await list_changes() == before


@pytest.mark.both_databases
async def test_the_same_order_again_writes_nothing(
    ada: Caller, project: Json, environments: list[Json], list_changes: ListChanges
) -> None:
    before = await list_changes()

    answer = await ada.put(order_path(project), json=order_of(environments))

    assert (answer.status_code, answer.json()) == (200, order_of(environments))
    assert await list_changes() == before


@pytest.mark.both_databases
async def test_of_two_who_order_at_once_the_second_learns_of_it(
    ada: Caller, project: Json, environments: list[Json]
) -> None:
    production, staging, canary = environments
    read = await ada.get(order_path(project))
    tag = {"if-match": read.headers["etag"]}
    first = await ada.put(order_path(project), json=order_of([canary, production, staging]), headers=tag)

    second = await ada.put(order_path(project), json=order_of([staging, production, canary]), headers=tag)

    assert (second.status_code, second.json()["current"]) == (412, first.json())
    assert second.headers["etag"] == first.headers["etag"]
    assert keys(await list_environments(ada, project)) == ["canary", "production", "staging"]


@pytest.mark.both_databases
async def test_all_lists_have_the_order_and_new_environments_come_last(
    flagstaff: Flagstaff, ada: Caller, eve: Caller, project: Json, environments: list[Json], clock: Clock
) -> None:
    production, staging, canary = environments
    await join(flagstaff, project, eve, "viewer", {"production": "editor", "canary": "editor"})

    ordered = await ada.put(order_path(project), json=order_of([canary, staging, production]))

    assert ordered.json() == order_of([canary, staging, production])
    assert await list_environments(eve, project) == [canary, staging, production]
    member = (await ada.get(f"{project_path(project)}/members/{eve.account['id']}")).json()
    assert list(member["environments"]) == ["canary", "production"]
    for key in ("beta", "alpha"):
        clock.advance(seconds=1)
        await ada.create_environment(project, key=key, name=key)
    assert keys(await list_environments(ada, project)) == ["canary", "staging", "production", "beta", "alpha"]


async def test_a_part_of_the_list_goes_on_where_the_one_before_ended(
    ada: Caller, project: Json, environments: list[Json]
) -> None:
    production, staging, canary = environments
    await ada.put(order_path(project), json=order_of([canary, production, staging]))
    found, url = [], f"{project_path(project)}/environments?limit=1"
    while url:
        answer = await ada.get(url)
        found += answer.json()
        url = str(answer.url.join(answer.links["next"]["url"])) if answer.links else ""
    assert keys(found) == ["canary", "production", "staging"]


@pytest.mark.both_databases
async def test_what_is_deleted_leaves_the_order_of_the_others(
    ada: Caller, project: Json, environments: list[Json]
) -> None:
    production, staging, canary = environments
    await ada.put(order_path(project), json=order_of([canary, production, staging]))

    assert (await ada.delete(environment_path({**production, "project_id": project["id"]}))).status_code == 204

    assert (await ada.get(order_path(project))).json() == order_of([canary, staging])


@pytest.mark.both_databases
async def test_a_new_order_leaves_one_row_with_the_keys_before_and_after(
    ada: Caller, project: Json, environments: list[Json], list_changes: ListChanges
) -> None:
    before = await list_changes()

    await ada.put(order_path(project), json=order_of(environments[::-1]))

    (change,) = (await list_changes())[len(before) :]
    assert (change["action"], change["environment_id"]) == ("environment.reordered", None)
    assert change["before"] == {"id": project["id"], "environments": ["production", "staging", "canary"]}
    assert change["after"] == {"id": project["id"], "environments": ["canary", "staging", "production"]}
    listed = (await ada.get(f"{project_path(project)}/changes", params={"action": "environment.reordered"})).json()
    assert len(listed["items"]) == 1
