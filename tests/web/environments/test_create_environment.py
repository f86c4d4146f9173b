"""POST /api/projects/{project_id}/environments."""

import asyncio
from typing import Any
from uuid import UUID, uuid4

import pytest

from tests.support.api import NO_IDS, Caller, Json, created, environment_path, field_errors, project_path
from tests.web.conftest import ListChanges

KEY_ADVICE = "must consist of lowercase letters a-z, digits, _ and -"

MALFORMED: list[tuple[Any, dict[str, str]]] = [
    ({}, {"name": "is required", "key": "is required"}),
    ({"name": "Canary"}, {"key": "is required"}),
    ({"key": "canary"}, {"name": "is required"}),
    ({"name": None, "key": 5}, {"name": "must be a string", "key": "must be a string"}),
    ({"name": " ", "key": "canary"}, {"name": "must not be empty"}),
    ({"name": "x" * 256, "key": "canary"}, {"name": "must be at most 255 characters long"}),
    ({"name": "Canary", "key": ""}, {"key": KEY_ADVICE}),
    ({"name": "Canary", "key": "Canary"}, {"key": KEY_ADVICE}),
    ({"name": "Canary", "key": " canary"}, {"key": KEY_ADVICE}),
    ({"name": "Canary", "key": "canary\n"}, {"key": KEY_ADVICE}),
    ({"name": "Canary", "key": "can.ary"}, {"key": KEY_ADVICE}),
    ({"name": "Canary", "key": "canáry"}, {"key": KEY_ADVICE}),
    ({"name": "Canary", "key": "канарейка"}, {"key": KEY_ADVICE}),
    ({"name": "Canary", "key": "١٢"}, {"key": KEY_ADVICE}),
    ({"name": "Canary", "key": "c\0"}, {"key": KEY_ADVICE}),
    ({"name": "Canary", "key": "c" * 129}, {"key": "must be at most 128 characters long"}),
    ({"name": "Canary", "key": "canary", "kay": "x"}, {"kay": "is not a known field; did you mean key?"}),
]


def path(project: Json) -> str:
    return f"{project_path(project)}/environments"


async def test_creating_requires_a_token(client: Caller, project: Json) -> None:
    assert (await client.post(path(project), json={"name": "Canary", "key": "canary"})).status_code == 401


async def test_a_missing_or_foreign_project_is_not_found(ada: Caller, eve: Caller, project: Json) -> None:
    body = {"name": "Canary", "key": "canary"}

    for project_id in (uuid4(), *NO_IDS):
        assert (await ada.post(f"/api/projects/{project_id}/environments", json=body)).status_code == 404
    assert (await eve.post(path(project), json=body)).status_code == 404
    assert len((await ada.get(path(project))).json()) == 2


async def test_invalid_fields_are_named_and_nothing_is_created(ada: Caller, project: Json) -> None:
    for body, errors in MALFORMED:
        assert field_errors(await ada.post(path(project), json=body)) == errors, body
    assert len((await ada.get(path(project))).json()) == 2


async def test_a_key_can_be_used_only_once_in_a_project(ada: Caller, project: Json) -> None:
    for key in ("production", "staging"):
        answer = await ada.post(path(project), json={"name": "Another", "key": key})
        assert answer.status_code == 409
        assert answer.json()["detail"] == f"The project already has an environment with the key {key}."

    other = await ada.create_project()
    await ada.create_environment(project)
    await ada.create_environment(other)


@pytest.mark.both_databases
async def test_one_of_many_concurrent_creations_of_a_key_succeeds(ada: Caller, project: Json) -> None:
    body = {"name": "Canary", "key": "canary"}

    answers = await asyncio.gather(*(ada.post(path(project), json=body) for _ in range(16)))

    assert sorted(answer.status_code for answer in answers) == [201] + 15 * [409]


async def test_an_environment_has_every_field_of_the_specification(ada: Caller, project: Json) -> None:
    answer = await ada.post(path(project), json={"name": " Canary ", "key": "canary"})

    environment = created(answer)
    assert environment == {
        "id": environment["id"],
        "project_id": project["id"],
        "name": "Canary",
        "key": "canary",
        "created_at": "2026-11-20T10:00:00.000000Z",
        "critical": False,
        "history_retention_days": None,
    }
    assert UUID(environment["id"]).version == 7
    assert (await ada.get(environment_path(environment))).json() == environment


async def test_a_key_may_begin_with_any_of_its_characters_and_be_128_long(ada: Caller, project: Json) -> None:
    for key in ("1", "-", "_", "7-eu_west", "c" * 128):
        assert (await ada.create_environment(project, key=key))["key"] == key


@pytest.mark.both_databases
async def test_it_can_be_evaluated_at_once(ada: Caller, project: Json) -> None:
    assert (await ada.evaluate(project["sdk_key"], "canary")).status_code == 404

    await ada.create_environment(project)

    assert (await ada.evaluate(project["sdk_key"], "canary")).json() == {"flags": {}}


async def test_a_creation_leaves_its_row(ada: Caller, project: Json, list_changes: ListChanges) -> None:
    environment = await ada.create_environment(project)

    change = (await list_changes())[-1]
    assert change["action"] == "environment.created"
    assert change["actor_email"] == "ada@example.com"
    assert (str(change["project_id"]), str(change["environment_id"])) == (project["id"], environment["id"])
    assert (change["before"], change["after"]) == (None, environment)
