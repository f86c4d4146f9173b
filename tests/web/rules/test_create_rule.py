"""POST …/rules."""

from typing import Any
from uuid import UUID

from flagstaff.assembly.bootstrap import Flagstaff
from tests.support.api import Caller, Json, field_errors
from tests.support.changes import changes_in
from tests.web.flags.conftest import Elsewhere

VALID = {"rule_type": "user_id", "rule_value": "ada"}
DEFAULTS: dict[str, Any] = {"name": None, "conditions": [], "rollout_percentage": 100, "variant": None}
PLAN = {"attribute": "plan", "operator": "in", "values": ["gold"]}
EXACTLY_ONE = "must contain exactly one value: eq compares with one"
AT_LEAST_ONE = "must contain at least one value"
VALUE_TOO_LONG = "must be at most 1,024 characters long"
TOO_LONG, TOO_MANY = "must be at most 128 characters long", "must contain at most 10,000 values"
PERCENTAGE_RULE = "must be a whole number from 1 to 100; to switch a rule off, set enabled to false"
NO_EMAIL = "must be an email address such as ada@example.com"
NO_DOMAIN = "must be a domain such as example.com or @example.com"
INVISIBLE = "must not contain spaces or invisible characters"
WILDCARD = "must not contain *: a domain matches exactly, and each subdomain needs its own rule"
NO_PRIORITY = "must be a whole number from -2147483648 to 2147483647"
NO_CONDITIONS = "must be given for the type attributes; an empty list means everyone"
NO_TYPE = "must be 'user_id', 'user_email', 'email_domain', 'attributes' or 'segment'"

