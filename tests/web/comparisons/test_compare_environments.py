"""GET /api/projects/{project_id}/compare."""

from contextlib import AsyncExitStack
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from tests.support.api import NO_IDS, Caller, Json, environment_path, field_errors, flag_path, project_path
from tests.support.builders import make_environment, make_flag, store_all
from tests.support.tokens import issue

CONDITION = {"attribute": "plan", "operator": "in", "values": ["gold"], "case_insensitive": False, "negate": False}
RED, BLUE = ({"key": key, "weight": 500, "value": key} for key in ("red", "blue"))
UNKNOWN = "must be the id of an environment of this project"


async def compare(caller: Caller, origin: Json, target: Json, **query: Any) -> httpx.Response:
    parameters = {"from": origin["id"], "to": target["id"], **query}
    return await caller.get(f"/api/projects/{origin['project_id']}/compare", params=parameters)


async def compared(caller: Caller, origin: Json, target: Json, **query: Any) -> list[Json]:
    answer = await compare(caller, origin, target, **query)
    assert answer.status_code == 200, answer.text
    found: list[Json] = answer.json()
    return found


async def test_it_needs_a_token(client: Caller, environment: Json, staging: Json) -> None:
    assert (await compare(client, environment, staging)).status_code == 401


async def test_a_project_of_others_is_not_found(ada: Caller, eve: Caller, environment: Json, staging: Json) -> None:
    assert (await compare(eve, environment, staging)).status_code == 404
    for project_id in (*NO_IDS, uuid4()):
        answer = await ada.get(
            f"/api/projects/{project_id}/compare", params={"from": environment["id"], "to": staging["id"]}
        )
        assert answer.status_code == 404, project_id


async def test_a_token_for_one_environment_does_not_compare_it_with_another(
    flagstaff: Flagstaff, callers: AsyncExitStack, ada: Caller, project: Json, environment: Json, staging: Json
) -> None:
    path = f"{project_path(project)}/tokens"
    token = await issue(flagstaff, callers, path, ada, "flags:read", environments=[staging["id"]])
    for origin, target in ((environment, staging), (staging, environment)):
        answer = await compare(token, origin, target)
        assert (answer.status_code, answer.json()["permission"]) == (403, "flags:read")


async def test_invalid_queries_are_refused_by_name(
    ada: Caller, eve: Caller, project: Json, environment: Json, staging: Json
) -> None:
    path = f"{project_path(project)}/compare"
    both = {"from": environment["id"], "to": staging["id"]}
    foreign = await eve.get_environment(await eve.create_project())
    rejections: list[tuple[Json, Json]] = [
        ({}, {"from": "is required", "to": "is required"}),
        ({**both, "from": "production"}, {"from": "must be a UUID"}),
        ({**both, "from": str(uuid4())}, {"from": UNKNOWN}),
        ({**both, "to": foreign["id"]}, {"to": UNKNOWN}),
        ({**both, "to": environment["id"]}, {"to": "must be another environment than from"}),
        ({**both, "limit": "0"}, {"limit": "must be at least 1"}),
        ({**both, "cursor": "x"}, {"cursor": "is not a cursor of this list; leave it out to get the first part"}),
        ({**both, "form": "x"}, {"form": "is not a known field; did you mean from?"}),
    ]
    for query, errors in rejections:
        assert field_errors(await ada.get(path, params=query)) == errors, query


async def test_equal_environments_differ_in_nothing(ada: Caller, environment: Json, staging: Json) -> None:
    assert await compared(ada, environment, staging) == []
    for place in (environment, staging):
        flag = await ada.create_flag(place, variants=[RED], tags=["a"])
        await ada.create_rule(flag, variant="red", conditions=[CONDITION], name="Gold")
        await ada.create_rule(flag, rule_value="grace")
    assert await compared(ada, environment, staging) == []


