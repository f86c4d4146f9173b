"""POST …/rules."""

from typing import Any
from uuid import UUID

from flagstaff.bootstrap import Flagstaff
from tests.support.api import Caller, Json, field_errors
from tests.support.changes import changes_in
from tests.web.flags.conftest import Elsewhere

VALID = {"rule_type": "user_id", "rule_value": "ada"}
NO_EMAIL = "must be an email address such as ada@example.com"
NO_DOMAIN = "must be a domain such as example.com or @example.com"
INVISIBLE = "must not contain spaces or invisible characters"
WILDCARD = "must not contain *: a domain matches exactly, and each subdomain needs its own rule"
NO_PRIORITY = "must be a whole number from -2147483648 to 2147483647"
NO_TYPE = "must be 'user_id', 'user_email' or 'email_domain'"

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


async def test_the_least_that_is_needed_makes_a_live_rule_of_priority_0(
    ada: Caller, flag: Json, rules_path: str
) -> None:
    answer = await ada.post(rules_path, json=VALID)
    assert answer.status_code == 201
    rule = answer.json()
    assert UUID(rule.pop("id")).version == 7
    assert rule.pop("created_at") == rule.pop("updated_at") == "2026-11-20T10:00:00.000000Z"
    assert rule == {**VALID, "flag_id": flag["id"], "priority": 0, "enabled": True, "name": None}


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
