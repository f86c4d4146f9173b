"""POST …/segments."""

from typing import Any
from uuid import UUID

import pytest

from tests.support.api import Caller, Json, field_errors
from tests.web.conftest import ListChanges
from tests.web.flags.conftest import Elsewhere
from tests.web.segments.conftest import GOLD

VALID: dict[str, Any] = {"name": "Beta testers", "key": "beta", "conditions": []}

INVALID: list[tuple[dict[str, Any], str]] = [
    ({"name": " "}, "name"),
    ({"name": "n" * 256}, "name"),
    ({"key": "1st"}, "key"),
    ({"key": "k" * 129}, "key"),
    ({"description": 7}, "description"),
    ({"conditions": None}, "conditions"),
    ({"conditions": [GOLD] * 51}, "conditions"),
    ({"conditions": [GOLD, {**GOLD, "values": ["a", ""]}]}, "conditions.1.values.1"),
    ({"conditions": [{**GOLD, "operator": "gt"}]}, "conditions.0.values.0"),
    ({"conditions": [{**GOLD, "values": ["a"] * 10_001}]}, "conditions.0.values"),
    ({"conditions": [{**GOLD, "operator": "in", "values": []}]}, "conditions.0.values"),
    ({"conditions": [GOLD, {**GOLD, "operator": "not_in", "values": []}]}, "conditions.1.values"),
    ({"conditions": [{**GOLD, "attribute": " "}]}, "conditions.0.attribute"),
    ({"conditions": [{**GOLD, "operator": "is"}]}, "conditions.0.operator"),
    ({"conditions": [{**GOLD, "operator": "matches", "values": ["(a{1,1000}){1,1000}"]}]}, "conditions.0.values.0"),
    ({"conditons": []}, "conditons"),
]


async def test_it_needs_a_token(client: Caller, segments_path: str) -> None:
    assert (await client.post(segments_path, json=VALID)).status_code == 401


async def test_a_project_that_is_not_there_or_not_yours_is_not_found(projects_elsewhere: list[Elsewhere]) -> None:
    for why, caller, path in projects_elsewhere:
        assert (await caller.post(path, json=VALID)).status_code == 404, why


async def test_each_invalid_field_is_named_and_nothing_is_created(ada: Caller, segments_path: str) -> None:
    for given, field in INVALID:
        assert list(field_errors(await ada.post(segments_path, json={**VALID, **given}))) == [field]
    missing = dict.fromkeys(("name", "key", "conditions"), "is required")
    assert field_errors(await ada.post(segments_path, json={})) == missing
    assert (await ada.get(segments_path)).json() == []


@pytest.mark.both_databases
async def test_a_key_that_the_project_has_already_is_a_conflict(ada: Caller, segment: Json, segments_path: str) -> None:
    answer = await ada.post(segments_path, json={**VALID, "name": "Another", "key": segment["key"]})
    assert answer.status_code == 409
    assert segment["key"] in answer.json()["detail"]
    assert (await ada.get(segments_path)).json() == [segment]
    await ada.create_segment(await ada.create_project(), key=segment["key"])


async def test_the_least_that_is_needed_makes_a_segment_of_everyone(
    ada: Caller, project: Json, segments_path: str
) -> None:
    answer = await ada.post(segments_path, json=VALID)
    assert answer.status_code == 201
    segment = answer.json()
    assert UUID(segment.pop("id")).version == 7
    assert segment.pop("created_at") == segment.pop("updated_at") == "2026-11-20T10:00:00.000000Z"
    assert segment == {**VALID, "project_id": project["id"], "description": None, "conditions": []}


async def test_a_segment_may_have_ten_thousand_values(ada: Caller, segments_path: str) -> None:
    values = [f"{number:036}" for number in range(10_000)]
    segment = (await ada.post(segments_path, json={**VALID, "conditions": [{**GOLD, "values": values}]})).json()
    assert segment["conditions"][0]["values"] == values
    assert (await ada.get(f"{segments_path}/{segment['id']}")).json() == segment


async def test_a_creation_is_recorded_and_a_repeated_request_is_carried_out_once(
    ada: Caller, project: Json, segments_path: str, list_changes: ListChanges
) -> None:
    headers = {"idempotency-key": "once"}
    first, second = [await ada.post(segments_path, json=VALID, headers=headers) for _ in range(2)]
    assert (first.json(), second.headers["idempotency-replayed"]) == (second.json(), "true")
    change = (await list_changes())[-1]
    assert (change["action"], change["before"], change["after"]) == ("segment.created", None, first.json())
    assert (str(change["project_id"]), change["environment_id"]) == (project["id"], None)
    listed = (await ada.get(f"/api/projects/{project['id']}/changes?action=segment.created")).json()["items"]
    assert [item["after"]["key"] for item in listed] == ["beta"]