async def test_flags_of_one_environment_and_differing_fields_are_listed_by_key(
    ada: Caller, environment: Json, staging: Json
) -> None:
    only_from = await ada.create_flag(environment, key="here", name="Here")
    only_to = await ada.create_flag(staging, key="there", enabled=False)
    await ada.create_flag(staging, key="base")
    await ada.create_flag(environment, key="base")
    values = {"rollout_percentage": 25, "fallthrough": "off", "bucketing_key": "x", "stickiness": "tenant"}
    left = await ada.create_flag(environment, key="both", name="Left", tags=["a"], variants=[RED, BLUE], **values)
    right = await ada.create_flag(
        staging, key="both", name="Right", description="There.", enabled=False, prerequisites=[{"flag_key": "base"}]
    )

    found = await compared(ada, environment, staging)

    assert [(each["flag_key"], each["place"]) for each in found] == [
        ("both", "both"),
        ("here", "only_from"),
        ("there", "only_to"),
    ]
    both, here, there = found
    assert both["from"] == {"id": left["id"], "name": "Left", "enabled": True}
    assert both["to"] == {"id": right["id"], "name": "Right", "enabled": False}
    names = "name description tags enabled rollout_percentage fallthrough bucketing_key stickiness variants"
    assert both["fields"] == [
        {"field": name, "from": left[name], "to": right[name]} for name in [*names.split(), "prerequisites"]
    ]
    assert (here["from"]["id"], here["to"], here["fields"]) == (only_from["id"], None, [])
    assert (there["from"], there["to"]["id"], there["archived_in_other"]) == (None, only_to["id"], False)


@pytest.mark.both_databases
async def test_rules_are_compared_by_what_they_say_in_the_order_of_trial(
    ada: Caller, environment: Json, staging: Json
) -> None:
    left, right = [await ada.create_flag(place) for place in (environment, staging)]
    await ada.create_rule(left, rule_value="first", priority=2)
    await ada.create_rule(left, rule_value="second", priority=1)
    await ada.create_rule(right, rule_value="second", priority=1)
    last = await ada.create_rule(right, rule_value="first", priority=2)
    assert await compared(ada, environment, staging) == []

    await ada.put(f"{flag_path(right)}/rules/{last['id']}", json={"rollout_percentage": 50, "conditions": [CONDITION]})

    ((found,),) = [each["fields"] for each in await compared(ada, environment, staging)]
    rule = {"rule_type": "user_id", "rule_value": "first", "priority": 2, "enabled": True, "name": None}
    second = {**rule, "rule_value": "second", "priority": 1, "conditions": [], "rollout_percentage": 100}
    assert found == {
        "field": "rules",
        "from": [{**rule, "conditions": [], "rollout_percentage": 100, "variant": None}, {**second, "variant": None}],
        "to": [
            {**rule, "conditions": [CONDITION], "rollout_percentage": 50, "variant": None},
            {**second, "variant": None},
        ],
    }


@pytest.mark.both_databases
async def test_archived_flags_are_left_out_and_mentioned(ada: Caller, environment: Json, staging: Json) -> None:
    here, there = [await ada.create_flag(place) for place in (environment, staging)]
    await ada.post(f"{flag_path(there)}/archive")
    (found,) = await compared(ada, environment, staging)
    assert (found["place"], found["archived_in_other"]) == ("only_from", True)
    await ada.post(f"{flag_path(here)}/archive")
    assert await compared(ada, environment, staging) == []


@pytest.mark.both_databases
async def test_parts_make_up_the_whole_also_with_many_equal_flags_in_between(
    flagstaff: Flagstaff, ada: Caller, project: Json, environment: Json
) -> None:
    home = make_environment(UUID(project["id"]), id=UUID(environment["id"]))
    await store_all(flagstaff.database, *(make_flag(home, key=f"flag-{number:03}") for number in range(205)))
    copy = await ada.create_environment(project, copy_from=environment["id"])
    for flag in (await ada.get(f"{environment_path(copy)}/flags")).json()[::50]:
        await ada.post(f"{flag_path(flag)}/toggle")
    whole = await compared(ada, environment, copy)
    assert [each["flag_key"] for each in whole] == ["flag-004", "flag-054", "flag-104", "flag-154", "flag-204"]
    answer = await compare(ada, environment, copy, limit=2)
    found = answer.json()
    while "next" in answer.links:
        answer = await ada.get(str(answer.url.join(answer.links["next"]["url"])))
        assert len(answer.json()) <= 2
        found += answer.json()
    assert found == whole
