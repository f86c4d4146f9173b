"""The OpenAPI document: committed, served, and complete."""

import json
from collections.abc import Iterator

import pytest
from fastapi.routing import APIRoute
from typer.testing import CliRunner

from flagstaff.assembly.api import create_api
from flagstaff.cli.main import app
from tests.support.api import Caller, Json
from tests.support.description import COMMITTED, described

# Section 4 of the specification.
SPECIFIED = """
POST /auth/register 201
POST /auth/login 200
POST /auth/forgot-password 200
POST /auth/reset-password 200
GET /api/me 200
POST /api/projects 201
GET /api/projects 200
GET /api/projects/{project_id} 200
PUT /api/projects/{project_id} 200
POST /api/projects/{project_id}/regenerate-key 200
DELETE /api/projects/{project_id} 204
POST /api/projects/{project_id}/environments 201
GET /api/projects/{project_id}/environments 200
GET /api/projects/{project_id}/environments/{env_id} 200
PUT /api/projects/{project_id}/environments/{env_id} 200
DELETE /api/projects/{project_id}/environments/{env_id} 204
POST /api/projects/{project_id}/environments/{env_id}/flags 201
GET /api/projects/{project_id}/environments/{env_id}/flags 200
GET /api/projects/{project_id}/environments/{env_id}/flags/{flag_id} 200
PUT /api/projects/{project_id}/environments/{env_id}/flags/{flag_id} 200
POST /api/projects/{project_id}/environments/{env_id}/flags/{flag_id}/toggle 200
DELETE /api/projects/{project_id}/environments/{env_id}/flags/{flag_id} 204
POST /sdk/v1/evaluate 200
"""


def test_the_committed_document_is_what_the_command_writes() -> None:
    written = CliRunner().invoke(app, ["openapi"])

    assert written.exit_code == 0
    assert written.output == COMMITTED.read_text(), "run `make openapi`"


def test_every_endpoint_of_the_specification_is_in_it_with_its_success() -> None:
    paths = described()["paths"]

    for line in SPECIFIED.strip().split("\n"):
        method, path, status = line.split()
        successes = [each for each in paths[path][method.lower()]["responses"] if each < "300"]
        assert successes == [status], line


def test_every_route_is_in_it() -> None:
    document = described()

    for route in create_api().routes:
        if isinstance(route, APIRoute):
            for method in route.methods - {"HEAD"}:  # as GET, without the body
                assert route.include_in_schema
                assert method.lower() in document["paths"][route.path]


def test_every_operation_has_a_unique_name_and_a_description() -> None:
    operations = [operation for path in described()["paths"].values() for operation in path.values()]

    assert len({operation["operationId"] for operation in operations}) == len(operations)
    assert all(operation["summary"] and operation["description"] and operation["tags"] for operation in operations)


def test_every_reference_leads_somewhere() -> None:
    document = described()

    for target in json.dumps(document).split('"$ref": "#/')[1:]:
        place = document
        for step in target.partition('"')[0].split("/"):
            place = place[step]


async def test_it_is_served_to_anybody(client: Caller) -> None:
    answer = await client.get("/openapi.json")

    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.json() == described()


@pytest.mark.both_databases
async def test_nothing_under_api_answers_without_a_token_and_everything_else_does(client: Caller) -> None:
    for path, operations in described()["paths"].items():
        for method, operation in operations.items():
            answer = await client.request(method.upper(), path.replace("{", "").replace("}", ""), json={})
            needs_token = {"HTTPBearer": []} in operation.get("security", [])
            assert needs_token == (path.startswith("/api/") or path == "/auth/logout")
            assert (answer.status_code == 401) == (needs_token or path.startswith("/sdk/v1/")), path


def _properties(name: str) -> Iterator[tuple[str, Json]]:
    """The properties of all schemas that have this name, with the names of the schemas."""
    for schema, declared in described()["components"]["schemas"].items():
        for properties in (each.get("properties", {}) for each in (declared, *declared.get("oneOf", ()))):
            if name in properties:
                yield schema, properties[name]


def test_every_percentage_says_beside_it_that_0_means_everyone() -> None:
    said = {schema: field["description"] for schema, field in _properties("rollout_percentage")}
    of_rules = {schema for schema in said if "Rule" in schema}

    assert {"FlagOut", "NewFlag", "NewFlags", "FlagUpdate", "FlagDraft", "FlagInBriefOut", "Changes"} <= set(said)
    assert {"RuleOut", "NewRule", "RuleUpdate", "RuleDraft", "RuleEdit", "RuleTraceOut"} <= of_rules
    for schema, description in said.items():
        expected = "Unlike a flag's, it cannot be 0" if schema in of_rules else "**0 means everyone**"
        assert expected in description, schema
        assert "`enabled`" in description, schema
    for schema, field in _properties("fallthrough"):
        assert "`rollout_percentage`, of which 0 means everyone" in field["description"], schema
    assert "`rollout_percentage`, of which 0 means everyone" in dict(_properties("parts"))["CopyBody"]["description"]
