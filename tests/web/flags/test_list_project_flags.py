"""GET /api/projects/{project_id}/flags."""

from typing import Any
from uuid import UUID, uuid4

import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from tests.support.api import NO_IDS, Caller, Json, environment_path, field_errors, flag_path, project_path
from tests.support.builders import make_environment, make_flag, store_all

BLUE = {"key": "blue", "weight": 1000, "value": {"colour": "#00f"}}
GREEN = {**BLUE, "key": "green"}


def path(project: Json) -> str:
    return f"{project_path(project)}/flags"


@pytest.fixture
async def staging(ada: Caller, project: Json) -> Json:
    return await ada.get_environment(project, "staging")


@pytest.fixture
async def pair(ada: Caller, environment: Json, staging: Json) -> list[Json]:
    """The same flag in both environments, with two rules each."""
    pair = []
    for each in (environment, staging):
        await ada.create_flag(each, key="needed", name="Needed")
        flag = await ada.create_flag(each, rollout_percentage=25, variants=[BLUE])
        for value, priority in (("ada", 2), ("grace", 1)):
            await ada.create_rule(flag, rule_value=value, priority=priority)
        pair.append(flag)
    return pair


async def keys(caller: Caller, project: Json, **parameters: Any) -> list[str]:
    answer = await caller.get(path(project), params=parameters)
    assert answer.status_code == 200, answer.text
    return [each["key"] for each in answer.json()]


async def differences(caller: Caller, project: Json, key: str = "new-checkout") -> list[str]:
    (found,) = (await caller.get(path(project), params={"key": key})).json()
    differs: list[str] = found["differs"]
    assert (key in await keys(caller, project, differs="true")) is bool(differs)
    return differs


async def test_it_needs_a_token(client: Caller, project: Json) -> None:
    assert (await client.get(path(project))).status_code == 401


async def test_a_missing_or_foreign_project_is_not_found(ada: Caller, eve: Caller, project: Json) -> None:
    for project_id in (uuid4(), *NO_IDS):
        assert (await ada.get(f"/api/projects/{project_id}/flags")).status_code == 404
    for query in ("", "?differs=true", "?key=new-checkout", "?q=new"):
        assert (await eve.get(path(project) + query)).status_code == 404


async def test_an_invalid_filter_is_refused_by_name(ada: Caller, project: Json) -> None:
    for query, field in (
        ("q=%00", "q"),
        (f"q={'x' * 256}", "q"),
        ("key=", "key"),
        ("key=New", "key"),
        ("key=%00", "key"),
        ("differs=maybe", "differs"),
        ("differ=true", "differ"),
        ("cursor=WyJhXHUwMDAwIl0", "cursor"),  # a NUL after the letter
        ("cursor=W10", "cursor"),
    ):
        assert list(field_errors(await ada.get(f"{path(project)}?{query}"))) == [field], query


@pytest.mark.both_databases
async def test_a_project_without_flags_or_environments_is_an_empty_array(ada: Caller, project: Json) -> None:
    assert (await ada.get(path(project))).json() == []
    for each in (await ada.get(f"{project_path(project)}/environments")).json():
        await ada.delete(environment_path({**each, "project_id": project["id"]}))
    for query in ("", "?differs=true", "?key=new-checkout"):
        assert (await ada.get(path(project) + query)).json() == []


async def test_flags_come_by_key_with_what_their_audience_depends_on(
    ada: Caller, project: Json, environment: Json, staging: Json
) -> None:
    flag = await ada.create_flag(environment, rollout_percentage=25, variants=[BLUE])
    needed = await ada.create_flag(staging, key="a-needed", enabled=False)
    there = await ada.create_flag(
        staging, name="Checkout", fallthrough="off", prerequisites=[{"flag_key": needed["key"]}]
    )
    await ada.create_rule(flag)
    await ada.create_rule(flag, enabled=False)
    others = await ada.create_project()
    await ada.create_flag(await ada.get_environment(others), key="elsewhere")

    first, second = (await ada.get(path(project))).json()

    assert (first["key"], first["differs"], len(first["flags"])) == ("a-needed", ["environments"], 1)
    assert first["flags"][0]["enabled"] is False
    assert second == {
        "key": "new-checkout",
        "differs": ["rules", "rollout", "variants", "prerequisites"],
        "flags": [
            {
                "id": flag["id"],
                "environment_id": environment["id"],
                "name": "New checkout",
                "enabled": True,
                "archived_at": None,
                "updated_at": flag["updated_at"],
                "rollout_percentage": 25,
                "fallthrough": "rollout",
                "rules": 1,
                "variants": 1,
                "prerequisites": 0,
            },
            {
                "id": there["id"],
                "environment_id": staging["id"],
                "name": "Checkout",
                "enabled": True,
                "archived_at": None,
                "updated_at": there["updated_at"],
                "rollout_percentage": 0,
                "fallthrough": "off",
                "rules": 0,
                "variants": 0,
                "prerequisites": 1,
            },
        ],
    }


async def test_flags_with_the_same_settings_do_not_differ(ada: Caller, project: Json, pair: list[Json]) -> None:
    assert await differences(ada, project) == []
    await ada.put(flag_path(pair[0]), json={"name": "Checkout", "description": "One page", "tags": ["q4"]})
    for rule in (await ada.get(f"{flag_path(pair[0])}/rules")).json():
        changed = {"priority": rule["priority"] * 10, "name": "A name"}
        await ada.put(f"{flag_path(pair[0])}/rules/{rule['id']}", json=changed)
    assert await differences(ada, project) == []


