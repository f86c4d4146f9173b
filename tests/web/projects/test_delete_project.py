"""DELETE /api/projects/{project_id}."""

from uuid import uuid4

import sqlalchemy as sa

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.database import tables
from flagstaff.projects.hidden_environments_service import HiddenEnvironments
from tests.support.api import NO_IDS, Caller, environment_path, flag_path, project_path
from tests.web.conftest import ListChanges


async def test_deleting_requires_a_token(client: Caller, ada: Caller) -> None:
    project = await ada.create_project()

    assert (await client.delete(project_path(project))).status_code == 401
    assert (await ada.get(project_path(project))).json() == project


async def test_a_missing_or_foreign_resource_is_not_found(ada: Caller, eve: Caller) -> None:
    project = await ada.create_project()

    for project_id in (uuid4(), *NO_IDS):
        assert (await ada.delete(f"/api/projects/{project_id}")).status_code == 404
    assert (await eve.delete(project_path(project))).status_code == 404
    assert (await ada.get(project_path(project))).json() == project


async def test_a_project_that_was_deleted_is_missing_for_every_account(ada: Caller, eve: Caller) -> None:
    path = project_path(await ada.create_project())
    assert (await ada.delete(path)).status_code == 204
    for caller in (ada, eve):
        answer = await caller.delete(path)
        assert (answer.status_code, answer.json()["detail"]) == (404, "There is no such project.")


async def test_it_is_gone_with_all_that_is_in_it_and_its_key_is_refused(ada: Caller, flagstaff: Flagstaff) -> None:
    project, kept = await ada.create_project(), await ada.create_flag()
    environment = await ada.get_environment(project)
    flag = await ada.create_flag(environment)
    rule = await ada.create_rule(flag)
    assert (await ada.evaluate(project["sdk_key"])).status_code == 200

    answer = await ada.delete(project_path(project))

    assert (answer.status_code, answer.content) == (204, b"")
    assert (await ada.evaluate(project["sdk_key"])).status_code == 401
    rule_path = f"{flag_path(flag)}/rules/{rule['id']}"
    for path in (project_path(project), environment_path(environment), flag_path(flag), rule_path):
        assert (await ada.get(path)).status_code == 404
        assert (await ada.delete(path)).status_code == 404
    await HiddenEnvironments(flagstaff.database).remove()
    async with flagstaff.database.read() as connection:
        for table, left in ((tables.projects, 1), (tables.environments, 2), (tables.flags, 1), (tables.rules, 0)):
            count = sa.select(sa.func.count()).select_from(table)
            assert (await connection.execute(count)).scalar_one() == left
    assert (await ada.get(flag_path(kept))).json() == kept


async def test_a_deletion_leaves_its_row_with_what_there_was(ada: Caller, list_changes: ListChanges) -> None:
    project = await ada.create_project()
    await ada.delete(project_path(project))

    change = (await list_changes())[-1]
    assert change["action"] == "project.deleted"
    assert (change["before"]["id"], change["before"]["name"]) == (project["id"], "Shop")
    assert change["after"] is None
    assert project["sdk_key"] not in repr(change)
