"""POST …/flags/{flag_id}/impact."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from tests.support.api import Caller, Json, field_errors, flag_path
from tests.support.clock import Clock
from tests.support.sessions import PASSWORD, log_in
from tests.web.conftest import ListChanges

NOBODY = {
    "users": 0,
    "changed": 0,
    "turned_on": 0,
    "turned_off": 0,
    "variant_changed": 0,
    "without_attributes": 0,
    "unknown_attributes": [],
    "complete": True,
}
ATTRIBUTES: Json = {"rule_type": "attributes", "rule_value": None}


@pytest.fixture
def environ() -> dict[str, str]:
    """No limit on evaluations."""
    return {"FLAGSTAFF_EVALUATE_RATE_LIMIT": "off"}


@pytest.fixture
def clock() -> Clock:
    """The time at which evaluations are recorded."""
    return Clock(datetime.now(UTC))


@pytest.fixture
async def flag(ada: Caller, environment: Json) -> Json:
    """A flag of Ada's that is on for the users of its rules only, and has no rules yet."""
    return await ada.create_flag(environment, key="flag", fallthrough="off")


async def evaluate(flagstaff: Flagstaff, client: Caller, project: Json, *contexts: Json) -> None:
    for context in contexts:
        answer = await client.evaluate(project["sdk_key"], context=context)
        assert answer.status_code == 200
    async with asyncio.timeout(20):
        while flagstaff.history.recorder.waiting:
            await asyncio.sleep(0.01)


async def preview(caller: Caller, flag: Json, **changes: Any) -> Json:
    """Return the impact, without its period."""
    answer = await caller.post(f"{flag_path(flag)}/impact", json={"flag": {**flag, **changes}})
    assert answer.status_code == 200, answer.text
    impact: Json = answer.json()
    assert impact.pop("from") < impact.pop("to")
    return impact


async def test_it_needs_a_token(client: Caller, flag: Json) -> None:
    assert (await client.post(f"{flag_path(flag)}/impact", json={"flag": flag})).status_code == 401


async def test_a_flag_that_is_too_large_to_be_saved_has_no_impact_and_large_rules_do(ada: Caller, flag: Json) -> None:
    large = [{"key": f"v{place}", "weight": 1, "value": "x" * 4_000} for place in range(40)]
    saved = await ada.put(flag_path(flag), json={"variants": large})
    assert saved.status_code == 413
    answer = await ada.post(f"{flag_path(flag)}/impact", json={"flag": {**flag, "variants": large}})
    assert field_errors(answer) == {"flag": "is larger without its rules than a flag that can be saved"}
    values = [f"{number:036}" for number in range(9_000)]
    rule = {**ATTRIBUTES, "conditions": [{"attribute": "user_id", "operator": "in", "values": values}]}
    assert await preview(ada, flag, rules=[rule]) == NOBODY


async def test_a_flag_that_is_not_there_or_not_yours_is_not_found(ada: Caller, eve: Caller, flag: Json) -> None:
    staging = await ada.get_environment({"id": flag["project_id"]}, "staging")
    for caller, place in (
        (eve, flag),
        (ada, {**flag, "environment_id": staging["id"]}),
        (ada, {**flag, "id": uuid4()}),
        (ada, {**flag, "id": flag["key"]}),
    ):
        answer = await caller.post(f"{flag_path(place)}/impact", json={"flag": flag})
        assert answer.status_code == 404


async def test_what_could_not_be_saved_is_refused(ada: Caller, flag: Json) -> None:
    path = f"{flag_path(flag)}/impact"
    rule = {**ATTRIBUTES, "conditions": [{"attribute": "plan", "operator": "eq", "values": ["x"]}]}
    for body, expected in (
        ({}, {"flag": "is required"}),
        ({"flag": None}, {"flag": "must be an object"}),
        ({"flag": flag, "context": {}}, {"context": "is not a known field; known fields are flag"}),
        ({"flag": {**flag, "key": "other"}}, {"flag.key": "cannot be changed; it is flag"}),
        (
            {"flag": {**flag, "rules": [{}]}},
            {"flag.rules.0.rule_type": "is required", "flag.rules.0.rule_value": "is required"},
        ),
        (
            {"flag": {**flag, "rules": [rule]}},
            {"flag.rules.0.conditions.0.values.0": "must be a decimal number such as 42, -0.5 or 1e6"},
        ),
    ):
        assert field_errors(await ada.post(path, json=body)) == expected, body
    answer = await ada.post(path, json={"flag": {**flag, "prerequisites": [{"flag_key": "flag"}]}})
    assert answer.status_code == 409


