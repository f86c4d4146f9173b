"""POST /api/projects/{project_id}/regenerate-key."""

import asyncio
from uuid import uuid4

import pytest

from tests.support.api import NO_IDS, Caller, project_path
from tests.web.conftest import ListChanges


async def test_regenerating_requires_a_token(client: Caller, ada: Caller) -> None:
    project = await ada.create_project()

    assert (await client.post(f"{project_path(project)}/regenerate-key")).status_code == 401
    assert (await ada.evaluate(project["sdk_key"])).status_code == 200


async def test_a_missing_or_foreign_resource_is_not_found(ada: Caller, eve: Caller) -> None:
    project = await ada.create_project()

    for project_id in (uuid4(), *NO_IDS):
        assert (await ada.post(f"/api/projects/{project_id}/regenerate-key")).status_code == 404
    assert (await eve.post(f"{project_path(project)}/regenerate-key")).status_code == 404
    assert (await ada.evaluate(project["sdk_key"])).status_code == 200


@pytest.mark.both_databases
async def test_the_old_key_is_refused_at_once_and_the_new_one_serves_every_environment(ada: Caller) -> None:
    project = await ada.create_project()
    await ada.create_flag(await ada.get_environment(project, "staging"), key="dark-mode")
    assert (await ada.evaluate(project["sdk_key"])).status_code == 200

    answer = await ada.post(f"{project_path(project)}/regenerate-key")

    assert answer.status_code == 200
    renewed = answer.json()
    assert renewed == {**project, "sdk_key": renewed["sdk_key"], "updated_at": renewed["updated_at"]}
    assert renewed["sdk_key"] != project["sdk_key"]
    assert renewed["updated_at"] > project["updated_at"]
    assert (await ada.get(project_path(project))).json() == renewed
    assert (await ada.evaluate(project["sdk_key"])).status_code == 401
    assert (await ada.evaluate(renewed["sdk_key"])).json() == {"flags": {}}
    assert "dark-mode" in (await ada.evaluate(renewed["sdk_key"], "staging")).json()["flags"]


@pytest.mark.both_databases
async def test_of_keys_regenerated_at_once_only_the_last_one_works(ada: Caller) -> None:
    project = await ada.create_project()

    answers = await asyncio.gather(*(ada.post(f"{project_path(project)}/regenerate-key") for _ in range(5)))

    present = (await ada.get(project_path(project))).json()["sdk_key"]
    keys = {answer.json()["sdk_key"] for answer in answers}
    assert len(keys) == 5
    assert {key for key in keys if (await ada.evaluate(key)).status_code == 200} == {present}


async def test_a_new_key_leaves_its_row_without_any_key(ada: Caller, list_changes: ListChanges) -> None:
    project = await ada.create_project()
    renewed = (await ada.post(f"{project_path(project)}/regenerate-key")).json()

    changes = await list_changes()
    assert changes[-1]["action"] == "project.key_regenerated"
    assert (changes[-1]["before"]["updated_at"], changes[-1]["after"]["updated_at"]) == (
        project["updated_at"],
        renewed["updated_at"],
    )
    assert "sdk_" not in repr(changes)