INVALID: list[tuple[Json, dict[str, str]]] = [
    ({"rule_type": None}, {"rule_type": NO_TYPE}),
    ({"rule_type": "email"}, {"rule_type": NO_TYPE}),
    ({"rule_type": "USER_ID"}, {"rule_type": NO_TYPE}),
    ({"rule_value": None}, {"rule_value": "must be a string"}),
    ({"rule_value": 42}, {"rule_value": "must be a string"}),
    ({"rule_value": ""}, {"rule_value": "must not be empty"}),
    ({"rule_value": "  "}, {"rule_value": "must not be blank"}),
    ({"rule_type": "user_email", "rule_value": " "}, {"rule_value": "must not be blank"}),
    ({"rule_type": "email_domain", "rule_value": "*.acme.com"}, {"rule_value": WILDCARD}),
    ({"rule_type": "user_email", "rule_value": "ada@*"}, {"rule_value": WILDCARD}),
    ({"rule_type": "email_domain", "rule_value": "https://acme.com"}, {"rule_value": NO_DOMAIN}),
    ({"rule_value": "v" * 1025}, {"rule_value": "must be at most 1,024 characters long"}),
    ({"rule_value": "a\x00b"}, {"rule_value": "must not contain the NUL character"}),
    ({"rule_type": "user_email", "rule_value": "ada"}, {"rule_value": NO_EMAIL}),
    ({"rule_type": "user_email", "rule_value": "@example.com"}, {"rule_value": NO_EMAIL}),
    ({"rule_type": "user_email", "rule_value": "ada@"}, {"rule_value": NO_EMAIL}),
    ({"rule_type": "user_email", "rule_value": "a@b@c"}, {"rule_value": NO_EMAIL}),
    ({"rule_type": "user_email", "rule_value": "a da@example.com"}, {"rule_value": INVISIBLE}),
    ({"rule_type": "email_domain", "rule_value": "@"}, {"rule_value": NO_DOMAIN}),
    ({"rule_type": "email_domain", "rule_value": "a@acme.com"}, {"rule_value": NO_DOMAIN}),
    ({"rule_type": "email_domain", "rule_value": "@@acme.com"}, {"rule_value": NO_DOMAIN}),
    ({"rule_type": "email_domain", "rule_value": "acme .com"}, {"rule_value": INVISIBLE}),
    ({"priority": None}, {"priority": "must be a whole number"}),
    ({"priority": "1"}, {"priority": "must be a whole number"}),
    ({"priority": 1.5}, {"priority": "must be a whole number"}),
    ({"priority": True}, {"priority": "must be a whole number"}),
    ({"priority": 2**31}, {"priority": NO_PRIORITY}),
    ({"priority": -(2**31) - 1}, {"priority": NO_PRIORITY}),
    ({"enabled": None}, {"enabled": "must be true or false"}),
    ({"enabled": 1}, {"enabled": "must be true or false"}),
    ({"rule_type": "attributes"}, {"rule_value": "must be null: a rule of the type attributes has conditions instead"}),
    ({"rollout_percentage": 0}, {"rollout_percentage": PERCENTAGE_RULE}),
    ({"rollout_percentage": 101}, {"rollout_percentage": PERCENTAGE_RULE}),
    ({"rollout_percentage": "5"}, {"rollout_percentage": "must be a whole number"}),
    ({"rollout_percentage": None}, {"rollout_percentage": "must be a whole number"}),
    ({"conditions": None}, {"conditions": "must be a list"}),
    ({"conditions": {}}, {"conditions": "must be a list"}),
    ({"conditions": ["plan"]}, {"conditions.0": "must be an object"}),
    ({"conditions": [PLAN, {**PLAN, "values": None}]}, {"conditions.1.values": "must be a list"}),
    ({"conditions": [{**PLAN, "attribute": " "}]}, {"conditions.0.attribute": "must not be empty"}),
    ({"conditions": [{**PLAN, "attribute": "a" * 129}]}, {"conditions.0.attribute": TOO_LONG}),
    ({"conditions": [{**PLAN, "attribute": 7}]}, {"conditions.0.attribute": "must be a string"}),
    (
        {"conditions": [{**PLAN, "attribute": "a\x00"}]},
        {"conditions.0.attribute": "must not contain the NUL character"},
    ),
    ({"conditions": [{**PLAN, "operator": "eq", "values": []}]}, {"conditions.0.values": EXACTLY_ONE}),
    ({"conditions": [{**PLAN, "operator": "in", "values": []}]}, {"conditions.0.values": AT_LEAST_ONE}),
    ({"conditions": [PLAN, {**PLAN, "operator": "not_in", "values": []}]}, {"conditions.1.values": AT_LEAST_ONE}),
    ({"conditions": [{**PLAN, "operator": "eq", "values": ["1", "2"]}]}, {"conditions.0.values": EXACTLY_ONE}),
    ({"conditions": [{**PLAN, "values": [None]}]}, {"conditions.0.values.0": "must be a string"}),
    ({"conditions": [{**PLAN, "values": [["a"]]}]}, {"conditions.0.values.0": "must be a string"}),
    ({"conditions": [{**PLAN, "values": ["v" * 1025]}]}, {"conditions.0.values.0": VALUE_TOO_LONG}),
    ({"conditions": [{**PLAN, "values": "gold"}]}, {"conditions.0.values": "must be a list"}),
    ({"conditions": [{**PLAN, "values": ["a", 1]}]}, {"conditions.0.values.1": "must be a string"}),
    ({"conditions": [PLAN, {**PLAN, "values": ["a", " "]}]}, {"conditions.1.values.1": "must not be empty"}),
    (
        {"conditions": [{**PLAN, "values": ["a"] * 10_001}]},
        {"conditions.0.values": TOO_MANY},
    ),
    ({"conditions": [{**PLAN, "negate": 1}]}, {"conditions.0.negate": "must be true or false"}),
    ({"conditions": [PLAN] * 51}, {"conditions": "must contain at most 50 conditions"}),
    ({"name": 7}, {"name": "must be a string"}),
    ({"name": " "}, {"name": "must not be empty"}),
    ({"name": "n" * 256}, {"name": "must be at most 255 characters long"}),
    ({"rule_valu": "x"}, {"rule_valu": "is not a known field; did you mean rule_value?"}),
]


async def test_it_needs_a_token(client: Caller, rules_path: str) -> None:
    assert (await client.post(rules_path, json=VALID)).status_code == 401


async def test_a_flag_that_is_not_there_or_not_yours_is_not_found(
    ada: Caller, rules_path: str, flags_elsewhere: list[Elsewhere]
) -> None:
    for why, caller, path in flags_elsewhere:
        assert (await caller.post(path, json=VALID)).status_code == 404, why
    assert (await ada.get(rules_path)).json() == []


async def test_each_invalid_field_is_named_with_what_is_wrong_and_nothing_is_created(
    ada: Caller, rules_path: str
) -> None:
    for given, expected in INVALID:
        answer = await ada.post(rules_path, json={**VALID, **given})
        assert field_errors(answer) == expected, given
    answer = await ada.post(rules_path, json={})
    assert field_errors(answer) == {"rule_type": "is required", "rule_value": "is required"}
    assert (await ada.get(rules_path)).json() == []