async def test_without_evaluations_nobody_is_affected(ada: Caller, flag: Json, clock: Clock) -> None:
    answer = await ada.post(f"{flag_path(flag)}/impact", json={"flag": {**flag, "fallthrough": "rollout"}})
    until = datetime.fromisoformat(answer.json()["to"])
    assert until == clock()
    assert answer.json() == {
        "from": (until - timedelta(days=1)).isoformat(timespec="microseconds").replace("+00:00", "Z"),
        "to": answer.json()["to"],
        **NOBODY,
    }


@pytest.mark.both_databases
async def test_each_user_counts_once_with_the_newest_evaluation(
    flagstaff: Flagstaff, client: Caller, ada: Caller, project: Json, flag: Json
) -> None:
    gold = {**ATTRIBUTES, "conditions": [{"attribute": "plan", "operator": "in", "values": ["gold"]}]}
    rule = await ada.create_rule(flag, **gold)
    contexts: list[Json] = [
        {"user_id": "ada", "custom_attributes": {"plan": "silver"}},
        {"user_id": "ada", "custom_attributes": {"plan": "gold"}},
        {"user_id": "eve", "custom_attributes": {"plan": "silver"}},
        {"user_email": "Bob@example.com", "custom_attributes": {"plan": "gold"}},
        {"user_email": "bob@example.com", "custom_attributes": {"plan": "gold"}},
        {"custom_attributes": {"plan": "gold"}},
    ]
    await evaluate(flagstaff, client, project, *contexts)

    assert await preview(ada, flag, rules=[rule]) == {**NOBODY, "users": 3}
    assert await preview(ada, flag, rules=[]) == {**NOBODY, "users": 3, "changed": 2, "turned_off": 2}
    everyone = await preview(ada, flag, rules=[rule], fallthrough="rollout")
    assert everyone == {**NOBODY, "users": 3, "changed": 1, "turned_on": 1}
    silver = {**rule, "conditions": [{"attribute": "plan", "operator": "in", "values": ["silver"]}]}
    both = await preview(ada, flag, rules=[silver])
    assert both == {**NOBODY, "users": 3, "changed": 3, "turned_on": 1, "turned_off": 2}
    variants = [{"key": "a", "weight": 1, "value": 1}]
    varied = await preview(ada, flag, rules=[rule], variants=variants)
    assert varied == {**NOBODY, "users": 3, "changed": 2, "variant_changed": 2}


async def test_users_whose_attributes_were_not_kept_are_counted_apart(
    flagstaff: Flagstaff, client: Caller, ada: Caller, project: Json, flag: Json
) -> None:
    contexts = [{"user_id": name, "custom_attributes": {"plan": "gold"}} for name in ("ada", "eve")]
    await evaluate(flagstaff, client, project, *contexts)
    gold = {**ATTRIBUTES, "conditions": [{"attribute": "plan", "operator": "in", "values": ["gold"]}]}
    unknown = [{"name": "plan", "users": 2}]
    assert await preview(ada, flag, rules=[gold]) == {
        **NOBODY,
        "users": 2,
        "without_attributes": 2,
        "unknown_attributes": unknown,
    }

    await ada.create_rule(flag, **gold, enabled=True, rollout_percentage=1)
    await evaluate(flagstaff, client, project, contexts[0])
    assert await preview(ada, flag, rules=[gold]) == {
        **NOBODY,
        "users": 2,
        "changed": 1,
        "turned_on": 1,
        "without_attributes": 1,
        "unknown_attributes": [{"name": "plan", "users": 1}],
    }


async def test_only_the_last_day_counts(
    flagstaff: Flagstaff, client: Caller, ada: Caller, project: Json, flag: Json, clock: Clock
) -> None:
    await evaluate(flagstaff, client, project, {"user_id": "ada"})
    clock.advance(hours=23)
    assert (await preview(ada, flag, fallthrough="rollout"))["turned_on"] == 1
    clock.advance(hours=1, minutes=10)
    token = await log_in(flagstaff, email=ada.account["email"], password=PASSWORD)  # the other one has expired
    ada.headers["authorization"] = f"Bearer {token}"
    assert await preview(ada, flag, fallthrough="rollout") == NOBODY


async def test_nothing_is_stored_or_recorded(
    flagstaff: Flagstaff, ada: Caller, flag: Json, list_changes: ListChanges
) -> None:
    before = await list_changes()
    await preview(ada, flag, enabled=False, rules=[{**ATTRIBUTES, "conditions": []}])
    assert await list_changes() == before
    assert (await ada.get(flag_path(flag))).json() == flag
    assert (await ada.get(f"{flag_path(flag)}/rules")).json() == []
    assert flagstaff.history.recorder.waiting == 0
