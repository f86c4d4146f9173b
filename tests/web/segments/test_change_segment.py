"""GET, PUT and DELETE …/segments/{segment_id}."""

import pytest

from tests.support.api import Caller, Json, field_errors, flag_path
from tests.web.conftest import ListChanges
from tests.web.flags.conftest import Elsewhere
from tests.web.segments.conftest import GOLD
from tests.web.segments.test_create_segment import INVALID


async def test_it_needs_a_token(client: Caller, segments_path: str, segment_path: str) -> None:
    for path in (segments_path, segment_path, f"{segment_path}/flags"):
        assert (await client.get(path)).status_code == 401
    assert (await client.put(segment_path, json={})).status_code == 401
    assert (await client.delete(segment_path)).status_code == 401


async def test_a_segment_is_found_in_its_place_only(ada: Caller, segment: Json, elsewhere: list[Elsewhere]) -> None:
    for why, caller, path in elsewhere:
        for answer in (
            await caller.get(path),
            await caller.get(f"{path}/flags"),
            await caller.put(path, json={"name": "Renamed"}),
            await caller.delete(path),
        ):
            assert answer.status_code == 404, why
    assert (await ada.get(f"/api/projects/{segment['project_id']}/segments/{segment['id']}")).json() == segment


async def test_one_invalid_field_changes_nothing_at_all(ada: Caller, segment: Json, segment_path: str) -> None:
    for given, field in INVALID:
        answer = await ada.put(segment_path, json={"description": "Changed", **given})
        assert list(field_errors(answer)) == [field]
    assert field_errors(await ada.put(segment_path, json={"key": "other"})) == {"key": "cannot be changed; it is beta"}
    assert (await ada.get(segment_path)).json() == segment


async def test_only_the_given_field_changes_and_each_change_is_later(
    ada: Caller, segment: Json, segment_path: str, list_changes: ListChanges
) -> None:
    expected = segment
    changes: tuple[Json, ...] = (
        {"name": "Renamed"},
        {"description": None},
        {"conditions": []},
        {"conditions": [GOLD, GOLD]},
    )
    for given in changes:
        answer = await ada.put(segment_path, json=given)
        assert answer.json()["updated_at"] > expected["updated_at"]
        before, expected = expected, {**expected, **given, "updated_at": answer.json()["updated_at"]}
        assert answer.json() == (await ada.get(segment_path)).json() == expected
        change = (await list_changes())[-1]
        assert (change["action"], change["before"], change["after"]) == ("segment.updated", before, expected)


async def test_the_result_of_a_get_can_be_put_and_changes_nothing(
    ada: Caller, segment: Json, segment_path: str, list_changes: ListChanges
) -> None:
    before = await list_changes()
    for body in (segment, {}):
        assert (await ada.put(segment_path, json=body)).json() == segment
    assert await list_changes() == before


@pytest.mark.both_databases
async def test_segments_are_listed_newest_first_whole_or_in_parts(
    ada: Caller, project: Json, segments_path: str
) -> None:
    made = [await ada.create_segment(project, key=key) for key in ("a", "b", "c")]
    assert (await ada.get(segments_path)).json() == made[::-1]
    first = await ada.get(f"{segments_path}?limit=2")
    assert first.json() == made[:0:-1]
    rest = await ada.get(segments_path + first.links["next"]["url"])
    assert (rest.json(), rest.links) == (made[:1], {})
    assert field_errors(await ada.get(f"{segments_path}?cursor=x")).keys() == {"cursor"}


async def test_a_segment_in_use_is_not_deleted_and_its_flags_are_named(
    ada: Caller, project: Json, environment: Json, segment: Json, segment_path: str
) -> None:
    staging = await ada.get_environment(project, "staging")
    flags = [await ada.create_flag(environment, key="one"), await ada.create_flag(staging, key="two")]
    rules = [await ada.create_rule(flag, rule_type="segment", rule_value="beta", enabled=False) for flag in flags]
    await ada.create_rule(flags[0], rule_type="segment", rule_value="beta")
    await ada.create_rule(flags[0], rule_type="user_id", rule_value="beta")
    await ada.post(f"{flag_path(flags[0])}/archive")
    assert (await ada.get(f"{segment_path}/flags")).json() == [
        {"environment_key": "production", "flag_key": "one", "archived": True},
        {"environment_key": "staging", "flag_key": "two", "archived": False},
    ]
    answer = await ada.delete(segment_path)
    assert answer.status_code == 409
    assert "these flags: one in production (archived), two in staging." in answer.json()["detail"]
    await ada.delete(flag_path(flags[0]))
    await ada.put(f"{flag_path(flags[1])}/rules/{rules[1]['id']}", json={"rule_type": "user_id", "rule_value": "ada"})
    assert (await ada.delete(segment_path)).status_code == 204


async def test_a_deleted_segment_is_gone_and_its_key_is_free_again(
    ada: Caller, project: Json, segment: Json, segment_path: str, list_changes: ListChanges
) -> None:
    answer = await ada.delete(segment_path)
    assert (answer.status_code, answer.content) == (204, b"")
    assert (await ada.get(segment_path)).status_code == 404
    change = (await list_changes())[-1]
    assert (change["action"], change["before"], change["after"]) == ("segment.deleted", segment, None)
    await ada.create_segment(project)


async def test_a_rule_names_a_segment_of_its_project(
    ada: Caller, project: Json, environment: Json, segment: Json
) -> None:
    await ada.create_segment(await ada.create_project(), key="elsewhere")
    flag = await ada.create_flag(environment)
    path = f"{flag_path(flag)}/rules"
    for value in ("elsewhere", "missing"):
        answer = await ada.post(path, json={"rule_type": "segment", "rule_value": value})
        assert field_errors(answer) == {"rule_value": "must be the key of a segment of this project"}
    assert list(field_errors(await ada.post(path, json={"rule_type": "segment", "rule_value": "No key"}))) == [
        "rule_value"
    ]
    rule = await ada.create_rule(flag, rule_type="segment", rule_value="beta")
    answer = await ada.put(f"{path}/{rule['id']}", json={"rule_value": "elsewhere"})
    assert list(field_errors(answer)) == ["rule_value"]
    assert (await ada.get(path)).json() == [rule]


async def test_a_change_to_a_segment_is_in_force_in_every_environment(
    client: Caller, ada: Caller, project: Json, segment: Json, segment_path: str
) -> None:
    for key in ("production", "staging"):
        flag = await ada.create_flag(await ada.get_environment(project, key), key="flag", fallthrough="off")
        await ada.create_rule(flag, rule_type="segment", rule_value="beta")
    for values in (["gold"], ["silver"], ["gold", "silver"], ["none"]):
        await ada.put(segment_path, json={"conditions": [{**GOLD, "values": values}]})
        for key in ("production", "staging"):
            for plan in ("gold", "silver"):
                context = {"custom_attributes": {"plan": plan}}
                answer = await client.evaluate(project["sdk_key"], key, context)
                found = answer.json()["flags"]["flag"]
                assert found["enabled"] is (plan in values)
                assert found["reason"] == (
                    "Matched segment targeting rule" if plan in values else "No targeting rule matched"
                )
