"""GET …/rules and …/rules/{rule_id}."""

import pytest

from tests.support.api import Caller, Json
from tests.support.clock import Clock
from tests.web.flags.conftest import Elsewhere


async def test_they_need_a_token(client: Caller, rules_path: str, rule_path: str) -> None:
    for path in (rules_path, rule_path):
        assert (await client.get(path)).status_code == 401


async def test_rules_are_found_nowhere_but_in_their_place(
    flags_elsewhere: list[Elsewhere], elsewhere: list[Elsewhere]
) -> None:
    for why, caller, path in [*flags_elsewhere, *elsewhere]:
        assert (await caller.get(path)).status_code == 404, why


async def test_a_rule_is_as_it_was_created(ada: Caller, rule: Json, rule_path: str) -> None:
    answer = await ada.get(rule_path)
    assert (answer.status_code, answer.json()) == (200, rule)


async def test_a_flag_without_rules_has_an_empty_array(ada: Caller, rules_path: str) -> None:
    answer = await ada.get(rules_path)
    assert (answer.status_code, answer.json()) == (200, [])


@pytest.mark.both_databases
async def test_rules_come_by_priority_and_then_oldest_first(
    ada: Caller, flag: Json, rules_path: str, clock: Clock
) -> None:
    rules = []
    for priority in (0, 5, -5, 5, 0):
        rules.append(await ada.create_rule(flag, priority=priority))
        clock.advance(seconds=1)
    expected = [rules[place] for place in (1, 3, 0, 4, 2)]
    assert (await ada.get(rules_path)).json() == expected
