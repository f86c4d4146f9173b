"""POST /api/projects/{project_id}/changes/restore."""

from contextlib import AsyncExitStack
from typing import Any

import httpx
import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.copying.restores_routes import CHANGES_MAX
from tests.support.api import Caller, Json, field_errors, flag_path, project_path
from tests.support.members import join
from tests.support.tokens import issue


async def restore(caller: Caller, project: Json, *changes: object, **options: Any) -> httpx.Response:
    return await caller.post(f"{project_path(project)}/changes/restore", json={"changes": changes, **options})


async def newest(caller: Caller, project: Json, count: int) -> list[Json]:
    listed = await caller.get(f"{project_path(project)}/changes", params={"limit": count})
    items: list[Json] = listed.json()["items"]
    return items


@pytest.fixture
async def flags(ada: Caller, environment: Json) -> list[Json]:
    """Three flags that are on."""
    return [await ada.create_flag(environment, key=f"flag-{number}") for number in range(3)]


async def states(caller: Caller, flags: list[Json]) -> list[bool]:
    return [(await caller.get(flag_path(each))).json()["enabled"] for each in flags]


async def test_it_needs_a_token(client: Caller, project: Json) -> None:
    assert (await restore(client, project, "1")).status_code == 401


@pytest.mark.parametrize(
    ("changes", "field", "message"),
    [
        ([], "changes", "must have at least one change"),
        (["1"] * 2, "changes", "must not have a change twice"),
        ([str(number) for number in range(CHANGES_MAX + 1)], "changes", "must have at most 100 items"),
        ([1], "changes.0", "must be the id of a change"),
        (["x"], "changes.0", "must be the id of a change"),
        (["9" * 30], "changes.0", "must be the id of a change"),
        ("1", "changes", "must be a list"),
    ],
)
async def test_a_body_that_makes_no_sense_is_refused_by_name(
    ada: Caller, project: Json, changes: object, field: str, message: str
) -> None:
    answer = await ada.post(f"{project_path(project)}/changes/restore", json={"changes": changes})
    assert field_errors(answer) == {field: message}


async def test_a_change_that_is_not_there_or_not_yours_is_not_found(
    ada: Caller, eve: Caller, project: Json, flags: list[Json]
) -> None:
    for each in flags[:2]:
        await ada.post(f"{flag_path(each)}/toggle")
    ids = [each["id"] for each in await newest(ada, project, 2)]
    own = await eve.create_project()
    assert (await restore(eve, project, *ids)).status_code == 404
    assert (await restore(eve, own, *ids)).status_code == 404
    assert (await restore(ada, project, *ids, "123456789")).status_code == 404
    assert await states(ada, flags) == [False, False, True]


@pytest.mark.both_databases
async def test_it_needs_the_permission_for_each_change(
    flagstaff: Flagstaff, callers: AsyncExitStack, ada: Caller, eve: Caller, project: Json, flags: list[Json]
) -> None:
    await ada.post(f"{flag_path(flags[0])}/toggle")
    await ada.create_rule(flags[1])
    rule, toggle = await newest(ada, project, 2)
    await join(flagstaff, project, eve, "viewer")
    assert (await restore(eve, project, toggle["id"])).status_code == 403
    path = f"{project_path(project)}/tokens"
    token = await issue(flagstaff, callers, path, ada, "audit:read", "flags:toggle", "flags:write")
    answer = await restore(token, project, toggle["id"], rule["id"])
    assert (answer.status_code, answer.json()["permission"]) == (403, "rules:write")
    assert await states(ada, flags) == [False, True, True]


