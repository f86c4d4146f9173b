"""Attributes that a request repeats: they are read once, which does not change the answers."""

from typing import Any

import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.evaluation.snapshot import EnvironmentSnapshot, KnownAttributes
from flagstaff.serving import evaluations
from tests.support.api import Caller, Json, created, field_errors, flag_path


@pytest.fixture
def environ() -> dict[str, str]:
    """No limit."""
    return {"FLAGSTAFF_EVALUATE_RATE_LIMIT": "off"}


@pytest.fixture
async def rule(ada: Caller, environment: Json) -> str:
    """The path of a flag's only rule: on for the plan "pro"."""
    flag = await ada.create_flag(environment, key="flag", fallthrough="off")
    conditions = [{"attribute": "plan", "operator": "in", "values": ["pro"]}]
    made = await ada.create_rule(flag, rule_type="attributes", rule_value=None, conditions=conditions)
    return f"{flag_path(flag)}/rules/{made['id']}"


def snapshot_of(flagstaff: Flagstaff, project: Json) -> EnvironmentSnapshot:
    """Return the snapshot that evaluations of production use now."""
    return flagstaff.serving.sdk_keys.known[project["sdk_key"]].project.environments["production"]


async def is_on(client: Caller, project: Json, user_id: str | None = None, **attributes: Any) -> bool:
    context = {"user_id": user_id, "custom_attributes": attributes}
    answer = await client.evaluate(project["sdk_key"], context=context)
    assert answer.status_code == 200, answer.text
    enabled: bool = answer.json()["flags"]["flag"]["enabled"]
    return enabled


@pytest.mark.parametrize("attributes", [5, None, "plan", [{"plan": "pro"}]])
async def test_what_is_not_an_object_is_refused_each_time(
    client: Caller, project: Json, rule: str, attributes: Any
) -> None:
    for environment in ("production", "missing"):
        for _ in range(2):
            context = {"custom_attributes": attributes}
            answer = await client.evaluate(project["sdk_key"], environment=environment, context=context)
            assert field_errors(answer) == {"context.custom_attributes": "must be an object"}
    assert await is_on(client, project, plan="pro")


async def test_an_environment_without_conditions_refuses_it_as_well(
    client: Caller, project: Json, environment: Json
) -> None:
    answer = await client.evaluate(project["sdk_key"], context={"custom_attributes": "plan"})
    assert field_errors(answer).keys() == {"context.custom_attributes"}


async def test_repeated_attributes_are_read_once_and_answer_the_same(
    client: Caller, project: Json, rule: str, flagstaff: Flagstaff
) -> None:
    seen: list[dict[bytes, KnownAttributes]] = []
    for user in ("ada", "grace", None):
        assert await is_on(client, project, user, plan="pro", country="PT")
        assert not await is_on(client, project, user, plan="free", country="PT")
        seen.append(dict(snapshot_of(flagstaff, project).known))
    assert len(seen[0]) == 2
    for later in seen[1:]:
        assert all(later[raw] is seen[0][raw] for raw in seen[0] | later), "read again"


async def test_a_change_forgets_what_was_known(
    client: Caller, ada: Caller, project: Json, rule: str, flagstaff: Flagstaff
) -> None:
    assert await is_on(client, project, plan="pro")
    conditions = [{"attribute": "plan", "operator": "in", "values": ["free"]}]
    answer = await ada.put(rule, json={"conditions": conditions})
    assert answer.status_code == 200, answer.text
    assert not await is_on(client, project, plan="pro")
    assert await is_on(client, project, plan="free")


async def test_only_short_attributes_of_some_requests_are_remembered(
    client: Caller, project: Json, rule: str, flagstaff: Flagstaff, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evaluations, "_KNOWN_BYTES", 1500)
    for number in range(10):
        assert await is_on(client, project, plan="pro", request=number)
    assert len(snapshot_of(flagstaff, project).known) == 3
    assert await is_on(client, project, plan="pro", note="x" * 300)
    assert max(map(len, snapshot_of(flagstaff, project).known)) < 100


async def test_what_takes_much_memory_is_not_remembered(
    client: Caller, project: Json, rule: str, flagstaff: Flagstaff
) -> None:
    for plan in (["pro", [[]]], ["pro", {}], ["pro"] * 11):
        assert await is_on(client, project, plan=plan)
    assert not await is_on(client, project, plan={"plan": "pro"})
    assert snapshot_of(flagstaff, project).known == {}
    assert await is_on(client, project, plan=["free", "pro"])
    assert len(snapshot_of(flagstaff, project).known) == 1


async def test_the_more_rules_there_are_the_fewer_attributes_are_remembered(
    client: Caller, ada: Caller, project: Json, rule: str, flagstaff: Flagstaff, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evaluations, "_KNOWN_BYTES", 1000)
    for number in range(2):
        await is_on(client, project, number=number)
    assert len(snapshot_of(flagstaff, project).known) == 2
    for number in range(8):
        conditions = [{"attribute": "country", "operator": "in", "values": [f"{number}"]}]
        body = {"rule_type": "attributes", "rule_value": None, "conditions": conditions}
        created(await ada.post(rule.rpartition("/")[0], json=body))
    for number in range(2):
        await is_on(client, project, number=number)
    assert len(snapshot_of(flagstaff, project).known) == 1
