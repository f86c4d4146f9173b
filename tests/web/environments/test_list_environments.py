"""GET /api/projects/{project_id}/environments."""

from uuid import uuid4

from tests.support.api import NO_IDS, Caller, project_path
from tests.support.clock import Clock


async def test_listing_requires_a_token(client: Caller, ada: Caller) -> None:
    project = await ada.create_project()

    assert (await client.get(f"{project_path(project)}/environments")).status_code == 401


async def test_a_missing_or_foreign_project_is_not_found(ada: Caller, eve: Caller) -> None:
    project = await ada.create_project()

    for project_id in (uuid4(), *NO_IDS):
        assert (await ada.get(f"/api/projects/{project_id}/environments")).status_code == 404
    assert (await eve.get(f"{project_path(project)}/environments")).status_code == 404


async def test_they_are_listed_oldest_first_without_their_projects(ada: Caller, clock: Clock) -> None:
    project = await ada.create_project()
    await ada.create_environment(await ada.create_project(), key="elsewhere")
    made = []
    for key in ("beta", "canary"):
        clock.advance(seconds=1)
        made.append(await ada.create_environment(project, key=key))

    answer = await ada.get(f"{project_path(project)}/environments")

    assert answer.status_code == 200
    listed = answer.json()
    assert [each["key"] for each in listed] == ["production", "staging", "beta", "canary"]
    assert [each["critical"] for each in listed] == [True, False, False, False]
    assert all(
        each.keys() == {"id", "name", "key", "created_at", "critical", "history_retention_days"} for each in listed
    )
    assert [{**each, "project_id": project["id"]} for each in listed[2:]] == made
