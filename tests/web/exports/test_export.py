"""GET /api/projects/{project_id}/environments/{env_id}/export."""

import json
from typing import Any
from uuid import uuid4

import pytest

from flagstaff.changes.changes import OWN_FIELDS
from flagstaff.flags.flags import Flag, Rule
from flagstaff.flags.targeting.segments import Segment
from tests.support.api import Caller, Json, environment_path, field_errors
from tests.support.fields import field_names
from tests.support.local_sdk import Engine


@pytest.fixture
async def shop(ada: Caller, environment: Json) -> Json:
    """An environment with a flag for a segment, and the project's segment."""
    conditions = [{"attribute": "plan", "operator": "in", "values": ["gold"]}]
    await ada.create_segment({"id": environment["project_id"]}, conditions=conditions)
    variants = [{"key": "red", "weight": 1, "value": {"b": 1, "a": True}}]
    flag = await ada.create_flag(environment, fallthrough="off", variants=variants, tags=["pay"])
    await ada.create_rule(flag, rule_type="segment", rule_value="beta", name="Beta")
    return environment


async def test_only_members_of_the_project_export_it(client: Caller, eve: Caller, shop: Json) -> None:
    path = f"{environment_path(shop)}/export"
    assert (await client.get(path)).status_code == 401
    assert (await eve.get(path)).status_code == 404


async def test_what_does_not_exist_is_not_found(ada: Caller, shop: Json) -> None:
    for wrong in ({**shop, "id": uuid4()}, {**shop, "project_id": uuid4()}):
        assert (await ada.get(f"{environment_path(wrong)}/export")).status_code == 404


@pytest.mark.parametrize("query", ["format=yaml", "format=", "file=unleash"])
async def test_an_unknown_format_is_refused(ada: Caller, shop: Json, query: str) -> None:
    assert set(field_errors(await ada.get(f"{environment_path(shop)}/export?{query}"))) <= {"format", "file"}


async def test_the_file_for_sdks_is_what_they_evaluate(ada: Caller, shop: Json) -> None:
    response = await ada.get(f"{environment_path(shop)}/export")
    assert response.headers["content-type"] == "application/json"
    assert (await ada.get(f"{environment_path(shop)}/export?format=unleash")).content == response.content
    document = response.json()
    assert document["version"] == 2
    assert document["query"] == {"environment": "production"}
    engine = Engine(document["features"])
    assert engine.ask("new-checkout", {"properties": {"plan": "gold"}}) == (True, "red", {"b": 1, "a": True})
    assert engine.ask("new-checkout", {"properties": {"plan": "free"}}) == (False, None, None)


async def test_the_other_file_has_the_flags_as_they_were_made(ada: Caller, shop: Json) -> None:
    document: dict[str, Any] = (await ada.get(f"{environment_path(shop)}/export?format=flagstaff")).json()
    assert document["environment"] == {"key": "production", "name": "Production"}
    assert document["version"] == 1
    (flag,) = document["flags"]
    (segment,) = document["segments"]
    condition = {
        "attribute": "plan",
        "operator": "in",
        "values": ["gold"],
        "case_insensitive": False,
        "negate": False,
    }
    assert segment == {"key": "beta", "name": "Beta testers", "description": None, "conditions": [condition]}
    assert flag.pop("rules") == [
        {
            "rule_type": "segment",
            "rule_value": "beta",
            "priority": 0,
            "enabled": True,
            "name": "Beta",
            "conditions": [],
            "rollout_percentage": 100,
            "variant": None,
        }
    ]
    assert flag == {
        "key": "new-checkout",
        "name": "New checkout",
        "description": None,
        "enabled": True,
        "rollout_percentage": 0,
        "fallthrough": "off",
        "bucketing_key": None,
        "stickiness": "default",
        "tags": ["pay"],
        "owner": None,
        "keep": False,
        "variants": [{"key": "red", "weight": 1, "value": {"b": 1, "a": True}}],
        "prerequisites": [],
    }


async def test_an_empty_environment_is_exported(ada: Caller, environment: Json) -> None:
    for kind in ("unleash", "flagstaff"):
        document = json.loads((await ada.get(f"{environment_path(environment)}/export?format={kind}")).content)
        assert document.get("flags", document.get("features")) == []


async def test_the_other_file_has_each_field_of_a_flag_a_rule_and_a_segment(ada: Caller, shop: Json) -> None:
    document: dict[str, Any] = (await ada.get(f"{environment_path(shop)}/export?format=flagstaff")).json()
    (flag,), (segment,) = document["flags"], document["segments"]
    assert flag.keys() - {"rules"} == set(field_names(Flag)) - OWN_FIELDS - {"archived_at"}
    assert flag["rules"][0].keys() == set(field_names(Rule)) - OWN_FIELDS
    assert segment.keys() == set(field_names(Segment)) - OWN_FIELDS
