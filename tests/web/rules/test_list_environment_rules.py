"""GET …/environments/{env_id}/rules."""

import pytest

from tests.support.api import Caller, Json
from tests.web.flags.conftest import Elsewhere


def rules_of(flag: Json) -> str:
    """The path of the rules of the flag's environment."""
    return f"/api/projects/{flag['project_id']}/environments/{flag['environment_id']}/rules"


async def test_it_needs_a_token(client: Caller, flag: Json) -> None:
    assert (await client.get(rules_of(flag))).status_code == 401


async def test_an_environment_that_is_not_there_or_not_yours_is_not_found(
    ada: Caller, eve: Caller, flag: Json, rule: Json
) -> None:
    other = await ada.create_project()
    for elsewhere in (
        Elsewhere("another account's", eve, rules_of(flag)),
        Elsewhere("another project", ada, rules_of({**flag, "project_id": other["id"]})),
        Elsewhere("no such environment", ada, rules_of({**flag, "environment_id": flag["id"]})),
        Elsewhere("no UUID", ada, rules_of({**flag, "environment_id": "production"})),
    ):
        assert (await elsewhere.caller.get(elsewhere.path)).status_code == 404, elsewhere.why


async def test_an_environment_without_rules_is_an_empty_array(ada: Caller, flag: Json) -> None:
    answer = await ada.get(rules_of(flag))
    assert (answer.status_code, answer.json()) == (200, [])


@pytest.mark.both_databases
async def test_the_rules_of_all_flags_come_flag_by_flag_in_the_order_in_which_they_are_tried(
    ada: Caller, flag: Json
) -> None:
    environment = {"id": flag["environment_id"], "project_id": flag["project_id"]}
    later = await ada.create_flag(environment, key="later")
    staging = await ada.get_environment({"id": flag["project_id"]}, "staging")
    await ada.create_rule(await ada.create_flag(staging))
    expected = [
        await ada.create_rule(flag, priority=5),
        await ada.create_rule(flag, priority=1, rule_value="first of its priority"),
        await ada.create_rule(flag, priority=1),
        await ada.create_rule(later, priority=9),
    ]
    assert (await ada.get(rules_of(flag))).json() == expected