@pytest.mark.parametrize(
    ("values", "aspect"),
    [
        ({"enabled": False}, "state"),
        ({"rollout_percentage": 0}, "rollout"),
        ({"fallthrough": "off"}, "rollout"),
        ({"bucketing_key": "shared"}, "rollout"),
        ({"stickiness": "company"}, "rollout"),
        ({"variants": []}, "variants"),
        ({"variants": [GREEN]}, "variants"),
        ({"prerequisites": [{"flag_key": "needed"}]}, "prerequisites"),
    ],
)
async def test_a_field_that_decides_evaluations_makes_them_differ(
    ada: Caller, project: Json, pair: list[Json], values: Json, aspect: str
) -> None:
    assert (await ada.put(flag_path(pair[1]), json=values)).status_code == 200
    assert await differences(ada, project) == [aspect]


@pytest.mark.parametrize(
    "values",
    [
        {"enabled": False},
        {"rule_value": "linus"},
        {"rule_type": "user_email", "rule_value": "ada@example.com"},
        {"rollout_percentage": 50},
        {"variant": "blue"},
        {"conditions": [{"attribute": "plan", "operator": "in", "values": ["pro"]}]},
        {"priority": 0},  # behind the other one
    ],
    ids=str,
)
async def test_a_rule_that_decides_otherwise_makes_them_differ(
    ada: Caller, project: Json, pair: list[Json], values: Json
) -> None:
    rule = (await ada.get(f"{flag_path(pair[1])}/rules")).json()[0]
    assert (await ada.put(f"{flag_path(pair[1])}/rules/{rule['id']}", json=values)).status_code == 200
    assert await differences(ada, project) == ["rules"]
    await ada.delete(f"{flag_path(pair[1])}/rules/{rule['id']}")
    assert await differences(ada, project) == ["rules"]


async def test_disabled_rules_do_not_make_them_differ(ada: Caller, project: Json, pair: list[Json]) -> None:
    await ada.create_rule(pair[0], rule_value="nobody", enabled=False)
    rule = await ada.create_rule(pair[1], rule_value="grace", enabled=False)
    assert await differences(ada, project) == []
    await ada.put(f"{flag_path(pair[1])}/rules/{rule['id']}", json={"enabled": True})
    assert await differences(ada, project) == ["rules"]


@pytest.mark.both_databases
async def test_a_flag_that_an_environment_does_not_have_differs(ada: Caller, project: Json, pair: list[Json]) -> None:
    await ada.create_environment(project)
    assert await differences(ada, project) == ["environments"]


async def test_an_archived_flag_differs_from_one_that_is_off(ada: Caller, project: Json, pair: list[Json]) -> None:
    await ada.put(flag_path(pair[0]), json={"enabled": False})
    await ada.post(f"{flag_path(pair[1])}/archive")
    assert await differences(ada, project) == ["state"]
    (found,) = (await ada.get(path(project), params={"key": "new-checkout"})).json()
    assert [each["archived_at"] is None for each in found["flags"]] == [True, False]
    assert [each["enabled"] for each in found["flags"]] == [False, True]


async def test_what_is_archived_everywhere_is_found_by_its_key_only(
    ada: Caller, project: Json, pair: list[Json]
) -> None:
    for flag in pair:
        assert "new-checkout" in await keys(ada, project)
        await ada.post(f"{flag_path(flag)}/archive")
    assert await keys(ada, project) == ["needed"]
    assert await keys(ada, project, q="checkout") == []
    assert await keys(ada, project, key="new-checkout") == ["new-checkout"]
    assert await keys(ada, project, key="other") == []


@pytest.mark.both_databases
async def test_a_search_finds_keys_and_names_in_any_environment_ignoring_case(
    ada: Caller, project: Json, environment: Json, staging: Json
) -> None:
    await ada.create_flag(environment, key="dark_mode", name="Dark")
    await ada.create_flag(environment, key="darker", name="100% dark")
    await ada.create_flag(staging, key="darker", name="Night\\shift")
    for text, expected in (
        ("", ["dark_mode", "darker"]),
        ("DARK", ["dark_mode", "darker"]),
        ("k_m", ["dark_mode"]),
        ("100%", ["darker"]),
        ("night\\", ["darker"]),
        ("r_e", []),
    ):
        assert await keys(ada, project, q=text) == expected, text
    (found,) = (await ada.get(path(project), params={"q": "night"})).json()
    assert len(found["flags"]) == 2


@pytest.mark.both_databases
async def test_parts_lead_on_with_their_filters(ada: Caller, project: Json, environment: Json, staging: Json) -> None:
    for number in range(5):
        await ada.create_flag(environment, key=f"flag-{number}", enabled=number % 2 == 0)
        await ada.create_flag(staging, key=f"flag-{number}", enabled=False)
    answer = await ada.get(path(project), params={"differs": "true", "q": "flag", "limit": 2})
    assert [each["key"] for each in answer.json()] == ["flag-0", "flag-2"]
    answer = await ada.get(str(answer.url.join(answer.links["next"]["url"])))
    assert [each["key"] for each in answer.json()] == ["flag-4"]
    assert not answer.links


@pytest.mark.both_databases
async def test_the_flags_that_differ_are_found_among_many(
    flagstaff: Flagstaff, ada: Caller, project: Json, environment: Json, staging: Json
) -> None:
    homes = [make_environment(UUID(project["id"]), id=UUID(each["id"])) for each in (environment, staging)]
    different = {"flag-0000", "flag-0999", "flag-1000", "flag-1199"}
    numbered = [f"flag-{number:04}" for number in range(1_200)]
    flags = [make_flag(home, key=key) for home in homes for key in numbered]
    flags = [each for each in flags if each.environment_id == homes[0].id or each.key not in different]
    await store_all(flagstaff.database, *flags)
    assert await keys(ada, project, differs="true") == sorted(different)
    assert await keys(ada, project) == numbered