async def test_a_value_that_its_operator_cannot_compare_is_named_by_its_index(
    ada: Caller, rule: Json, rules_path: str, rule_path: str
) -> None:
    for operator, value in (
        ("eq", "many"),
        ("before", "2026-11-20"),
        ("semver_gt", "v1"),
        ("in_network", "10.0.0.0/33"),
        ("matches", "(" * 3),
        ("matches", "(a{1,1000}){1,1000}"),
        ("matches", "a" * 1000),
        ("matches", r"\pL" * 300),
        ("matches", "(?=a)"),
        ("matches", r"(a)\1"),
    ):
        condition = {"attribute": "version", "operator": operator, "values": [value]}
        answer = await ada.post(rules_path, json={"rule_type": "attributes", "conditions": [PLAN, condition]})
        assert list(field_errors(answer)) == ["conditions.1.values.0"], value
        answer = await ada.put(rule_path, json={"enabled": False, "conditions": [PLAN, condition]})
        assert list(field_errors(answer)) == ["conditions.1.values.0"], value
    answer = await ada.post(rules_path, json={"rule_type": "attributes", "conditions": [{**PLAN, "operator": "is"}]})
    assert field_errors(answer)["conditions.0.operator"].startswith("must be 'in', 'not_in', ")
    answer = await ada.post(rules_path, json={"rule_type": "attributes", "conditions": [{**PLAN, "negated": True}]})
    assert field_errors(answer) == {"conditions.0.negated": "is not a known field; did you mean negate?"}
    assert (await ada.get(rules_path)).json() == [rule]


async def test_a_rule_with_conditions_is_kept_with_trimmed_names_and_values(ada: Caller, rules_path: str) -> None:
    condition = {"attribute": " plan\n", "operator": "not_in", "values": [" gold ", "ü"], "negate": True}
    given = {"rule_type": "attributes", "conditions": [condition], "rollout_percentage": 7}
    rule = (await ada.post(rules_path, json=given)).json()
    stored = {**condition, "attribute": "plan", "values": ["gold", "ü"], "case_insensitive": False}
    assert (rule["rule_value"], rule["conditions"], rule["rollout_percentage"]) == (None, [stored], 7)
    assert (await ada.get(f"{rules_path}/{rule['id']}")).json() == rule


async def test_a_rule_for_attributes_without_conditions_is_refused_and_an_empty_list_means_everyone(
    ada: Caller, rules_path: str
) -> None:
    answer = await ada.post(rules_path, json={"rule_type": "attributes", "name": "Portugal"})
    assert field_errors(answer) == {"conditions": NO_CONDITIONS}
    assert (await ada.get(rules_path)).json() == []
    answer = await ada.post(rules_path, json={"rule_type": "attributes", "conditions": []})
    assert (answer.status_code, answer.json()["conditions"]) == (201, [])


async def test_a_rule_may_have_ten_thousand_values(ada: Caller, rules_path: str) -> None:
    values = [f"{number:036}" for number in range(10_000)]
    rule = (await ada.post(rules_path, json={**VALID, "conditions": [{**PLAN, "values": values}]})).json()
    assert rule["conditions"][0]["values"] == values
    answer = await ada.post(rules_path, json={**VALID, "conditions": [{**PLAN, "values": ["v" * 1024] * 600}]})
    assert answer.status_code == 413


async def test_the_least_that_is_needed_makes_a_live_rule_of_priority_0(
    ada: Caller, flag: Json, rules_path: str
) -> None:
    answer = await ada.post(rules_path, json=VALID)
    assert answer.status_code == 201
    rule = answer.json()
    assert UUID(rule.pop("id")).version == 7
    assert rule.pop("created_at") == rule.pop("updated_at") == "2026-11-20T10:00:00.000000Z"
    assert rule == {**VALID, "flag_id": flag["id"], "priority": 0, "enabled": True, **DEFAULTS}


async def test_every_field_is_kept_as_it_was_given(ada: Caller, rules_path: str) -> None:
    several: list[dict[str, Any]] = [
        {"rule_type": "user_id", "rule_value": " Größe 😀 ", "priority": -(2**31), "enabled": False, "name": "ü"},
        {"rule_type": "user_id", "rule_value": "v" * 1024, "priority": 2**31 - 1, "enabled": True},
        {"rule_type": "user_email", "rule_value": "Ada@Example.COM", "priority": 1, "enabled": True},
        {"rule_type": "email_domain", "rule_value": "@Acme.com", "priority": 2, "enabled": True},
        {"rule_type": "email_domain", "rule_value": "acme.com", "priority": 2, "enabled": True},
    ]
    for given in several:
        rule = (await ada.post(rules_path, json=given)).json()
        assert rule.items() >= given.items()
        assert (await ada.get(f"{rules_path}/{rule['id']}")).json() == rule


async def test_a_creation_is_recorded_with_its_actor(flagstaff: Flagstaff, ada: Caller, flag: Json) -> None:
    rule = await ada.create_rule(flag)
    change = (await changes_in(flagstaff, {"id": flag["environment_id"]}))[-1]
    assert (change.action, change.actor.email) == ("rule.created", "ada@example.com")
    assert (change.before, change.after) == (None, rule)
    assert str(change.scope.flag_id) == flag["id"]
