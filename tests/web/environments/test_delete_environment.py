"""DELETE /api/projects/{project_id}/environments/{env_id}."""

from uuid import uuid4

import pytest
import sqlalchemy as sa

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.database import tables
from flagstaff.projects.hidden_environments_service import HiddenEnvironments
from tests.support.api import NO_IDS, Caller, Json, environment_path, flag_path, project_path
from tests.web.conftest import ListChanges


async def test_deleting_requires_a_token(client: Caller, ada: Caller, environment: Json) -> None:
    assert (await client.delete(environment_path(environment))).status_code == 401
    assert (await ada.get(environment_path(environment))).status_code == 200


async def test_a_missing_misplaced_or_foreign_resource_is_not_found(
    ada: Caller, eve: Caller, project: Json, environment: Json
) -> None:
    other = await ada.create_project()

    for env_id in (uuid4(), *NO_IDS):
        assert (await ada.delete(f"{project_path(project)}/environments/{env_id}")).status_code == 404
    assert (await ada.delete(f"{project_path(other)}/environments/{environment['id']}")).status_code == 404
    assert (await eve.delete(environment_path(environment))).status_code == 404
    assert (await ada.get(environment_path(environment))).status_code == 200


@pytest.mark.both_databases
async def test_it_is_gone_with_all_that_is_in_it_and_no_longer_evaluated(
    ada: Caller, project: Json, environment: Json, flagstaff: Flagstaff
) -> None:
    flag = await ada.create_flag(environment)
    await ada.create_rule(flag)
    kept = await ada.create_flag(await ada.get_environment(project, "staging"))
    assert (await ada.evaluate(project["sdk_key"])).status_code == 200

    answer = await ada.delete(environment_path(environment))

    assert (answer.status_code, answer.content) == (204, b"")
    assert (await ada.evaluate(project["sdk_key"])).status_code == 404
    for path in (environment_path(environment), flag_path(flag), f"{environment_path(environment)}/flags"):
        assert (await ada.get(path)).status_code == 404
    await HiddenEnvironments(flagstaff.database).remove()
    async with flagstaff.database.read() as connection:
        for table, left in ((tables.environments, 1), (tables.flags, 1), (tables.rules, 0)):
            count = sa.select(sa.func.count()).select_from(table)
            assert (await connection.execute(count)).scalar_one() == left
    assert (await ada.get(flag_path(kept))).json() == kept
    assert "new-checkout" in (await ada.evaluate(project["sdk_key"], "staging")).json()["flags"]


async def test_a_deleted_key_can_be_used_again_and_begins_empty(ada: Caller, project: Json, environment: Json) -> None:
    await ada.create_flag(environment)
    await ada.delete(environment_path(environment))

    again = await ada.create_environment(project, name="Production", key="production")

    assert again["id"] != environment["id"]
    assert (await ada.evaluate(project["sdk_key"])).json() == {"flags": {}}


async def test_a_deletion_leaves_its_row_with_what_there_was(
    ada: Caller, environment: Json, list_changes: ListChanges
) -> None:
    await ada.delete(environment_path(environment))

    change = (await list_changes())[-1]
    assert change["action"] == "environment.deleted"
    assert (change["before"], change["after"]) == (environment, None)
