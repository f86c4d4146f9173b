"""POST /sdk/v1/evaluate: its results and reasons."""

from typing import Any

import pytest

from flagstaff.evaluation.bucketing import bucket
from tests.support.api import Caller, Json, environment_path, flag_path
from tests.support.clock import Clock

OFF = {"enabled": False, "reason": "Flag is globally disabled"}
ON = {"enabled": True, "reason": "Flag enabled globally"}
BY_ID = {"enabled": True, "reason": "Matched user_id targeting rule"}
BY_EMAIL = {"enabled": True, "reason": "Matched user_email targeting rule"}
BY_DOMAIN = {"enabled": True, "reason": "Matched email_domain targeting rule"}


@pytest.fixture
def environ() -> dict[str, str]:
    """No limit."""
    return {"FLAGSTAFF_EVALUATE_RATE_LIMIT": "off"}


async def answers(client: Caller, project: Json, context: Any = None, environment: str = "production") -> Json:
    """Evaluate; return every flag's answer."""
    answer = await client.evaluate(project["sdk_key"], environment, context)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/json"
    assert answer.json().keys() == {"flags"}
    flags: Json = answer.json()["flags"]
    return flags


async def test_an_environment_without_flags_has_an_empty_answer(client: Caller, project: Json) -> None:
    for environment in ("production", "staging"):
        answer = await client.evaluate(project["sdk_key"], environment)
        assert answer.content == b'{"flags":{}}'


async def test_every_flag_appears_with_its_reason_under_its_key(
    client: Caller, ada: Caller, project: Json, environment: Json
) -> None:
    await ada.create_flag(environment, key="off", enabled=False, rollout_percentage=100)
    await ada.create_flag(environment, key="on")
    await ada.create_flag(environment, key="all", rollout_percentage=100)
    for key, rule in (
        ("id", {"rule_type": "user_id", "rule_value": "ada"}),
        ("email", {"rule_type": "user_email", "rule_value": "Ada@Example.com"}),
        ("domain", {"rule_type": "email_domain", "rule_value": "@example.COM"}),
        ("nobody", {"rule_type": "user_id", "rule_value": "somebody else"}),
    ):
        await ada.create_rule(await ada.create_flag(environment, key=key), **rule)
    await ada.create_rule(await ada.create_flag(environment, key="off-ruled", enabled=False))
    context = {"user_id": "ada", "user_email": "aDa@example.com"}
    assert await answers(client, project, context) == {
        "off": OFF,
        "on": ON,
        "all": {"enabled": True, "reason": "User in 100% rollout"},
        "id": BY_ID,
        "email": BY_EMAIL,
        "domain": BY_DOMAIN,
        "nobody": ON,
        "off-ruled": OFF,
    }


async def test_a_rollout_includes_users_by_their_stable_bucket(
    client: Caller, ada: Caller, project: Json, environment: Json
) -> None:
    await ada.create_flag(environment, key="gradual", rollout_percentage=30)
    for user in (f"user-{number}" for number in range(40)):
        inside = bucket("gradual", user) < 30
        expected = {"enabled": inside, "reason": f"User {'in' if inside else 'not in'} 30% rollout"}
        assert await answers(client, project, {"user_id": user}) == {"gradual": expected}


async def test_without_a_user_one_is_outside_every_rollout_below_100(
    client: Caller, ada: Caller, project: Json, environment: Json
) -> None:
    await ada.create_flag(environment, key="most", rollout_percentage=99)
    await ada.create_flag(environment, key="all", rollout_percentage=100)
    expected = {
        "most": {"enabled": False, "reason": "User not in 99% rollout"},
        "all": {"enabled": True, "reason": "User in 100% rollout"},
    }
    for context in (None, {}, {"user_id": None, "user_email": None}, {"user_id": "", "user_email": ""}):
        assert await answers(client, project, context) == expected
    absent = await client.post(
        "/sdk/v1/evaluate", json={"environment": "production"}, headers={"x-sdk-key": project["sdk_key"]}
    )
    assert absent.json() == {"flags": expected}


@pytest.mark.both_databases
async def test_the_lower_cased_email_buckets_users_without_an_id(
    client: Caller, ada: Caller, project: Json, environment: Json
) -> None:
    await ada.create_flag(environment, key="half", rollout_percentage=50)
    for number in range(10):
        email = f"Person-{number}@Example.com"
        inside = bucket("half", email.lower()) < 50
        for context in ({"user_email": email}, {"user_id": "", "user_email": email.upper()}):
            assert (await answers(client, project, context))["half"]["enabled"] is inside


