"""PUT …/rules/{rule_id}."""

from uuid import uuid4

import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.database import tables
from tests.support.api import Caller, Json, field_errors
from tests.support.changes import changes_in
from tests.support.clock import Clock
from tests.web.flags.conftest import Elsewhere
from tests.web.rules.test_create_rule import INVALID, NO_CONDITIONS, NO_EMAIL

CONDITION = {
    "attribute": "plan",
    "operator": "in",
    "values": ["gold", "silver"],
    "case_insensitive": False,
    "negate": False,
}


async def test_it_needs_a_token(client: Caller, rule_path: str) -> None:
    assert (await client.put(rule_path, json={"enabled": False})).status_code == 401


async def test_a_rule_is_changed_nowhere_but_in_its_place(
    ada: Caller, rule: Json, rule_path: str, elsewhere: list[Elsewhere]
) -> None:
    for why, caller, path in elsewhere:
        assert (await caller.put(path, json={"enabled": False})).status_code == 404, why
    assert (await ada.get(rule_path)).json() == rule


async def test_one_invalid_field_changes_nothing_at_all(ada: Caller, rule: Json, rule_path: str) -> None:
    for given, expected in INVALID:
        answer = await ada.put(rule_path, json={"rule_type": "user_id", "rule_value": "eve", "priority": 1, **given})
        assert field_errors(answer) == expected, given
    assert (await ada.get(rule_path)).json() == rule


async def test_a_type_that_the_present_value_does_not_fit_is_refused(ada: Caller, rule: Json, rule_path: str) -> None:
    answer = await ada.put(rule_path, json={"rule_type": "user_email"})
    assert field_errors(answer) == {"rule_value": NO_EMAIL}
    assert (await ada.get(rule_path)).json() == rule


async def test_a_rule_becomes_one_for_attributes_only_with_conditions_or_an_empty_list_for_everyone(
    ada: Caller, rule: Json, rule_path: str
) -> None:
    type_alone = {"rule_type": "attributes", "rule_value": None}
    answer = await ada.put(rule_path, json=type_alone)
    assert field_errors(answer) == {"conditions": NO_CONDITIONS}
    assert (await ada.get(rule_path)).json() == rule
    everyone = await ada.put(rule_path, json={**type_alone, "conditions": []})
    assert (everyone.status_code, everyone.json()["conditions"]) == (200, [])
    assert (await ada.put(rule_path, json={**type_alone, "name": "Everyone"})).status_code == 200  # it is one already


async def test_conditions_that_a_rule_has_stay_when_it_becomes_one_for_attributes(ada: Caller, rule_path: str) -> None:
    await ada.put(rule_path, json={"conditions": [CONDITION]})
    answer = await ada.put(rule_path, json={"rule_type": "attributes", "rule_value": None})
    assert (answer.status_code, answer.json()["conditions"]) == (200, [CONDITION])


async def test_only_the_given_field_changes_and_each_change_is_later(ada: Caller, rule: Json, rule_path: str) -> None:
    expected = rule
    changes: tuple[Json, ...] = (
        {"rule_value": "example.com"},
        {"priority": -1},
        {"enabled": False},
        {"name": "Testers"},
        {"name": None},
        {"rollout_percentage": 50},
        {"conditions": [CONDITION]},
        {"conditions": []},
        {"rule_type": "attributes", "rule_value": None, "conditions": [CONDITION]},
        {"rule_type": "user_email", "rule_value": "ada@example.com"},
    )
    for given in changes:
        answer = await ada.put(rule_path, json=given)
        assert answer.status_code == 200
        assert answer.json()["updated_at"] > expected["updated_at"]
        expected = {**expected, **given, "updated_at": answer.json()["updated_at"]}
        assert answer.json() == expected
        assert (await ada.get(rule_path)).json() == expected


async def test_the_result_of_a_get_can_be_put_and_changes_nothing(
    flagstaff: Flagstaff, ada: Caller, flag: Json, rule: Json, rule_path: str, clock: Clock
) -> None:
    before = await changes_in(flagstaff, {"id": flag["environment_id"]})
    clock.advance(hours=1)
    others = {"id": str(uuid4()), "flag_id": None, "created_at": 1, "updated_at": "never"}
    for body in (rule, {}, {**rule, **others}):
        assert (await ada.put(rule_path, json=body)).json() == rule
    assert await changes_in(flagstaff, {"id": flag["environment_id"]}) == before


async def test_a_change_is_recorded_with_its_actor(
    flagstaff: Flagstaff, ada: Caller, flag: Json, rule: Json, rule_path: str
) -> None:
    updated = (await ada.put(rule_path, json={"enabled": False})).json()
    change = (await changes_in(flagstaff, {"id": flag["environment_id"]}))[-1]
    assert (change.action, change.before, change.after) == ("rule.updated", rule, updated)


@pytest.mark.both_databases
async def test_a_rule_whose_value_would_be_refused_today_can_be_switched_off_and_mended(
    flagstaff: Flagstaff, ada: Caller, rule: Json, rule_path: str
) -> None:
    async with flagstaff.database.transaction() as transaction:
        legacy = {"rule_type": "email_domain", "rule_value": "*.example.com"}
        await transaction.connection.execute(tables.rules.update().values(legacy))
    assert (await ada.put(rule_path, json={"enabled": False})).json()["enabled"] is False
    assert (await ada.put(rule_path, json=(await ada.get(rule_path)).json())).status_code == 200
    assert list(field_errors(await ada.put(rule_path, json={"rule_value": "*.acme.com"}))) == ["rule_value"]
    assert (await ada.put(rule_path, json={"rule_value": "acme.com"})).status_code == 200
