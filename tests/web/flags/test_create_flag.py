"""POST …/flags."""

import asyncio
from typing import Any
from uuid import UUID

import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from tests.support.api import Caller, Json, environment_path, field_errors, flag_path
from tests.support.changes import changes_in
from tests.web.flags.conftest import Elsewhere

VALID = {"name": "New checkout", "key": "new-checkout"}
KEY_RULE = "must start with a lowercase letter and consist of a-z, 0-9, _ and -"
ROLLOUT_RULE = "must be a whole number from 0 to 100, where 0 means everyone"
FIELDS = ["name", "key", "description", "enabled", "rollout_percentage"]
FIELDS += ["fallthrough", "bucketing_key", "stickiness", "tags", "variants", "prerequisites", "owner", "keep"]
FALLTHROUGH_RULE = "must be 'rollout' or 'off'"

INVALID: list[tuple[str, Any, str]] = [
    ("name", None, "must be a string"),
    ("name", 7, "must be a string"),
    ("name", "", "must not be empty"),
    ("name", " \t\n", "must not be empty"),
    ("name", "n" * 256, "must be at most 255 characters long"),
    ("name", "a\x00b", "must not contain the NUL character"),
    ("key", None, "must be a string"),
    ("key", "", KEY_RULE),
    ("key", "1st", KEY_RULE),
    ("key", "-dash", KEY_RULE),
    ("key", "_under", KEY_RULE),
    ("key", "Capital", KEY_RULE),
    ("key", "with space", KEY_RULE),
    ("key", "trailing\n", KEY_RULE),
    ("key", "größe", KEY_RULE),
    ("key", "dot.ted", KEY_RULE),
    ("key", "k" * 129, "must be at most 128 characters long"),
    ("description", 7, "must be a string"),
    ("description", "d" * 10_001, "must be at most 10,000 characters long"),
    ("description", "a\x00b", "must not contain the NUL character"),
    ("enabled", None, "must be true or false"),
    ("enabled", 1, "must be true or false"),
    ("enabled", "true", "must be true or false"),
    ("rollout_percentage", None, "must be a whole number"),
    ("rollout_percentage", -1, ROLLOUT_RULE),
    ("rollout_percentage", 101, ROLLOUT_RULE),
    ("rollout_percentage", 10**30, ROLLOUT_RULE),
    ("rollout_percentage", "50", "must be a whole number"),
    ("rollout_percentage", 50.5, "must be a whole number"),
    ("rollout_percentage", 50.0, "must be a whole number"),
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
    ("owner", 7, "must be a string"),
    ("owner", " ", "must not be empty"),
    ("owner", "o" * 256, "must be at most 255 characters long"),
    ("keep", None, "must be true or false"),
    ("keep", "yes", "must be true or false"),
    ("rollout_percentge", 50, "is not a known field; did you mean rollout_percentage?"),
    (
        "id",
        "x",
        f"is not a known field; known fields are {', '.join(FIELDS)}",
    ),
]

MALFORMED = [
    b"",
    b"{",
    b"null",
    b"[]",
    b'"flag"',
    b'{"name":"a","key":"a","rollout_percentage":1e400}',
    b'{"name":"a","key":"a","rollout_percentage":NaN}',
    b'{"name":"a","key":"a","rollout_percentage":' + b"9" * 10_000 + b"}",
    b'{"name":"\\ud800","key":"a"}',
    b'{"name":"\xff","key":"a"}',
    b'{"name":"a","key":"a","description":' + b"[" * 50_000 + b"]" * 50_000 + b"}",
]


async def test_it_needs_a_token(client: Caller, environment: Json) -> None:
    answer = await client.post(f"{environment_path(environment)}/flags", json=VALID)
    assert answer.status_code == 401


async def test_an_environment_that_is_not_there_or_not_yours_is_not_found(
    environments_elsewhere: list[Elsewhere],
) -> None:
    for why, caller, path in environments_elsewhere:
        answer = await caller.post(path, json=VALID)
        assert answer.status_code == 404, why


async def test_each_invalid_field_is_named_with_what_is_wrong_and_nothing_is_created(
    ada: Caller, environment: Json
) -> None:
    path = f"{environment_path(environment)}/flags"
    for field, value, message in INVALID:
        answer = await ada.post(path, json={**VALID, field: value})
        assert field_errors(answer) == {field: message}, (field, value)
    assert (await ada.get(path)).json() == []


INVALID_TAGS: list[tuple[Any, dict[str, str]]] = [
    (None, {"tags": "must be a list"}),
    ("checkout", {"tags": "must be a list"}),
    (["a", 7], {"tags.1": "must be a string"}),
    (["a", " ", None], {"tags.1": "must not be empty", "tags.2": "must be a string"}),
    (["t" * 51], {"tags.0": "must be at most 50 characters long"}),
    (["a", " a"], {"tags": "must have different items; 'a' occurs twice"}),
    ([str(number) for number in range(21)], {"tags": "must have at most 20 items"}),
]