async def test_a_rule_goes_before_the_rollout_and_higher_priorities_before_lower(
    client: Caller, ada: Caller, project: Json, environment: Json
) -> None:
    flag = await ada.create_flag(environment, key="flag", rollout_percentage=1)
    user = next(name for name in (f"user-{number}" for number in range(100)) if bucket("flag", name) >= 1)
    context = {"user_id": user, "user_email": "ada@example.com"}
    assert (await answers(client, project, context))["flag"]["enabled"] is False
    await ada.create_rule(flag, rule_value=user)
    assert await answers(client, project, context) == {"flag": BY_ID}
    rule = await ada.create_rule(flag, rule_type="email_domain", rule_value="example.com", priority=1)
    assert await answers(client, project, context) == {"flag": BY_DOMAIN}
    await ada.put(f"{flag_path(flag)}/rules/{rule['id']}", json={"enabled": False})
    assert await answers(client, project, context) == {"flag": BY_ID}


@pytest.mark.both_databases
async def test_a_domain_matches_exactly_and_an_id_with_its_case(
    client: Caller, ada: Caller, project: Json, environment: Json
) -> None:
    flag = await ada.create_flag(environment, key="flag", rollout_percentage=1)
    await ada.create_rule(flag, rule_type="email_domain", rule_value="acme.com")
    await ada.create_rule(flag, rule_value="Ada")
    for email in ("a@sub.acme.com", "a@evil-acme.com", "a@acme.com.evil", "acme.com", "@acme.co"):
        assert (await answers(client, project, {"user_email": email}))["flag"] != BY_DOMAIN, email
    assert (await answers(client, project, {"user_id": "ada"}))["flag"] != BY_ID
    assert (await answers(client, project, {"user_email": "A@ACME.COM"}))["flag"] == BY_DOMAIN
    assert (await answers(client, project, {"user_id": "Ada"}))["flag"] == BY_ID


async def test_unknown_keys_of_the_context_are_ignored_and_attributes_are_an_object(
    client: Caller, ada: Caller, project: Json, environment: Json
) -> None:
    await ada.create_flag(environment, key="on")
    contexts: list[Json] = [
        {"plan": "gold", "nested": {"deep": [1, 2.5, None, True]}, "": 1e300},
        {"custom_attributes": {}},
        {"custom_attributes": {"plan": "gold", "nested": {"deep": [[]]}}},
        {"user_id": "u" * 1024, "user_email": "ü" * 1024},
        {"user_id": "日本語 😀\n\t\"'\\"},
    ]
    for context in contexts:
        assert await answers(client, project, context) == {"on": ON}


BY_ATTRIBUTES = {"enabled": True, "reason": "Matched attributes targeting rule"}


def condition(attribute: str, operator: str, *values: str, **others: Any) -> Json:
    return {"attribute": attribute, "operator": operator, "values": values, **others}


async def test_a_rule_with_conditions_matches_those_who_meet_them_all(
    client: Caller, ada: Caller, project: Json, environment: Json
) -> None:
    flag = await ada.create_flag(environment, key="flag", fallthrough="off")
    conditions = [
        condition("plan", "in", "gold"),
        condition("seats", "gte", "10"),
        condition("environment", "in", "production"),
    ]
    await ada.create_rule(flag, rule_type="attributes", rule_value=None, conditions=conditions)
    for plan, seats, expected in (("gold", 10, True), ("gold", "11", True), ("gold", 9, False), ("free", 10, False)):
        context = {"custom_attributes": {"plan": plan, "seats": seats}}
        assert (await answers(client, project, context))["flag"]["enabled"] is expected, (plan, seats)
    assert await answers(client, project, {"custom_attributes": {"plan": ["x", "gold"], "seats": 1e3}}) == {
        "flag": BY_ATTRIBUTES
    }
    assert (await answers(client, project, None))["flag"]["enabled"] is False


async def test_conditions_narrow_rules_of_every_kind(
    client: Caller, ada: Caller, project: Json, environment: Json
) -> None:
    context = {"user_id": "ada", "user_email": "Ada@Example.com"}
    for rule_type, rule_value, expected in (
        ("user_id", "ada", BY_ID),
        ("user_email", "ada@example.com", BY_EMAIL),
        ("email_domain", "example.com", BY_DOMAIN),
    ):
        flag = await ada.create_flag(environment, key=rule_type, fallthrough="off")
        given = {"rule_type": rule_type, "rule_value": rule_value}
        await ada.create_rule(flag, **given, conditions=[condition("plan", "in", "gold")])
        gold = {**context, "custom_attributes": {"plan": "gold"}}
        assert (await answers(client, project, gold))[rule_type] == expected
        assert (await answers(client, project, context))[rule_type]["enabled"] is False
        assert (await answers(client, project, {"custom_attributes": {"plan": "gold"}}))[rule_type]["enabled"] is False


