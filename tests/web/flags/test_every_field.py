"""Every field of a flag is in each list that names fields by hand: a new one fails here until all of them have it."""

from dataclasses import fields

import pytest

from flagstaff.changes.changes import OWN_FIELDS
from flagstaff.flags.flags import Flag
from flagstaff.releases.steps_schemas import Changes
from tests.support.api import Caller, Json, created, environment_path, flag_path, project_path

# Another value than the default for each field that people set.
VALUES: Json = {
    "name": "Every field",
    "description": "What it does",
    "enabled": True,
    "rollout_percentage": 25,
    "fallthrough": "off",
    "bucketing_key": "shop",
    "stickiness": "tenant",
    "tags": ["shop"],
    "variants": [{"key": "red", "weight": 1000, "value": "red"}],
    "prerequisites": [{"flag_key": "base"}],
    "owner": "payments",
    "keep": True,
}
BASE: Json = {"name": "Base", "key": "base"}


def values_of(flag: Json) -> Json:
    return {name: flag[name] for name in VALUES}


@pytest.fixture
async def flag(ada: Caller, environment: Json) -> Json:
    """A flag with these values in production, which has the flag that it needs."""
    flags = f"{environment_path(environment)}/flags"
    created(await ada.post(flags, json=BASE))
    return created(await ada.post(flags, json={**VALUES, "key": "every-field"}))


def test_each_field_that_people_set_has_a_value_here() -> None:
    assert VALUES.keys() == {each.name for each in fields(Flag)} - OWN_FIELDS - {"key", "archived_at"}


def test_a_step_of_a_release_can_change_each_field() -> None:
    assert Changes.model_fields.keys() - {"rules"} == VALUES.keys()


async def test_a_new_flag_an_update_and_a_copy_take_each_field(
    ada: Caller, project: Json, environment: Json, flag: Json
) -> None:
    assert values_of({**flag, "prerequisites": VALUES["prerequisites"]}) == VALUES
    plain = created(await ada.post(f"{environment_path(environment)}/flags", json={"name": "Plain", "key": "plain"}))
    assert [name for name in VALUES if plain[name] == VALUES[name]] == []
    updated = (await ada.put(flag_path(plain), json=VALUES)).json()
    assert values_of(updated) == values_of(flag)

    staging = await ada.get_environment(project, "staging")
    wanted = {"from": environment["id"], "to": staging["id"], "flag_keys": ["base", "every-field"]}
    (await ada.post(f"{project_path(project)}/copy", json=wanted)).raise_for_status()
    copied, _ = (await ada.get(f"{environment_path(staging)}/flags")).json()
    assert values_of(copied) == values_of(flag)


async def test_the_export_has_each_field(ada: Caller, environment: Json, flag: Json) -> None:
    query = {"format": "flagstaff"}
    exported = (await ada.get(f"{environment_path(environment)}/export", params=query)).json()["flags"]
    (found,) = (each for each in exported if each["key"] == "every-field")
    assert values_of(found) == values_of(flag)