async def test_an_invalid_tag_is_named_by_its_index_and_nothing_is_created(ada: Caller, environment: Json) -> None:
    path = f"{environment_path(environment)}/flags"
    for tags, expected in INVALID_TAGS:
        assert field_errors(await ada.post(path, json={**VALID, "tags": tags})) == expected, tags
    assert (await ada.get(path)).json() == []


async def test_tags_and_the_stickiness_are_trimmed(ada: Caller, environment: Json) -> None:
    flag = await ada.create_flag(environment, tags=[" b", "a\n"], stickiness=" company ")
    assert (flag["tags"], flag["stickiness"]) == (["b", "a"], "company")


async def test_all_invalid_fields_are_named_at_once(ada: Caller, environment: Json) -> None:
    answer = await ada.post(f"{environment_path(environment)}/flags", json={"enabled": 1, "rollout_percentage": 101})
    assert field_errors(answer) == {
        "name": "is required",
        "key": "is required",
        "enabled": "must be true or false",
        "rollout_percentage": ROLLOUT_RULE,
    }


async def test_a_malformed_body_is_refused_and_nothing_is_created(ada: Caller, environment: Json) -> None:
    path = f"{environment_path(environment)}/flags"
    for body in MALFORMED:
        answer = await ada.post(path, content=body, headers={"content-type": "application/json"})
        assert field_errors(answer), body[:80]
    assert (await ada.get(path)).json() == []


@pytest.mark.both_databases
async def test_a_key_that_the_environment_has_already_is_a_conflict(ada: Caller, environment: Json, flag: Json) -> None:
    answer = await ada.post(f"{environment_path(environment)}/flags", json={"name": "Another", "key": flag["key"]})
    assert answer.status_code == 409
    assert flag["key"] in answer.json()["detail"]
    assert (await ada.get(f"{environment_path(environment)}/flags")).json() == [flag]


async def test_the_least_that_is_needed_makes_a_flag_that_is_off(ada: Caller, environment: Json) -> None:
    answer = await ada.post(f"{environment_path(environment)}/flags", json=VALID)
    assert answer.status_code == 201
    flag = answer.json()
    assert UUID(flag.pop("id")).version == 7
    assert flag.pop("created_at") == flag.pop("updated_at") == "2026-11-20T10:00:00.000000Z"
    assert flag == {
        "project_id": environment["project_id"],
        "environment_id": environment["id"],
        "name": "New checkout",
        "key": "new-checkout",
        "description": None,
        "enabled": False,
        "rollout_percentage": 0,
        "fallthrough": "rollout",
        "bucketing_key": None,
        "stickiness": "default",
        "tags": [],
        "variants": [],
        "prerequisites": [],
        "archived_at": None,
        "owner": None,
        "keep": False,
    }


async def test_every_field_is_kept_as_it_was_given(ada: Caller, environment: Json) -> None:
    given = {
        "name": "Größe 😀",
        "key": "a0-_" * 32,
        "description": "d" * 10_000,
        "enabled": True,
        "rollout_percentage": 100,
        "fallthrough": "off",
        "bucketing_key": " Group.1 😀",
        "stickiness": "company id",
        "owner": "Team Größe",
        "keep": True,
        "tags": ["checkout", "Größe 😀", "t" * 50],
    }
    flag = await ada.create_flag(environment, **given)
    assert flag.items() >= given.items()
    assert (await ada.get(flag_path(flag))).json() == flag


async def test_a_name_is_trimmed_and_a_null_description_is_none(ada: Caller, environment: Json) -> None:
    flag = await ada.create_flag(environment, name="  " + "n" * 255 + "\n", description=None)
    assert (flag["name"], flag["description"]) == ("n" * 255, None)


async def test_the_same_key_may_stand_in_another_environment(ada: Caller, environment: Json, flag: Json) -> None:
    staging = await ada.get_environment({"id": environment["project_id"]}, "staging")
    assert (await ada.create_flag(staging, key=flag["key"]))["environment_id"] == staging["id"]


async def test_a_deleted_flags_key_is_free_again(ada: Caller, environment: Json, flag: Json) -> None:
    await ada.delete(flag_path(flag))
    assert (await ada.create_flag(environment, key=flag["key"]))["id"] != flag["id"]


async def test_a_creation_is_recorded_with_its_actor(flagstaff: Flagstaff, ada: Caller, environment: Json) -> None:
    flag = await ada.create_flag(environment)
    change = (await changes_in(flagstaff, environment))[-1]
    assert (change.action, change.actor.email) == ("flag.created", "ada@example.com")
    assert (change.before, change.after) == (None, flag)


@pytest.mark.both_databases
async def test_sixteen_creations_of_one_key_at_once_make_one_flag(
    flagstaff: Flagstaff, ada: Caller, environment: Json
) -> None:
    path = f"{environment_path(environment)}/flags"
    answers = await asyncio.gather(*(ada.post(path, json=VALID) for _ in range(16)))
    assert sorted(answer.status_code for answer in answers) == [201] + [409] * 15
    (made,) = [answer.json() for answer in answers if answer.status_code == 201]
    assert (await ada.get(path)).json() == [made]
    actions = [change.action for change in await changes_in(flagstaff, environment)]
    assert actions.count("flag.created") == 1