@pytest.mark.both_databases
async def test_all_are_put_back_together_and_each_is_a_change_of_its_own(
    ada: Caller, project: Json, flags: list[Json]
) -> None:
    staging = await ada.create_flag(await ada.get_environment(project, "staging"))
    segment = await ada.create_segment(project, name="Beta")
    await ada.put(f"{project_path(project)}/segments/{segment['id']}", json={"name": "Other"})
    await ada.put(flag_path(flags[0]), json={"name": "First"})
    await ada.put(flag_path(flags[0]), json={"name": "Second", "description": "Kept apart."})
    await ada.post(f"{flag_path(staging)}/toggle")
    await ada.delete(flag_path(flags[2]))
    made = await newest(ada, project, 5)
    answer = await restore(ada, project, *(each["id"] for each in reversed(made)))
    assert answer.status_code == 200, answer.text
    items = answer.json()["items"]
    assert [each["change_id"] for each in items] == [each["id"] for each in made]
    assert {each["refusal"] for each in items} == {None}
    trail = {each["id"]: each for each in await newest(ada, project, 5)}
    assert {trail[each["restored_by"]]["restores"] for each in items} == {each["id"] for each in made}
    now = (await ada.get(flag_path(flags[0]))).json()
    assert (now["name"], now["description"]) == (flags[0]["name"], None)
    assert await states(ada, [*flags, staging]) == [True] * 4
    assert (await ada.get(f"{project_path(project)}/segments/{segment['id']}")).json()["name"] == "Beta"


@pytest.mark.both_databases
async def test_one_that_cannot_be_put_back_leaves_all_as_they_are_and_is_named(
    ada: Caller, project: Json, flags: list[Json]
) -> None:
    for each in (flags[2], flags[0]):
        await ada.post(f"{flag_path(each)}/toggle")
    toggle, later, creation = await newest(ada, project, 3)
    answer = await restore(ada, project, toggle["id"], creation["id"])
    assert answer.status_code == 409
    assert answer.json()["detail"].startswith(f"Change {creation['id']}: This cannot be restored. The flag flag-2 has")
    assert f"flag.toggled by ada@example.com, change {later['id']}." in answer.json()["detail"]
    assert await states(ada, flags) == [False, True, False]
    assert (await newest(ada, project, 1))[0] == toggle


@pytest.mark.both_databases
async def test_a_dry_run_tells_of_each_and_changes_nothing(ada: Caller, project: Json, flags: list[Json]) -> None:
    for each in (flags[2], flags[0], flags[0]):
        await ada.post(f"{flag_path(each)}/toggle")
    *toggles, _, creation = await newest(ada, project, 4)
    answer = await restore(ada, project, *(each["id"] for each in (*toggles, creation)), dry_run=True)
    assert answer.status_code == 200, answer.text
    items = answer.json()["items"]
    fields = [[(each["present"], each["restored"]) for each in item["alterations"][0]["fields"]] for item in items[:2]]
    assert fields == [[(True, False)], [(False, True)]], "each after the one before it"
    assert items[2]["alterations"] == []
    assert "has been changed since it was created" in items[2]["refusal"]
    assert {each["restored_by"] for each in items} == {None}
    assert (await newest(ada, project, 1))[0] == toggles[0]


async def test_what_was_changed_again_is_refused_if_that_is_wanted(
    ada: Caller, project: Json, flags: list[Json]
) -> None:
    await ada.put(flag_path(flags[0]), json={"name": "First"})
    await ada.post(f"{flag_path(flags[1])}/toggle")
    toggle, renaming = await newest(ada, project, 2)
    await ada.put(flag_path(flags[0]), json={"name": "Second"})
    answer = await restore(ada, project, toggle["id"], renaming["id"], if_unchanged=True)
    assert answer.status_code == 409
    assert "It has been changed again since: name." in answer.json()["detail"]
    assert await states(ada, flags) == [True, False, True]


async def test_changes_that_are_too_long_together_are_refused_by_name(ada: Caller, project: Json) -> None:
    segment = await ada.create_segment(project, key="s", conditions=[_naming("0" * 900)])
    for letter in "abcdefghij":
        path = f"{project_path(project)}/segments/{segment['id']}"
        assert (await ada.put(path, json={"conditions": [_naming(letter * 900)]})).status_code == 200
    ids = [each["id"] for each in await newest(ada, project, 10)]
    for options in ({}, {"dry_run": True}):
        refused = field_errors(await restore(ada, project, *ids, **options))["changes"]
        assert refused.startswith("must not alter more than 500 flags, rules and segments together")
    assert (await restore(ada, project, *ids[:2])).status_code == 200


def _naming(letters: str) -> Json:
    return {"attribute": "user_id", "operator": "in", "values": [f"{n}{letters}" for n in range(500)], "negate": False}
