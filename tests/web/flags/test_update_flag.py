"""PUT …/flags/{flag_id}."""

from typing import Any
from uuid import uuid4

from flagstaff.assembly.bootstrap import Flagstaff
from tests.support.api import Caller, Json, field_errors, flag_path
from tests.support.changes import changes_in
from tests.support.clock import Clock
from tests.web.flags.conftest import Elsewhere
from tests.web.flags.test_create_flag import FALLTHROUGH_RULE, INVALID_TAGS

ROLLOUT_RULE = "must be a whole number from 0 to 100, where 0 means everyone"

INVALID: list[tuple[str, Any, str]] = [
    ("name", None, "must be a string"),
    ("name", "  ", "must not be empty"),
    ("name", "n" * 256, "must be at most 255 characters long"),
    ("key", "another-key", "cannot be changed; it is new-checkout"),
    ("key", "New-Checkout", "cannot be changed; it is new-checkout"),
    ("key", "", "cannot be changed; it is new-checkout"),
    ("key", None, "must be a string"),
    ("description", ["text"], "must be a string"),
    ("description", "d" * 10_001, "must be at most 10,000 characters long"),
    ("enabled", None, "must be true or false"),
    ("enabled", 0, "must be true or false"),
    ("enabled", "false", "must be true or false"),
    ("rollout_percentage", None, "must be a whole number"),
    ("rollout_percentage", -1, ROLLOUT_RULE),
    ("rollout_percentage", 101, ROLLOUT_RULE),
    ("rollout_percentage", "50", "must be a whole number"),
    ("rollout_percentage", 50.5, "must be a whole number"),
    ("rollout_percentage", True, "must be a whole number"),
    ("fallthrough", None, FALLTHROUGH_RULE),
    ("fallthrough", "on", FALLTHROUGH_RULE),
    ("fallthrough", True, FALLTHROUGH_RULE),
    ("bucketing_key", 7, "must be a string"),
    ("bucketing_key", "", "must not be empty"),
    ("bucketing_key", "  ", "must not be blank"),
    ("bucketing_key", "k" * 256, "must be at most 255 characters long"),
    ("stickiness", None, "must be a string"),
    ("stickiness", " ", "must not be empty"),
    ("stickiness", "s" * 129, "must be at most 128 characters long"),
    ("stickiness", "current_time", "must be an attribute that identifies users; current_time does not"),
    ("enabld", True, "is not a known field; did you mean enabled?"),
]


async def test_it_needs_a_token(client: Caller, flag: Json) -> None:
    assert (await client.put(flag_path(flag), json={"enabled": False})).status_code == 401


async def test_a_flag_is_changed_nowhere_but_in_its_place(ada: Caller, flag: Json, elsewhere: list[Elsewhere]) -> None:
    for why, caller, path in elsewhere:
        assert (await caller.put(path, json={"enabled": False})).status_code == 404, why
    assert (await ada.get(flag_path(flag))).json() == flag


async def test_one_invalid_field_changes_nothing_at_all(flagstaff: Flagstaff, ada: Caller, flag: Json) -> None:
    valid = {"name": "Renamed", "description": "Changed", "enabled": False, "rollout_percentage": 75}
    for field, value, message in INVALID:
        answer = await ada.put(flag_path(flag), json={**valid, field: value})
        assert field_errors(answer) == {field: message}, (field, value)
    for tags, expected in INVALID_TAGS:
        assert field_errors(await ada.put(flag_path(flag), json={**valid, "tags": tags})) == expected, tags
    assert (await ada.get(flag_path(flag))).json() == flag
    actions = [change.action for change in await changes_in(flagstaff, {"id": flag["environment_id"]})]
    assert "flag.updated" not in actions


async def test_a_body_that_is_not_an_object_is_refused(ada: Caller, flag: Json) -> None:
    for body in (b"", b"null", b"[]", b'{"enabled":false', b'{"rollout_percentage":1e400}'):
        answer = await ada.put(flag_path(flag), content=body, headers={"content-type": "application/json"})
        assert field_errors(answer), body
    assert (await ada.get(flag_path(flag))).json() == flag


async def test_only_the_given_field_changes(ada: Caller, flag: Json) -> None:
    expected = flag
    changes: tuple[Json, ...] = (
        {"name": "Renamed"},
        {"description": "Three steps."},
        {"description": None},
        {"description": ""},
        {"enabled": False},
        {"rollout_percentage": 100},
        {"rollout_percentage": 0},
        {"fallthrough": "off"},
        {"fallthrough": "rollout"},
        {"bucketing_key": "Group 1"},
        {"bucketing_key": None},
        {"stickiness": "company"},
        {"stickiness": "default"},
        {"tags": ["b", "a"]},
        {"tags": ["a"]},
        {"tags": []},
    )
    for given in changes:
        answer = await ada.put(flag_path(flag), json=given)
        assert answer.status_code == 200
        assert answer.json()["updated_at"] > expected["updated_at"]
        expected = {**expected, **given, "updated_at": answer.json()["updated_at"]}
        assert answer.json() == expected
        assert (await ada.get(flag_path(flag))).json() == expected


async def test_the_result_of_a_get_can_be_put_and_changes_nothing(
    flagstaff: Flagstaff, ada: Caller, flag: Json, clock: Clock
) -> None:
    before = await changes_in(flagstaff, {"id": flag["environment_id"]})
    clock.advance(hours=1)
    for body in (flag, {}):
        assert (await ada.put(flag_path(flag), json=body)).json() == flag
    assert await changes_in(flagstaff, {"id": flag["environment_id"]}) == before


async def test_read_only_fields_are_ignored_whatever_they_hold(ada: Caller, flag: Json) -> None:
    given: Json = {"id": str(uuid4()), "project_id": None, "environment_id": 7, "created_at": "never", "updated_at": []}
    answer = await ada.put(flag_path(flag), json={**given, "name": "Renamed"})
    assert answer.json() == {**flag, "name": "Renamed", "updated_at": answer.json()["updated_at"]}


async def test_every_change_is_later_even_when_the_clock_goes_back(ada: Caller, flag: Json, clock: Clock) -> None:
    moments = [flag["updated_at"]]
    for number, hours in enumerate((0, 1, -5, 0)):
        clock.advance(hours=hours)
        moments.append((await ada.put(flag_path(flag), json={"name": f"Name {number}"})).json()["updated_at"])
    assert moments == sorted(set(moments))


async def test_a_change_is_recorded_with_its_actor(flagstaff: Flagstaff, ada: Caller, flag: Json) -> None:
    given = {"rollout_percentage": 50, "tags": ["a"], "fallthrough": "off", "bucketing_key": "k", "stickiness": "s"}
    updated = (await ada.put(flag_path(flag), json=given)).json()
    change = (await changes_in(flagstaff, {"id": flag["environment_id"]}))[-1]
    assert (change.action, change.actor.email) == ("flag.updated", "ada@example.com")
    assert (change.before, change.after) == (flag, updated)
