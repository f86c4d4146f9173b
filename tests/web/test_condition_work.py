"""The budget of work: how much the conditions of an environment, or of a draft, may cost an evaluation."""

import asyncio
import json
from typing import Any
from uuid import UUID

import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.conditions.conditions import Condition
from flagstaff.conditions.operators import Operator
from flagstaff.flags.flags import Fallthrough, RuleType
from tests.support.api import Caller, Json, environment_path, field_errors, flag_path, project_path
from tests.support.builders import make_environment, make_flag, make_rule, store_all
from tests.support.holds import ask, watch_holds

LONGEST_UNITS = 10  # some milliseconds; a single step with all conditions takes fifty
# Such a body is parsed in one step, like every other: parsing half a megabyte takes longer than its conditions.
LONGEST_FOR_A_LARGE_BODY_UNITS = 100
SETTING = "FLAGSTAFF_MAX_CONDITION_WORK"
HARD: list[Json] = [
    {"attribute": f"a{place}", "operator": "matches", "values": [f"[ab]*a[ab]{{200}}c{place}"], "negate": True}
    for place in range(50)
]
CHEAP: Json = {"attribute": "plan", "operator": "in", "values": ["gold"]}
CHEAP_EMAIL: Json = {**CHEAP, "attribute": "user_email"}
MATCHES: Json = {"attribute": "user_email", "operator": "matches", "values": ["@(a|b|c)[.]example$"]}
MATCHES_IN_PLAN: Json = {**MATCHES, "attribute": "plan"}


def small_budget(micros: int = 130) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("environ", [{SETTING: str(micros)}])


def rule(*conditions: Json, **values: Any) -> Json:
    return {"rule_type": "attributes", "rule_value": None, "conditions": list(conditions), **values}


def draft_of(flag: Json, rules: list[Json]) -> Json:
    return {"name": flag["name"], "key": flag["key"], "rules": rules}


async def test_a_rule_is_refused_at_the_condition_with_which_it_exceeds_the_budget(
    ada: Caller, environment: Json
) -> None:
    path = f"{flag_path(await ada.create_flag(environment))}/rules"

    refused = await ada.post(path, json=rule(CHEAP, *HARD[:49]))

    assert refused.status_code == 400
    (field,) = field_errors(refused)
    message = field_errors(refused)[field]
    assert field == "conditions.1"
    assert f"{SETTING} allows 1,000" in message
    assert "ask the operator to raise the setting" in message
    assert (await ada.get(path)).json() == []


async def test_a_draft_beyond_the_budget_is_refused_at_its_condition(ada: Caller, environment: Json) -> None:
    flag = await ada.create_flag(environment)
    draft = draft_of(flag, [rule(CHEAP), rule(*HARD)])

    for path, body in (
        (f"{environment_path(environment)}/explain", {"flag": draft}),
        (f"{flag_path(flag)}/impact", {"flag": draft}),
    ):
        refused = await ada.post(path, json=body)
        assert refused.status_code == 400, path
        assert list(field_errors(refused)) == ["flag.rules.1.conditions.0"]


@small_budget()
async def test_the_rules_of_an_environment_share_its_budget_and_may_shrink(ada: Caller, environment: Json) -> None:
    flags = [await ada.create_flag(environment, key=key) for key in ("a", "b")]
    created = [await ada.post(f"{flag_path(flag)}/rules", json=rule(MATCHES)) for flag in flags]
    assert [each.status_code for each in created] == [201, 400]

    path = f"{flag_path(flags[0])}/rules/{created[0].json()['id']}"
    grown = await ada.put(path, json={"conditions": [MATCHES, MATCHES]})
    assert list(field_errors(grown)) == ["conditions.1"]
    assert (await ada.put(path, json={"conditions": [CHEAP]})).status_code == 200
    assert (await ada.post(f"{flag_path(flags[1])}/rules", json=rule(MATCHES))).status_code == 201


