"""POST /api/projects."""

from typing import Any
from uuid import UUID

import pytest

from tests.support.api import Caller, created, field_errors, project_path
from tests.web.conftest import ListChanges

NOW = "2026-11-20T10:00:00.000000Z"

MALFORMED: list[tuple[Any, dict[str, str]]] = [
    ({}, {"name": "is required"}),
    (None, {"body": "is required"}),
    ([{"name": "Shop"}], {"body": "must be a JSON object, sent with Content-Type: application/json"}),
    ({"name": None}, {"name": "must be a string"}),
    ({"name": 5, "description": False}, {"name": "must be a string", "description": "must be a string"}),
    ({"name": ""}, {"name": "must not be empty"}),
    ({"name": " \n\t\u2003"}, {"name": "must not be empty"}),
    ({"name": "x" * 256}, {"name": "must be at most 255 characters long"}),
    ({"name": "Sh\0p"}, {"name": "must not contain the NUL character"}),
    ({"name": "Shop", "description": "x" * 10_001}, {"description": "must be at most 10,000 characters long"}),
    ({"name": "Shop", "descripton": "x"}, {"descripton": "is not a known field; did you mean description?"}),
    ({"name": "Shop", "id": "x"}, {"id": "is not a known field; known fields are name, description"}),
    ({"name": "Shop", "sdk_key": "sdk_mine"}, {"sdk_key": "is not a known field; known fields are name, description"}),
]


async def test_creating_requires_a_token(client: Caller, list_changes: ListChanges) -> None:
    assert (await client.post("/api/projects", json={"name": "Shop"})).status_code == 401
    assert await list_changes() == []


async def test_invalid_fields_are_named_and_nothing_is_created(ada: Caller) -> None:
    for body, errors in MALFORMED:
        answer = await ada.post("/api/projects", **({} if body is None else {"json": body}))
        assert field_errors(answer) == errors, body
    assert (await ada.get("/api/projects")).json() == []


async def test_a_project_has_every_field_of_the_specification(ada: Caller) -> None:
    answer = await ada.post("/api/projects", json={"name": "  Shop \n", "description": " All of it\n"})

    project = created(answer)
    assert project == {
        "id": project["id"],
        "name": "Shop",
        "description": " All of it\n",
        "sdk_key": project["sdk_key"],
        "shares_contents": False,
        "history_retention_days": None,
        "created_at": NOW,
        "updated_at": NOW,
    }
    assert UUID(project["id"]).version == 7
    assert answer.headers["content-type"] == "application/json"
    assert (await ada.get(project_path(project))).json() == project


async def test_a_description_is_null_when_absent_or_null(ada: Caller) -> None:
    for values in ({}, {"description": None}):
        assert (await ada.create_project(**values))["description"] is None
    assert (await ada.create_project(description=""))["description"] == ""


@pytest.mark.both_databases
async def test_the_longest_texts_and_any_unicode_are_kept(ada: Caller) -> None:
    for name, description in (("x" * 255, "x" * 10_000), ("🏳️‍🌈 Läden\u202e", "'; DROP TABLE projects; --\u2028{}%s")):
        project = await ada.create_project(name=name, description=description)
        listed = (await ada.get(project_path(project))).json()
        assert (listed["name"], listed["description"]) == (name, description)


async def test_each_project_has_its_own_key_with_random_url_safe_characters(ada: Caller) -> None:
    keys = {(await ada.create_project())["sdk_key"] for _ in range(3)}

    assert len(keys) == 3
    for key in keys:
        assert key.startswith("sdk_")
        assert len(key) >= 4 + 32
        assert key.replace("-", "").replace("_", "").isalnum()


async def test_a_project_begins_with_production_and_staging(ada: Caller) -> None:
    project = await ada.create_project()

    environments = (await ada.get(f"{project_path(project)}/environments")).json()
    named = {environment["key"]: environment["name"] for environment in environments}
    assert named == {"production": "Production", "staging": "Staging"}
    for key in named:
        assert (await ada.evaluate(project["sdk_key"], key)).json() == {"flags": {}}


async def test_names_need_not_be_unique(ada: Caller, eve: Caller) -> None:
    ids = {(await caller.create_project(name="Shop"))["id"] for caller in (ada, ada, eve)}

    assert len(ids) == 3


async def test_a_creation_leaves_its_rows_without_the_sdk_key(ada: Caller, list_changes: ListChanges) -> None:
    project = await ada.create_project(description="All of it")

    changes = (await list_changes())[1:]
    assert [change["action"] for change in changes] == ["project.created"] + 2 * ["environment.created"]
    for change in changes:
        assert (str(change["actor_id"]), change["actor_email"]) == (ada.account["id"], "ada@example.com")
        assert str(change["project_id"]) == project["id"]
        assert change["before"] is None
    without_key = {name: value for name, value in project.items() if name != "sdk_key"}
    besides = {"owner_id": ada.account["id"], "demands_second_factor": False}
    assert changes[0]["after"] == {**without_key, **besides}
    assert project["sdk_key"] not in repr(changes)
