"""GET /api/projects/{project_id}."""

from uuid import uuid4

import pytest

from tests.support.api import NO_IDS, Caller, project_path


async def test_reading_requires_a_token(client: Caller, ada: Caller) -> None:
    assert (await client.get(project_path(await ada.create_project()))).status_code == 401


async def test_what_does_not_exist_is_not_found(ada: Caller) -> None:
    for project_id in (uuid4(), *NO_IDS):
        assert (await ada.get(f"/api/projects/{project_id}")).status_code == 404, project_id


async def test_a_foreign_project_gets_the_same_answer_as_a_missing_one(ada: Caller, eve: Caller) -> None:
    hidden = (await eve.get(project_path(await ada.create_project()))).json()
    missing = (await eve.get(f"/api/projects/{uuid4()}")).json()

    assert hidden["status"] == 404
    del hidden["request_id"], missing["request_id"]
    assert hidden == missing


@pytest.mark.both_databases
async def test_a_project_is_read_by_its_id_in_either_case(ada: Caller) -> None:
    project = await ada.create_project()

    for project_id in (project["id"], project["id"].upper()):
        answer = await ada.get(f"/api/projects/{project_id}")
        assert answer.status_code == 200
        assert answer.json() == project


async def test_environments_and_permissions_come_only_if_they_are_asked_for(ada: Caller) -> None:
    project = await ada.create_project()
    path = project_path(project)
    environments = (await ada.get(f"{path}/environments")).json()
    permissions = (await ada.get(f"{path}/permissions")).json()

    for query, more in (
        ("", {}),
        ("environments=false", {}),
        ("environments=true", {"environments": environments}),
        ("permissions=true", {"permissions": permissions}),
        ("environments=true&permissions=true", {"environments": environments, "permissions": permissions}),
    ):
        answer = await ada.get(f"{path}?{query}")
        assert answer.json() == project | more, query
        assert answer.headers["etag"].removeprefix("W/") == f'"{project["updated_at"]}"'


async def test_asking_for_more_with_anything_but_a_truth_value_is_refused(ada: Caller) -> None:
    path = project_path(await ada.create_project())

    for field in ("environments", "permissions"):
        answer = await ada.get(f"{path}?{field}=all")
        assert answer.status_code == 400
        assert [each["field"] for each in answer.json()["errors"]] == [field]
