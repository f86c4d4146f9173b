"""The OpenAPI document: committed, served, and complete."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
from fastapi.routing import APIRoute
from typer.testing import CliRunner

from flagstaff.assembly.api import create_api
from flagstaff.cli.main import app
from flagstaff.flags.flags import RuleType
from flagstaff.hooks.webhooks import INSTANCE_PATTERNS, PROJECT_PATTERNS
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
            for method in (route.methods or set()) - {"HEAD"}:  # as GET, without the body
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


def test_every_operation_that_needs_a_token_has_the_refusals_that_a_token_can_get() -> None:
    operations = [operation for path in described()["paths"].values() for operation in path.values()]

    secured = [each for each in operations if {"HTTPBearer": []} in each.get("security", [])]
    assert [
        each["operationId"] for each in secured if not {"400", "401", "403", "429"} <= each["responses"].keys()
    ] == []


def _objects(value: Any) -> Iterator[Json]:
    """All objects in a document."""
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from _objects(each)


def _bodies() -> Iterator[tuple[str, Json]]:
    """The name of each operation that has a body, and the body as it is described."""
    for operations in described()["paths"].values():
        for operation in operations.values():
            if "requestBody" in operation:
                yield operation["operationId"], operation["requestBody"]


def test_every_bound_is_a_keyword_of_json_schema() -> None:
    of_other_libraries = {"ge", "gt", "le", "lt", "min_length", "max_length", "multiple_of"}
    assert [each for each in _objects(described()) if of_other_libraries & set(each)] == []
    (tolerates,) = [field for _, field in _properties("tolerates") if "minimum" in field]
    assert (tolerates["minimum"], tolerates["maximum"]) == (0, 10)


def test_a_bound_of_a_value_that_may_be_null_stands_with_the_value() -> None:
    of_all = {"anyOf", "default", "description", "examples"}
    assert [
        each for each in _objects(described()) if isinstance(each.get("anyOf"), list) and each.keys() - of_all
    ] == []


def test_no_password_is_described_as_one_whose_value_clients_hide_from_the_server() -> None:
    assert [each for each in _objects(described()) if each.get("format") == "password"] == []


def test_what_is_required_has_no_default() -> None:
    schemas = [each for each in _objects(described()) if isinstance(each.get("required"), list)]
    assert [
        name for each in schemas for name in each["required"] if "default" in each.get("properties", {}).get(name, {})
    ] == []


def test_no_schema_has_the_name_of_a_module() -> None:
    assert [name for name in described()["components"]["schemas"] if not re.fullmatch("([A-Z][a-z]+)+", name)] == []


def test_no_closed_set_of_values_is_described_twice() -> None:
    sets = Counter(
        tuple(map(str, each["enum"])) for each in _objects(described()) if isinstance(each.get("enum"), list)
    )
    assert [values for values, times in sets.items() if times > 1] == []


def test_the_events_that_a_webhook_can_want_are_listed() -> None:
    schemas = described()["components"]["schemas"]
    patterns = {"EventPattern": PROJECT_PATTERNS, "InstanceEventPattern": INSTANCE_PATTERNS}
    assert {name: tuple(schemas[name]["enum"]) for name in patterns} == patterns
    of_project, of_instance = (
        {"$ref": f"#/components/schemas/{name}"} for name in ("EventPattern", "InstanceEventPattern")
    )
    wanted = {schema: field.get("items") for schema, field in _properties("events")}
    assert {name for name, items in wanted.items() if items == of_project} == {
        *("NewWebhook", "WebhookFilter", "WebhookUpdate")
    }
    assert {name for name, items in wanted.items() if items == of_instance} == {
        *("NewInstanceWebhook", "InstanceWebhookFilter", "InstanceWebhookUpdate")
    }


def test_a_new_rule_is_one_of_five_told_apart_by_their_type() -> None:
    schemas = described()["components"]["schemas"]
    rule = schemas["NewRule"]
    assert rule["discriminator"]["propertyName"] == "rule_type"
    mapping = {kind: schemas[target.rpartition("/")[2]] for kind, target in rule["discriminator"]["mapping"].items()}
    assert set(mapping) == {*RuleType}
    assert {kind for kind, case in mapping.items() if "rule_value" in case["required"]} == {*RuleType} - {"attributes"}
    assert {kind for kind, case in mapping.items() if "conditions" in case["required"]} == {"attributes"}
    assert "rule_value" not in mapping["attributes"]["properties"]
    assert "rule_value" not in schemas["RuleDraft"]["required"]


def test_a_step_has_a_time_or_an_interval_and_never_both() -> None:
    described_step = {"$ref": "#/components/schemas/StepBody", "components": described()["components"]}
    validator = jsonschema_rs.validator_for(described_step)
    at, after = {"at": "2026-11-20T10:00:00Z"}, {"after_seconds": 60}
    changes = {"changes": {"enabled": True}}
    assert validator.is_valid({**at, **changes})
    assert validator.is_valid({**after, **changes})
    assert not validator.is_valid(changes)
    assert not validator.is_valid({**at, **after, **changes})


def test_only_options_may_be_left_out_as_a_whole() -> None:
    assert {name for name, body in _bodies() if not body["required"]} == {"restore_change"}
    schemas = [content["schema"] for _, body in _bodies() for content in body["content"].values()]
    assert all(set(schema) == {"$ref"} for schema in schemas)


def test_every_body_has_an_example_that_it_allows() -> None:
    for name, body in _bodies():
        content = body["content"]["application/json"]
        shown = (
            [each["value"] for each in content["examples"].values()] if "examples" in content else [content["example"]]
        )
        validator = jsonschema_rs.validator_for({**content["schema"], "components": described()["components"]})
        for example in shown:
            assert list(validator.iter_errors(example)) == [], name


def test_it_names_the_server_that_serves_it() -> None:
    assert [each["url"] for each in described()["servers"]] == ["/", "http://127.0.0.1:8000"]


async def test_it_is_served_to_anybody(client: Caller) -> None:
    answer = await client.get("/openapi.json")

    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.json() == described()


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
        if name in declared.get("properties", {}):
            yield schema, declared["properties"][name]


def test_every_percentage_says_beside_it_that_0_means_everyone() -> None:
    said = {schema: field["description"] for schema, field in _properties("rollout_percentage")}
    of_rules = {schema for schema in said if "Rule" in schema}

    assert {"FlagOut", "NewFlag", "NewFlags", "FlagUpdate", "FlagDraft", "FlagInBriefOut", "Changes"} <= set(said)
    assert {"RuleOut", "NewUserIdRule", "RuleUpdate", "RuleDraft", "RuleChange", "RuleTraceOut"} <= of_rules
    for schema, description in said.items():
        expected = "Unlike a flag's, it cannot be 0" if schema in of_rules else "**0 means everyone**"
        assert expected in description, schema
        assert "`enabled`" in description, schema
    for schema, field in _properties("fallthrough"):
        assert "`rollout_percentage`, of which 0 means everyone" in field["description"], schema
    assert "`rollout_percentage`, of which 0 means everyone" in dict(_properties("parts"))["CopyBody"]["description"]