async def test_those_outside_a_rules_percentage_go_on_to_the_next_rule(
    client: Caller, ada: Caller, project: Json, environment: Json
) -> None:
    flag = await ada.create_flag(environment, key="flag", fallthrough="off")
    plan = [condition("plan", "in", "gold")]
    await ada.create_rule(
        flag, rule_type="attributes", rule_value=None, conditions=[], rollout_percentage=20, priority=2
    )
    await ada.create_rule(flag, rule_type="user_id", rule_value="user-1", conditions=plan, priority=1)
    for number in range(30):
        user = f"user-{number}"
        context = {"user_id": user, "custom_attributes": {"plan": "gold"}}
        found = (await answers(client, project, context))["flag"]
        if bucket("flag", user) < 20:
            assert found == BY_ATTRIBUTES
        else:
            assert found["enabled"] is (number == 1)


async def test_the_time_is_the_servers(
    client: Caller, ada: Caller, project: Json, environment: Json, clock: Clock
) -> None:
    flag = await ada.create_flag(environment, key="flag", fallthrough="off")
    conditions = [condition("current_time", "after", "2026-11-20T11:00:00Z")]
    await ada.create_rule(flag, rule_type="attributes", rule_value=None, conditions=conditions)
    context = {"custom_attributes": {"current_time": "2030-01-01T00:00:00Z"}}
    assert (await answers(client, project, context))["flag"]["enabled"] is False
    clock.advance(hours=2)
    assert (await answers(client, project))["flag"]["enabled"] is True


async def test_a_flag_that_falls_through_to_off_is_on_for_its_rules_only(
    client: Caller, ada: Caller, project: Json, environment: Json
) -> None:
    flag = await ada.create_flag(environment, key="beta", fallthrough="off", rollout_percentage=100)
    no_rule = {"enabled": False, "reason": "No targeting rule matched"}
    assert await answers(client, project, {"user_id": "ada"}) == {"beta": no_rule}
    await ada.create_rule(flag, rule_value="ada")
    assert await answers(client, project, {"user_id": "ada"}) == {"beta": BY_ID}
    assert await answers(client, project, {"user_id": "eve"}) == {"beta": no_rule}
    await ada.put(flag_path(flag), json={"fallthrough": "rollout"})
    assert (await answers(client, project, {"user_id": "eve"}))["beta"]["enabled"] is True


async def test_a_stickiness_buckets_by_an_attribute_and_a_bucketing_key_replaces_the_flags_key(
    client: Caller, ada: Caller, project: Json, environment: Json
) -> None:
    await ada.create_flag(environment, key="flag", rollout_percentage=50, stickiness="company", bucketing_key="Group 1")
    for company in (*map(str, range(20)), 7, 7.5):
        inside = bucket("Group 1", str(company)) < 50
        context = {"user_id": "ada", "custom_attributes": {"company": company, "plan": [1, {"deep": []}]}}
        assert (await answers(client, project, context))["flag"]["enabled"] is inside, company


async def test_environments_and_projects_answer_for_themselves_alone(
    client: Caller, ada: Caller, eve: Caller, project: Json, environment: Json
) -> None:
    staging, canary = await ada.get_environment(project, "staging"), await ada.create_environment(project, key="canary")
    await ada.create_flag(environment, key="flag", enabled=False)
    await ada.create_flag(staging, key="flag", enabled=True)
    await ada.create_flag(canary, key="other")
    eves = await eve.create_project()
    assert [await answers(client, project, environment=key) for key in ("production", "staging", "canary")] == [
        {"flag": OFF},
        {"flag": ON},
        {"other": ON},
    ]
    assert await answers(client, eves) == {}


async def test_the_answer_contains_no_rule_value_and_no_user_data(
    client: Caller, ada: Caller, project: Json, environment: Json
) -> None:
    flag = await ada.create_flag(environment, key="flag")
    await ada.create_rule(flag, rule_type="user_email", rule_value="secret-person@example.com")
    answer = await client.evaluate(project["sdk_key"], context={"user_email": "secret-person@example.com"})
    assert b"secret" not in answer.content
    assert answer.json()["flags"] == {"flag": BY_EMAIL}


async def test_many_flags_come_in_one_answer(client: Caller, ada: Caller, project: Json, environment: Json) -> None:
    for number in range(20):
        await ada.create_flag(environment, key=f"flag-{number}", rollout_percentage=number, enabled=bool(number % 2))
    listed = (await ada.get(f"{environment_path(environment)}/flags")).json()
    assert (await answers(client, project, {"user_id": "ada"})).keys() == {flag["key"] for flag in listed}
