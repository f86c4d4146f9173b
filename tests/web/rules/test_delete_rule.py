"""DELETE …/rules/{rule_id}."""

import asyncio

import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from tests.support.api import Caller, Json
from tests.support.changes import changes_in
from tests.web.flags.conftest import Elsewhere


async def test_it_needs_a_token(client: Caller, rule_path: str) -> None:
    assert (await client.delete(rule_path)).status_code == 401


async def test_a_rule_is_deleted_nowhere_but_in_its_place(
    ada: Caller, rule: Json, rule_path: str, elsewhere: list[Elsewhere]
) -> None:
    for why, caller, path in elsewhere:
        assert (await caller.delete(path)).status_code == 404, why
    assert (await ada.get(rule_path)).json() == rule


async def test_a_deleted_rule_is_gone_and_no_other(
    ada: Caller, flag: Json, rules_path: str, rule: Json, rule_path: str
) -> None:
    kept = await ada.create_rule(flag)
    answer = await ada.delete(rule_path)
    assert (answer.status_code, answer.content) == (204, b"")
    assert (await ada.get(rule_path)).status_code == 404
    assert (await ada.get(rules_path)).json() == [kept]


@pytest.mark.both_databases
async def test_a_rule_is_deleted_once_and_that_is_written_down(
    flagstaff: Flagstaff, ada: Caller, flag: Json, rule: Json, rule_path: str
) -> None:
    answers = await asyncio.gather(*(ada.delete(rule_path) for _ in range(8)))
    assert sorted(answer.status_code for answer in answers) == [204] + [404] * 7
    changes = [
        change
        for change in await changes_in(flagstaff, {"id": flag["environment_id"]})
        if change.action == "rule.deleted"
    ]
    assert [(change.before, change.after) for change in changes] == [(rule, None)]