@small_budget()
async def test_a_segment_counts_once_in_each_environment_whose_rules_name_it(ada: Caller, environment: Json) -> None:
    project = {"id": environment["project_id"]}
    await ada.create_rule(await ada.create_flag(environment, key="other"), **rule(MATCHES))
    segment = await ada.create_segment(project, key="gold", conditions=[CHEAP_EMAIL])
    for key in ("a", "b", "c"):
        await ada.create_rule(await ada.create_flag(environment, key=key), rule_type="segment", rule_value="gold")
    path = f"{project_path(project)}/segments/{segment['id']}"

    grown = await ada.put(path, json={"conditions": [CHEAP_EMAIL, MATCHES]})

    assert list(field_errors(grown)) == ["conditions.1"]
    assert "environment production" in field_errors(grown)["conditions.1"]
    assert (await ada.get(path)).json()["conditions"] == segment["conditions"]
    fits = {"attribute": "user_email", "operator": "ends_with", "values": ["@a.example", "@b.example"]}
    assert (await ada.put(path, json={"conditions": [CHEAP_EMAIL, fits]})).status_code == 200


@small_budget()
async def test_a_segment_that_no_evaluation_could_afford_is_refused(ada: Caller, project: Json) -> None:
    path = f"{project_path(project)}/segments"
    refused = await ada.post(path, json={"name": "x", "key": "x", "conditions": [MATCHES, MATCHES]})
    assert list(field_errors(refused)) == ["conditions.1"]


@small_budget()
async def test_a_rule_that_names_a_costly_segment_is_refused(ada: Caller, environment: Json) -> None:
    await ada.create_segment({"id": environment["project_id"]}, key="gold", conditions=[MATCHES])
    flag = await ada.create_flag(environment)
    await ada.create_rule(flag, **rule(MATCHES))

    refused = await ada.post(f"{flag_path(flag)}/rules", json={"rule_type": "segment", "rule_value": "gold"})

    assert list(field_errors(refused)) == ["rule_value"]


@small_budget()
async def test_a_flag_does_not_return_from_the_archive_beyond_the_budget(ada: Caller, environment: Json) -> None:
    flags = [await ada.create_flag(environment, key=key) for key in ("a", "b")]
    await ada.create_rule(flags[0], **rule(MATCHES))
    assert (await ada.post(f"{flag_path(flags[0])}/archive")).status_code == 200
    await ada.create_rule(flags[1], **rule(MATCHES))

    refused = await ada.post(f"{flag_path(flags[0])}/unarchive")

    assert refused.status_code == 409
    assert SETTING in refused.json()["detail"]
    await ada.delete(flag_path(flags[1]))
    assert (await ada.post(f"{flag_path(flags[0])}/unarchive")).status_code == 200


@small_budget()
async def test_a_restore_does_not_exceed_the_budget(ada: Caller, environment: Json) -> None:
    flag = await ada.create_flag(environment)
    costly = await ada.create_rule(flag, **rule(MATCHES))
    await ada.delete(f"{flag_path(flag)}/rules/{costly['id']}")
    changes = f"{project_path({'id': environment['project_id']})}/changes"
    number = (await ada.get(changes)).json()["items"][0]["id"]
    await ada.create_rule(flag, **rule(MATCHES))

    refused = await ada.post(f"{changes}/{number}/restore", json={})

    assert refused.status_code == 409
    assert SETTING in refused.json()["detail"]


@small_budget()
async def test_a_copy_does_not_exceed_the_budget_of_the_other_environment(ada: Caller, environment: Json) -> None:
    project = {"id": environment["project_id"]}
    other = await ada.get_environment(project, "staging")
    await ada.create_rule(await ada.create_flag(environment, key="a"), **rule(MATCHES))
    await ada.create_rule(await ada.create_flag(other, key="b"), **rule(MATCHES))

    body = {"from": environment["id"], "to": other["id"], "flag_keys": ["a"]}
    refused = await ada.post(f"{project_path(project)}/copy", json=body)

    assert refused.status_code == 409, refused.text
    assert SETTING in refused.json()["detail"]


@pytest.mark.both_databases
@small_budget()
async def test_rules_that_are_created_at_once_do_not_exceed_the_budget_together(ada: Caller, environment: Json) -> None:
    path = f"{flag_path(await ada.create_flag(environment))}/rules"
    answers = await asyncio.gather(*(ada.post(path, json=rule(MATCHES)) for _ in range(4)))
    assert sorted(each.status_code for each in answers) == [201, 400, 400, 400]


