"""PUT /api/projects/{project_id}."""

import asyncio
from typing import Any
from uuid import uuid4

import pytest

from tests.support.api import NO_IDS, Caller, Json, field_errors, project_path
from tests.support.clock import Clock
from tests.web.conftest import ListChanges

TOO_LONG = "must be at most 90: this server keeps no history for longer (FLAGSTAFF_HISTORY_RETENTION_DAYS)"
MALFORMED: list[tuple[Any, dict[str, str]]] = [
    ([], {"body": "must be a JSON object, sent with Content-Type: application/json"}),
    ({"name": None}, {"name": "must be a string"}),
    ({"name": ["Shop"]}, {"name": "must be a string"}),
    ({"name": "   "}, {"name": "must not be empty"}),
    ({"name": "x" * 256}, {"name": "must be at most 255 characters long"}),
    ({"name": "Market", "description": 5}, {"description": "must be a string"}),
    ({"name": "Market", "description": "\0"}, {"description": "must not contain the NUL character"}),
    ({"history_retention_days": 0}, {"history_retention_days": "must be at least 1"}),
    ({"history_retention_days": "7"}, {"history_retention_days": "must be a whole number"}),
    ({"history_retention_days": 91}, {"history_retention_days": TOO_LONG}),
    ({"name": "Market", "nmae": "x"}, {"nmae": "is not a known field; did you mean name?"}),
    (
        {"description": "New", "owner_id": "x"},
        {
            "owner_id": "is not a known field; known fields are name, description, shares_contents, "
            "history_retention_days"
        },
    ),
]


@pytest.fixture
async def project(ada: Caller) -> Json:
    """A project of Ada's with a description."""
    return await ada.create_project(name="Shop", description="All of it")


async def test_changing_requires_a_token(client: Caller, project: Json) -> None:
    assert (await client.put(project_path(project), json={"name": "Market"})).status_code == 401


async def test_a_missing_or_foreign_resource_is_not_found(ada: Caller, eve: Caller, project: Json) -> None:
    for project_id in (uuid4(), *NO_IDS):
        assert (await ada.put(f"/api/projects/{project_id}", json={"name": "Market"})).status_code == 404
    assert (await eve.put(project_path(project), json={"name": "Market"})).status_code == 404
    assert (await ada.get(project_path(project))).json() == project


async def test_one_invalid_field_changes_nothing_at_all(ada: Caller, project: Json, clock: Clock) -> None:
    clock.advance(seconds=1)

    for body, errors in MALFORMED:
        assert field_errors(await ada.put(project_path(project), json=body)) == errors, body
    assert (await ada.get(project_path(project))).json() == project


async def test_the_same_values_again_write_nothing(
    ada: Caller, project: Json, clock: Clock, list_changes: ListChanges
) -> None:
    before = await list_changes()
    clock.advance(seconds=1)

    for body in ({}, {"name": " Shop "}, {"name": "Shop", "description": "All of it"}, project):
        answer = await ada.put(project_path(project), json=body)
        assert (answer.status_code, answer.json()) == (200, project)
    assert await list_changes() == before


async def test_only_the_given_fields_change(ada: Caller, project: Json, clock: Clock) -> None:
    clock.advance(seconds=1)
    now = "2026-11-20T10:00:01.000000Z"

    renamed = await ada.put(project_path(project), json={"name": " Market "})
    assert renamed.status_code == 200
    assert renamed.json() == {**project, "name": "Market", "updated_at": now}

    clock.advance(seconds=-1)
    described = (await ada.put(project_path(project), json={"description": ""})).json()
    assert described == {**renamed.json(), "description": "", "updated_at": "2026-11-20T10:00:01.000001Z"}
    assert (await ada.get(project_path(project))).json() == described


async def test_null_clears_the_description(ada: Caller, project: Json) -> None:
    assert (await ada.put(project_path(project), json={"description": None})).json()["description"] is None


async def test_days_of_history_are_set_recorded_and_cleared(
    ada: Caller, project: Json, list_changes: ListChanges
) -> None:
    assert project["history_retention_days"] is None
    for days in (7, 90, None):
        changed = (await ada.put(project_path(project), json={"history_retention_days": days})).json()
        assert changed == {**project, "history_retention_days": days, "updated_at": changed["updated_at"]}
        assert (await ada.get(project_path(project))).json() == changed
        change = (await list_changes())[-1]
        assert (change["action"], change["after"]["history_retention_days"]) == ("project.updated", days)


async def test_read_only_fields_are_accepted_and_ignored(ada: Caller, project: Json) -> None:
    forged = {"id": str(uuid4()), "sdk_key": "sdk_mine", "created_at": None, "updated_at": 5}

    answer = await ada.put(project_path(project), json={**forged, "name": "Market"})

    changed = answer.json()
    assert changed == {**project, "name": "Market", "updated_at": changed["updated_at"]}


async def test_every_change_is_strictly_later_than_the_one_before(ada: Caller, project: Json) -> None:
    moments = [project["updated_at"]]
    for number in range(3):
        answer = await ada.put(project_path(project), json={"name": f"Name {number}"})
        moments.append(answer.json()["updated_at"])

    assert moments == sorted(set(moments)), "the clock stood still, and yet each is later"


@pytest.mark.both_databases
async def test_changes_of_different_fields_at_once_all_last(ada: Caller, project: Json) -> None:
    await asyncio.gather(
        *(ada.put(project_path(project), json={"name": f"Name {number}"}) for number in range(4)),
        ada.put(project_path(project), json={"description": "Changed meanwhile"}),
    )

    changed = (await ada.get(project_path(project))).json()
    assert changed["description"] == "Changed meanwhile"
    assert changed["name"].startswith("Name ")


async def test_a_change_leaves_its_row_with_before_and_after(
    ada: Caller, project: Json, list_changes: ListChanges
) -> None:
    changed = (await ada.put(project_path(project), json={"name": "Market", "description": None})).json()

    change = (await list_changes())[-1]
    assert change["action"] == "project.updated"
    assert str(change["resource_id"]) == str(change["project_id"]) == project["id"]
    assert (change["before"]["name"], change["after"]["name"]) == ("Shop", "Market")
    assert (change["before"]["description"], change["after"]["description"]) == ("All of it", None)
    assert change["after"]["updated_at"] == changed["updated_at"]
    assert project["sdk_key"] not in repr(change)
