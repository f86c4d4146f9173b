"""GET /api/projects/{project_id}/environments/{env_id}."""

from uuid import uuid4

from tests.support.api import NO_IDS, Caller, environment_path, project_path


async def test_reading_requires_a_token(client: Caller, ada: Caller) -> None:
    environment = await ada.create_environment(await ada.create_project())

    assert (await client.get(environment_path(environment))).status_code == 401


async def test_a_missing_misplaced_or_foreign_resource_is_not_found(ada: Caller, eve: Caller) -> None:
    project, other = await ada.create_project(), await ada.create_project()
    environment = await ada.create_environment(project)

    for env_id in (uuid4(), project["id"], *NO_IDS):
        assert (await ada.get(f"{project_path(project)}/environments/{env_id}")).status_code == 404
    for project_id in (uuid4(), other["id"], environment["id"], *NO_IDS):
        assert (await ada.get(f"/api/projects/{project_id}/environments/{environment['id']}")).status_code == 404
    assert (await eve.get(environment_path(environment))).status_code == 404
    own = await eve.create_project()
    assert (await eve.get(f"{project_path(own)}/environments/{environment['id']}")).status_code == 404


async def test_an_environment_is_read_whole(ada: Caller) -> None:
    environment = await ada.create_environment(await ada.create_project())

    answer = await ada.get(environment_path(environment))

    assert (answer.status_code, answer.json()) == (200, environment)