async def store_hard_rules(flagstaff: Flagstaff, environment: Json, count: int, conditions: int) -> Json:
    """Write a flag whose rules exceed every budget directly to the database, as an earlier release did."""
    home = make_environment(UUID(environment["project_id"]), id=UUID(environment["id"]))
    flag = make_flag(home, fallthrough=Fallthrough.OFF)
    hard = tuple(
        Condition(f"a{place}", Operator.MATCHES, (f"[ab]*a[ab]{{200}}c{place}",), negate=True)
        for place in range(conditions)
    )
    attributes = {"rule_type": RuleType.ATTRIBUTES, "rule_value": None, "conditions": hard}
    rules = [make_rule(flag, **attributes) for _ in range(count)]
    await store_all(flagstaff.database, flag, *rules)
    return {"id": str(flag.id), "key": flag.key, "name": flag.name}


@pytest.mark.both_databases
async def test_members_see_what_uses_the_budget(ada: Caller, eve: Caller, environment: Json) -> None:
    path = f"{environment_path(environment)}/condition-work"
    assert (await eve.get(path)).status_code == 404
    assert (await ada.get(path)).json() == {
        "budget": 1000,
        "work": 0,
        "setting": SETTING,
        "flags": [],
        "segments": [],
    }
    await ada.create_segment({"id": environment["project_id"]}, key="gold", conditions=[CHEAP])
    for key, conditions in (("a", [CHEAP_EMAIL]), ("b", [MATCHES]), ("c", [])):
        await ada.create_rule(await ada.create_flag(environment, key=key), **rule(*conditions))
    flag = await ada.create_flag(environment, key="d")
    await ada.create_rule(flag, rule_type="segment", rule_value="gold")

    found = (await ada.get(path)).json()

    assert [each["key"] for each in found["flags"]] == ["b", "a", "c", "d"]
    assert [each["key"] for each in found["segments"]] == ["gold"]
    assert found["flags"][0]["work"] < found["work"] < found["budget"]


async def test_what_is_above_the_budget_already_is_evaluated_and_may_not_grow(
    ada: Caller, project: Json, environment: Json, flagstaff: Flagstaff
) -> None:
    flag = await store_hard_rules(flagstaff, environment, 1, 2)
    path = f"{environment_path(environment)}/flags/{flag['id']}/rules"
    (saved,) = (await ada.get(path)).json()

    attributes = {"a0": "b", "a1": "b"}
    answers = (await ada.evaluate(project["sdk_key"], context={"custom_attributes": attributes})).json()["flags"]
    assert answers[flag["key"]]["enabled"] is True
    assert (await ada.post(path, json=rule(CHEAP))).status_code == 400
    assert (await ada.put(f"{path}/{saved['id']}", json={"name": "Renamed", "priority": 3})).status_code == 200
    kept = {key: saved[key] for key in ("id", "rule_type", "rule_value", "conditions")}
    same = {"name": flag["name"], "key": flag["key"], "rules": [kept]}
    assert (await ada.post(f"{environment_path(environment)}/explain", json={"flag": same})).status_code == 200
    assert (await ada.put(f"{path}/{saved['id']}", json={"conditions": [CHEAP]})).status_code == 200
    assert (await ada.post(path, json=rule(CHEAP))).status_code == 201


async def test_an_explanation_beyond_the_budget_pauses_between_conditions(
    ada: Caller, environment: Json, flagstaff: Flagstaff
) -> None:
    await store_hard_rules(flagstaff, environment, 10, 20)
    content = json.dumps({"context": {"custom_attributes": {f"a{place}": "ab" * 150 for place in range(20)}}}).encode()
    assert ada.token

    async with watch_holds() as holds:
        path = f"{environment_path(environment)}/explain"
        status, _ = await ask(flagstaff.edge.asgi, "POST", path, token=ada.token, content=content)

    assert status == 200
    assert holds.longest_in_units < LONGEST_UNITS


async def test_a_draft_of_thousands_of_expressions_is_refused_without_holding_the_loop(
    ada: Caller, environment: Json, flagstaff: Flagstaff
) -> None:
    rules = [
        {
            "rule_type": "attributes",
            "rule_value": None,
            "conditions": [
                {"attribute": "x", "operator": "matches", "values": [f"[ab]*a[ab]{{200}}c{number}-{place}"]}
                for place in range(50)
            ],
        }
        for number in range(100)
    ]
    content = json.dumps({"flag": {"name": "x", "key": "x", "rules": rules}}).encode()
    assert ada.token

    async with watch_holds() as holds:
        path = f"{environment_path(environment)}/explain"
        status, _ = await ask(flagstaff.edge.asgi, "POST", path, token=ada.token, content=content)

    assert status == 400
    assert holds.longest_in_units < LONGEST_FOR_A_LARGE_BODY_UNITS
