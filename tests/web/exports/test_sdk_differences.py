"""GET /api/projects/{project_id}/environments/{env_id}/flags/{flag_id}/sdk-differences."""

from uuid import uuid4

from tests.support.api import Caller, Json, flag_path

REGULAR_EXPRESSION = {"attribute": "plan", "operator": "matches", "values": ["^g"]}


async def test_only_members_of_the_project_see_them(client: Caller, ada: Caller, eve: Caller) -> None:
    path = f"{flag_path(await ada.create_flag())}/sdk-differences"
    assert (await client.get(path)).status_code == 401
    assert (await eve.get(path)).status_code == 404


async def test_a_flag_that_does_not_exist_is_not_found(ada: Caller) -> None:
    flag = await ada.create_flag()
    assert (await ada.get(f"{flag_path({**flag, 'id': uuid4()})}/sdk-differences")).status_code == 404


async def test_a_flag_without_differences_has_none(ada: Caller) -> None:
    flag = await ada.create_flag()
    await ada.create_rule(flag)
    assert (await ada.get(f"{flag_path(flag)}/sdk-differences")).json() == []


async def test_each_difference_says_why_and_names_its_rule(ada: Caller) -> None:
    flag = await ada.create_flag(fallthrough="off")
    rule = await ada.create_rule(
        flag, rule_type="attributes", rule_value=None, name="Gold", conditions=[REGULAR_EXPRESSION]
    )
    (difference,) = (await ada.get(f"{flag_path(flag)}/sdk-differences")).json()
    assert difference == {
        "effect": "off",
        "message": "The rule Gold is left out: SDKs disagree on regular expressions.",
        "rule_id": rule["id"],
    }


async def test_those_of_a_prerequisite_count(ada: Caller, environment: Json) -> None:
    first = await ada.create_flag(environment, key="first", fallthrough="off")
    await ada.create_rule(first, rule_type="attributes", rule_value=None, conditions=[REGULAR_EXPRESSION])
    second = await ada.create_flag(environment, key="second", prerequisites=[{"flag_key": "first", "enabled": False}])
    (difference,) = (await ada.get(f"{flag_path(second)}/sdk-differences")).json()
    assert difference["effect"] == "off"
    assert "its prerequisite first must be off" in difference["message"]
