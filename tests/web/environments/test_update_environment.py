"""PUT /api/projects/{project_id}/environments/{env_id}."""

from typing import Any
from uuid import uuid4

import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.database import tables
from tests.support.api import NO_IDS, Caller, Json, environment_path, field_errors, project_path
from tests.web.conftest import ListChanges

KEY_STAYS = "cannot be changed; it is canary"

TOO_LONG = "must be at most 90: this server keeps no history for longer (FLAGSTAFF_HISTORY_RETENTION_DAYS)"

MALFORMED: list[tuple[Any, dict[str, str]]] = [
    ([], {"body": "must be a JSON object, sent with Content-Type: application/json"}),
    ({"name": None}, {"name": "must be a string"}),
    ({"name": ""}, {"name": "must not be empty"}),
    ({"name": "x" * 256}, {"name": "must be at most 255 characters long"}),
    ({"name": "New", "key": None}, {"key": "must be a string"}),
    ({"name": "New", "key": "beta"}, {"key": KEY_STAYS}),
    ({"name": "New", "key": "Canary"}, {"key": KEY_STAYS}),
    ({"name": "New", "key": "canary "}, {"key": KEY_STAYS}),
    ({"name": "New", "key": ""}, {"key": KEY_STAYS}),
    ({"critical": None}, {"critical": "must be true or false"}),
    ({"critical": 1}, {"critical": "must be true or false"}),
    ({"history_retention_days": 0}, {"history_retention_days": "must be at least 1"}),
    ({"history_retention_days": "7"}, {"history_retention_days": "must be a whole number"}),
    ({"history_retention_days": 91}, {"history_retention_days": TOO_LONG}),
    ({"nmae": "New"}, {"nmae": "is not a known field; did you mean name?"}),
    (
        {"name": "New", "description": "x"},
        {"description": "is not a known field; known fields are name, key, critical, history_retention_days"},
    ),
]


@pytest.fixture
async def environment(ada: Caller) -> Json:
    """An environment of Ada's with the key `canary`."""
    return await ada.create_environment(await ada.create_project())


async def test_changing_requires_a_token(client: Caller, environment: Json) -> None:
    assert (await client.put(environment_path(environment), json={"name": "New"})).status_code == 401


async def test_a_missing_misplaced_or_foreign_resource_is_not_found(
    ada: Caller, eve: Caller, environment: Json
) -> None:
    other = await ada.create_project()

    for project_id in (uuid4(), other["id"], *NO_IDS):
        path = f"/api/projects/{project_id}/environments/{environment['id']}"
        assert (await ada.put(path, json={"name": "New"})).status_code == 404
    assert (await ada.put(f"{project_path(other)}/environments/{uuid4()}", json={"name": "New"})).status_code == 404
    assert (await eve.put(environment_path(environment), json={"name": "New"})).status_code == 404
    assert (await ada.get(environment_path(environment))).json() == environment


async def test_one_invalid_field_changes_nothing_at_all(ada: Caller, environment: Json) -> None:
    for body, errors in MALFORMED:
        assert field_errors(await ada.put(environment_path(environment), json=body)) == errors, body
    assert (await ada.get(environment_path(environment))).json() == environment


async def test_the_same_values_again_write_nothing(ada: Caller, environment: Json, list_changes: ListChanges) -> None:
    before = await list_changes()

    for body in ({}, {"name": "Canary"}, {"key": "canary"}, environment):
        answer = await ada.put(environment_path(environment), json=body)
        assert (answer.status_code, answer.json()) == (200, environment)
    assert await list_changes() == before


async def test_the_name_changes_and_nothing_else(ada: Caller, environment: Json) -> None:
    forged = {"id": str(uuid4()), "project_id": None, "created_at": 5, "key": "canary"}

    answer = await ada.put(environment_path(environment), json={**forged, "name": " Kanarienvogel "})

    assert answer.status_code == 200
    assert answer.json() == {**environment, "name": "Kanarienvogel"}
    assert (await ada.get(environment_path(environment))).json() == answer.json()


async def test_a_change_leaves_its_row_with_before_and_after(
    ada: Caller, environment: Json, list_changes: ListChanges
) -> None:
    changed = (await ada.put(environment_path(environment), json={"name": "New"})).json()

    change = (await list_changes())[-1]
    assert change["action"] == "environment.updated"
    assert (change["before"], change["after"]) == (environment, changed)


async def test_what_was_said_of_its_importance_goes_before_its_key(ada: Caller) -> None:
    project = await ada.create_project()
    live = await ada.create_environment(project, key="live")
    production = (await ada.get(f"{project_path(project)}/environments")).json()[0]
    assert (live["critical"], production["critical"]) == (False, True)
    for environment, critical in (({**live}, True), ({**production, "project_id": project["id"]}, False)):
        changed = (await ada.put(environment_path(environment), json={"critical": critical})).json()
        assert changed == {**environment, "critical": critical}
        assert (await ada.get(environment_path(environment))).json() == changed


async def test_days_of_history_are_set_recorded_and_cleared(
    ada: Caller, environment: Json, list_changes: ListChanges
) -> None:
    assert environment["history_retention_days"] is None
    for days in (7, 90, None):
        changed = (await ada.put(environment_path(environment), json={"history_retention_days": days})).json()
        assert changed == {**environment, "history_retention_days": days}
        assert (await ada.get(environment_path(environment))).json() == changed
        change = (await list_changes())[-1]
        assert (change["action"], change["after"]) == ("environment.updated", changed)


async def test_days_that_the_instance_no_longer_keeps_may_stay(
    ada: Caller, flagstaff: Flagstaff, environment: Json
) -> None:
    async with flagstaff.database.transaction() as transaction:
        await transaction.connection.execute(tables.environments.update().values(history_retention_days=400))
    stored = (await ada.get(environment_path(environment))).json()
    assert stored["history_retention_days"] == 400
    assert (await ada.put(environment_path(environment), json={**stored, "name": "New"})).status_code == 200
