"""POST /api/projects/{project_id}/copy."""

import asyncio
from collections import Counter
from contextlib import AsyncExitStack
from typing import Any
from uuid import uuid4

import httpx
import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.copying import copies
from tests.support.api import NO_IDS, Caller, Json, environment_path, field_errors, flag_path, project_path
from tests.support.changes import changes_in
from tests.support.members import join
from tests.support.tokens import issue

CONDITION = {"attribute": "plan", "operator": "in", "values": ["gold"], "case_insensitive": False, "negate": False}
RED, BLUE = ({"key": key, "weight": 500, "value": key} for key in ("red", "blue"))
UNKNOWN = "must be the id of an environment of this project"
KEY = "new-checkout"


async def copy(caller: Caller, origin: Json, target: Json, *keys: str, **body: Any) -> httpx.Response:
    given = {"from": origin["id"], "to": target["id"], "flag_keys": keys or [KEY], **body}
    return await caller.post(f"/api/projects/{origin['project_id']}/copy", json=given)


async def copied(caller: Caller, origin: Json, target: Json, *keys: str, **body: Any) -> list[Json]:
    answer = await copy(caller, origin, target, *keys, **body)
    assert answer.status_code == 200, answer.text
    found: list[Json] = answer.json()["alterations"]
    return found


async def differences(caller: Caller, origin: Json, target: Json) -> list[Json]:
    query = {"from": origin["id"], "to": target["id"]}
    found: list[Json] = (await caller.get(f"/api/projects/{origin['project_id']}/compare", params=query)).json()
    return found


async def flags_of(caller: Caller, environment: Json) -> dict[str, Json]:
    return {each["key"]: each for each in (await caller.get(f"{environment_path(environment)}/flags")).json()}


async def rules_of(caller: Caller, flag: Json) -> list[Json]:
    found: list[Json] = (await caller.get(f"{flag_path(flag)}/rules")).json()
    return found


def problems(answer: httpx.Response) -> dict[str, str]:
    assert answer.status_code == 409, answer.text
    return {each["field"]: each["message"] for each in answer.json()["errors"]}


async def test_it_needs_a_token(client: Caller, ada: Caller, environment: Json, staging: Json) -> None:
    await ada.create_flag(environment)
    assert (await copy(client, environment, staging)).status_code == 401


async def test_a_project_of_others_is_not_found(ada: Caller, eve: Caller, environment: Json, staging: Json) -> None:
    await ada.create_flag(environment)
    assert (await copy(eve, environment, staging)).status_code == 404
    for project_id in (*NO_IDS, uuid4()):
        body = {"from": environment["id"], "to": staging["id"], "flag_keys": [KEY]}
        assert (await ada.post(f"/api/projects/{project_id}/copy", json=body)).status_code == 404
    assert await flags_of(ada, staging) == {}


async def test_roles_copy_to_where_they_may_write(
    flagstaff: Flagstaff, ada: Caller, eve: Caller, project: Json, environment: Json, staging: Json
) -> None:
    await ada.create_flag(environment)
    await ada.create_flag(staging)
    await join(flagstaff, project, eve, "viewer", {"staging": "editor"})
    for dry_run in (True, False):
        answer = await copy(eve, staging, environment, dry_run=dry_run)
        assert (answer.status_code, answer.json()["permission"]) == (403, "flags:write")
        answer = await copy(eve, staging, environment, dry_run=dry_run, parts=["rules"])
        assert (answer.status_code, answer.json()["permission"]) == (403, "rules:write")
    assert (await copy(eve, environment, staging)).status_code == 200


async def test_a_token_copies_what_it_may_write(
    flagstaff: Flagstaff, callers: AsyncExitStack, ada: Caller, project: Json, environment: Json, staging: Json
) -> None:
    flag = await ada.create_flag(environment)
    other = await ada.create_flag(staging, enabled=False)
    path = f"{project_path(project)}/tokens"
    token = await issue(flagstaff, callers, path, ada, "flags:read", "flags:toggle")
    for parts in (["state", "rollout"], ["state", "rules"], ["details"]):
        assert (await copy(token, environment, staging, parts=parts)).status_code == 403
    (alteration,) = await copied(token, environment, staging, parts=["state"])
    assert (alteration["action"], alteration["resource_id"]) == ("flag.toggled", other["id"])
    await ada.delete(flag_path(other))
    answer = await copy(token, environment, staging, parts=["state"])
    assert (answer.status_code, answer.json()["permission"]) == (403, "flags:write")

    token = await issue(flagstaff, callers, path, ada, "flags:read", "rules:write")
    await ada.create_flag(staging)
    await ada.create_rule(flag)
    assert len(await copied(token, environment, staging, parts=["rules"])) == 1
    await ada.put(flag_path(flag), json={"stickiness": "tenant"})
    await ada.create_rule(flag, rollout_percentage=50)
    answer = await copy(token, environment, staging, parts=["rules"])  # its share needs the stickiness
    assert (answer.status_code, answer.json()["permission"]) == (403, "flags:write")
    token = await issue(flagstaff, callers, path, ada, "flags:write", "rules:write")
    assert (await copy(token, environment, staging)).json()["permission"] == "flags:read"


async def test_invalid_bodies_are_refused_by_name(
    ada: Caller, eve: Caller, project: Json, environment: Json, staging: Json
) -> None:
    await ada.create_flag(environment)
    foreign = await eve.get_environment(await eve.create_project())
    body = {"from": environment["id"], "to": staging["id"], "flag_keys": [KEY]}
    absent = "must be the key of a flag of production that is not archived"
    rejections: list[tuple[Json, Json]] = [
        ({}, {"from": "is required", "to": "is required", "flag_keys": "is required"}),
        ({**body, "from": 7}, {"from": "must be a UUID"}),
        ({**body, "from": foreign["id"]}, {"from": UNKNOWN}),
        ({**body, "to": str(uuid4())}, {"to": UNKNOWN}),
        ({**body, "to": environment["id"]}, {"to": "must be another environment than from"}),
        ({**body, "flag_keys": []}, {"flag_keys": "must have at least one key"}),
        ({**body, "flag_keys": [KEY, KEY]}, {"flag_keys": "must not have a key twice"}),
        ({**body, "flag_keys": ["k"] * 101}, {"flag_keys": "must have at most 100 items"}),
        ({**body, "flag_keys": ["a", KEY, "b"]}, {"flag_keys.0": absent, "flag_keys.2": absent}),
        ({**body, "parts": []}, {"parts": "must have at least one part; leave it out for all"}),
        ({**body, "dry_run": 1}, {"dry_run": "must be true or false"}),
        ({**body, "part": []}, {"part": "is not a known field; did you mean parts?"}),
    ]
    for given, errors in rejections:
        assert field_errors(await ada.post(f"{project_path(project)}/copy", json=given)) == errors, given
    answer = await copy(ada, environment, staging, parts=["state", "tags"])
    assert field_errors(answer)["parts.1"].startswith("is not a part; the parts are details, state, rollout, rules")
    assert await flags_of(ada, staging) == {}


async def test_a_new_flag_comes_with_everything_and_then_the_environments_are_equal(
    ada: Caller, client: Caller, project: Json, environment: Json, staging: Json
) -> None:
    await ada.create_segment(project)
    base = await ada.create_flag(environment, key="base", variants=[BLUE])
    values = {"rollout_percentage": 25, "fallthrough": "off", "bucketing_key": "x", "stickiness": "tenant"}
    needs = [{"flag_key": "base", "variants": ["blue"]}]
    details = {"tags": ["a"], "owner": "payments", "keep": True}
    flag = await ada.create_flag(environment, variants=[RED, BLUE], prerequisites=needs, **details, **values)
    for rule in (
        {"rule_value": "late"},
        {"rule_type": "segment", "rule_value": "beta", "priority": 9},
        {"rule_value": "later", "conditions": [CONDITION], "rollout_percentage": 7, "variant": "red", "name": "Few"},
    ):
        await ada.create_rule(flag, **rule)

    dry = await copied(ada, environment, staging, "base", KEY, dry_run=True)
    assert await flags_of(ada, staging) == {}
    alterations = await copied(ada, environment, staging, "base", KEY)

    assert [each["action"] for each in alterations] == ["flag.created", "flag.created", *["rule.created"] * 3]
    assert [each["fields"] for each in dry] == [each["fields"] for each in alterations]
    assert await differences(ada, environment, staging) == []
    assert list(await flags_of(ada, staging)) == [KEY, "base"]  # newest first
    assert {each["id"] for each in (await flags_of(ada, staging)).values()}.isdisjoint({flag["id"], base["id"]})
    users = [{"user_id": f"user-{number}", "custom": {"tenant": f"t{number}"}} for number in range(30)]
    for context in users:
        here, there = [
            (await client.evaluate(project["sdk_key"], key, context)).json()["flags"]
            for key in ("production", "staging")
        ]
        assert here == there


async def test_a_new_flag_is_off_unless_all_that_limits_its_users_comes_with_it(
    ada: Caller, environment: Json, staging: Json
) -> None:
    details = {"name": "Named", "description": "Described.", "tags": ["a"], "owner": "payments", "keep": True}
    await ada.create_flag(environment, rollout_percentage=5, **details)
    for parts in (["state"], ["details"], ["rollout", "rules", "prerequisites"], ["state", "rollout", "rules"]):
        await copied(ada, environment, staging, parts=parts)
        flag = (await flags_of(ada, staging))[KEY]
        assert {name: flag[name] for name in details} == details
        assert flag["enabled"] is False, parts
        await ada.delete(flag_path(flag))
    await copied(ada, environment, staging, parts=["state", "rollout", "rules", "prerequisites"])
    flag = (await flags_of(ada, staging))[KEY]
    assert (flag["enabled"], flag["rollout_percentage"]) == (True, 5)


@pytest.mark.parametrize(
    ("part", "fields"),
    [
        ("details", ["name", "description", "tags", "owner", "keep"]),
        ("state", ["enabled"]),
        ("rollout", ["rollout_percentage", "fallthrough", "bucketing_key", "stickiness"]),
        ("variants", ["bucketing_key", "stickiness", "variants"]),
        ("prerequisites", ["prerequisites"]),
        ("rules", []),
    ],
)
async def test_of_a_flag_that_exists_only_the_chosen_part_changes(
    ada: Caller, environment: Json, staging: Json, part: str, fields: list[str]
) -> None:
    for place in (environment, staging):
        await ada.create_flag(place, key="base")
    values = {"rollout_percentage": 25, "fallthrough": "off", "bucketing_key": "x", "stickiness": "tenant"}
    rest = {"variants": [RED], "prerequisites": [{"flag_key": "base"}], "tags": ["a"], "description": "Here."}
    rest |= {"owner": "payments", "keep": True}
    here = await ada.create_flag(environment, name="Here", **values, **rest)
    there = await ada.create_flag(staging, name="There", enabled=False)
    await ada.create_rule(here)
    await ada.create_rule(there, rule_value="grace")

    alterations = await copied(ada, environment, staging, parts=[part])

    now = (await flags_of(ada, staging))[KEY]
    assert now == {**there, **{name: here[name] for name in fields}, "updated_at": now["updated_at"]}
    of_flag = [each for each in alterations if each["resource_id"] == there["id"]]
    altered = [
        {"field": name, "before": there[name], "after": here[name]} for each in of_flag for name in sorted(fields)
    ]
    assert sorted((field for each in of_flag for field in each["fields"]), key=lambda each: each["field"]) == altered
    assert [each["rule_value"] for each in await rules_of(ada, there)] == ["ada" if part == "rules" else "grace"]
    assert await copied(ada, environment, staging, parts=[part]) == []


@pytest.mark.both_databases
async def test_rules_that_say_the_same_stay_and_the_order_is_the_same(
    ada: Caller, environment: Json, staging: Json
) -> None:
    here, there = [await ada.create_flag(place) for place in (environment, staging)]

    async def write(flag: Json, *rules: tuple[str, int]) -> list[Json]:
        for rule in await rules_of(ada, flag):
            await ada.delete(f"{flag_path(flag)}/rules/{rule['id']}")
        return [await ada.create_rule(flag, rule_value=value, priority=priority) for value, priority in rules]

    cases: list[tuple[list[tuple[str, int]], list[tuple[str, int]], list[str]]] = [
        ([("a", 0), ("b", 0)], [("a", 0), ("x", 0), ("b", 0)], ["deleted"]),
        ([("a", 0), ("b", 0), ("c", 0)], [("a", 0), ("b", 0)], ["created"]),
        ([("a", 0), ("b", 0)], [("b", 0)], ["updated", "created"]),
        ([("a", 0), ("b", 0)], [("b", 0), ("a", 0)], ["updated", "updated"]),
        ([("a", 5), ("b", 0)], [("a", 0), ("b", 5)], ["updated", "updated"]),
        ([("a", 5)], [("a", 0), ("b", -1)], ["created", "deleted", "deleted"]),
        ([], [("a", 0), ("b", 1)], ["deleted", "deleted"]),
        ([("a", -3)], [], ["created"]),
    ]
    for wanted, present, verbs in cases:
        await write(here, *wanted)
        await write(there, *present)
        actions = [each["action"] for each in await copied(ada, environment, staging, parts=["rules"])]
        assert actions == [f"rule.{verb}" for verb in verbs], (wanted, present)
        assert [(each["rule_value"], each["priority"]) for each in await rules_of(ada, there)] == sorted(
            wanted, key=lambda each: -each[1]
        )
        assert await differences(ada, environment, staging) == []


async def test_everything_that_is_written_is_in_the_trail_and_can_be_put_back(
    flagstaff: Flagstaff, ada: Caller, project: Json, environment: Json, staging: Json
) -> None:
    here, there = await ada.create_flag(environment, rollout_percentage=5), await ada.create_flag(staging)
    await ada.create_rule(here)
    kept = await ada.create_rule(there, rule_value="grace")
    before = len(await changes_in(flagstaff, staging))

    answer = await copy(ada, environment, staging)

    alterations = answer.json()["alterations"]
    made = (await changes_in(flagstaff, staging))[before:]
    assert [each.action for each in made] == ["flag.updated", "rule.updated"]
    assert [each["action"] for each in alterations] == ["flag.updated", "rule.updated"]
    assert sorted(made, key=lambda each: each.at) == made
    assert answer.headers["flagstaff-change"] == alterations[-1]["change_id"]
    assert "flagstaff-revision" in answer.headers
    for each in reversed(alterations):
        path = f"{project_path(project)}/changes/{each['change_id']}/restore"
        assert (await ada.post(path, json={"if_unchanged": True})).status_code == 200
    assert (await flags_of(ada, staging))[KEY]["rollout_percentage"] == 0
    (rule,) = await rules_of(ada, there)
    assert (rule["id"], rule["rule_value"]) == (kept["id"], "grace")
    await ada.delete(flag_path(there))
    deletion = (await ada.get(f"{project_path(project)}/changes", params={"limit": 1})).json()["items"][0]["id"]
    assert (await ada.post(f"{project_path(project)}/changes/{deletion}/restore")).status_code == 200
    assert [each["rule_value"] for each in await rules_of(ada, there)] == ["grace"]


async def test_the_fingerprint_of_a_dry_run_keeps_something_else_from_being_copied(
    ada: Caller, environment: Json, staging: Json
) -> None:
    here, there = await ada.create_flag(environment), await ada.create_flag(staging, rollout_percentage=5)
    await ada.create_rule(here)
    await ada.create_flag(environment, key="new")
    dry = (await copy(ada, environment, staging, "new", KEY, dry_run=True)).json()
    assert dry == {
        **(await copy(ada, environment, staging, "new", KEY, dry_run=True)).json(),
        "alterations": dry["alterations"],
    }
    await ada.put(flag_path(there), json={"rollout_percentage": 50})
    answer = await copy(ada, environment, staging, "new", KEY, if_unchanged=dry["fingerprint"])
    assert answer.status_code == 409
    assert answer.json()["detail"].startswith("The flags have been changed since the dry run.")
    assert list(await flags_of(ada, staging)) == [KEY]
    await ada.put(flag_path(there), json={"rollout_percentage": 5})
    answer = await copy(ada, environment, staging, "new", KEY, if_unchanged=dry["fingerprint"])
    assert (answer.status_code, answer.json()["fingerprint"]) == (200, dry["fingerprint"])


async def test_what_a_flag_needs_must_be_there_or_come_with_it(ada: Caller, environment: Json, staging: Json) -> None:
    await ada.create_flag(environment, key="base", variants=[RED])
    await ada.create_flag(environment, prerequisites=[{"flag_key": "base", "variants": ["red"]}])
    for dry_run in (True, False):
        answer = await copy(ada, environment, staging, dry_run=dry_run)
        reason = "needs base, which staging does not have, or only archived; copy that flag as well"
        assert problems(answer) == {"flag_keys.0": reason}
        assert answer.json()["detail"] == "1 of the flags cannot be copied to staging. Nothing was copied."
    base = await ada.create_flag(staging, key="base")
    answer = await copy(ada, environment, staging)
    assert problems(answer) == {"flag_keys.0": "prerequisites.0.variants.0 must be the key of a variant of base"}
    await ada.post(f"{flag_path(base)}/archive")
    answer = await copy(ada, environment, staging, KEY, "base")
    reason = "is the key of an archived flag of staging; unarchive or delete that one first"
    assert problems(answer)["flag_keys.1"] == reason
    await ada.delete(flag_path(base))
    await copied(ada, environment, staging, KEY, "base")
    assert await differences(ada, environment, staging) == []


async def test_prerequisites_that_would_form_a_cycle_there_are_refused(
    ada: Caller, environment: Json, staging: Json
) -> None:
    for place in (environment, staging):
        for key in ("first", "second"):
            await ada.create_flag(place, key=key)
    here, there = await flags_of(ada, environment), await flags_of(ada, staging)
    await ada.put(flag_path(here["first"]), json={"prerequisites": [{"flag_key": "second"}]})
    await ada.put(flag_path(there["second"]), json={"prerequisites": [{"flag_key": "first"}]})
    answer = await copy(ada, environment, staging, "first")
    assert "would form a cycle: first needs second needs first" in problems(answer)["flag_keys.0"]
    await copied(ada, environment, staging, "first", "second")
    assert await differences(ada, environment, staging) == []


@pytest.mark.both_databases
async def test_variants_that_are_given_or_needed_there_are_not_taken_away(
    ada: Caller, environment: Json, staging: Json
) -> None:
    here = await ada.create_flag(environment, variants=[RED])
    there = await ada.create_flag(staging, variants=[RED, BLUE])
    rule = await ada.create_rule(there, variant="blue")
    answer = await copy(ada, environment, staging, parts=["variants"])
    reason = "would have a rule for the variant blue, which it would not have; copy rules and variants"
    assert problems(answer) == {"flag_keys.0": reason}
    await ada.create_rule(here, variant="red")
    await ada.put(flag_path(there), json={"variants": [BLUE]})
    answer = await copy(ada, environment, staging, parts=["rules"])
    assert problems(answer)["flag_keys.0"].startswith("would have a rule for the variant red")
    await ada.delete(f"{flag_path(there)}/rules/{rule['id']}")
    await ada.create_flag(staging, key="needing", prerequisites=[{"flag_key": KEY, "variants": ["blue"]}])
    answer = await copy(ada, environment, staging)
    assert problems(answer)["flag_keys.0"].startswith("The variant blue is a prerequisite of needing.")


@pytest.mark.parametrize(
    ("own", "parts"),
    [
        ("rollout", ["variants"]),
        ("rollout", ["rules", "variants"]),
        ("variants", ["rollout", "rules"]),
        ("rules", ["rollout", "variants"]),
        ("rules", ["variants"]),
    ],
)
async def test_shares_that_stay_keep_their_users_or_the_flag_is_refused(
    ada: Caller, environment: Json, staging: Json, own: str, parts: list[str]
) -> None:
    shares: dict[str, Json] = {"rollout": {"rollout_percentage": 50}, "variants": {"variants": [RED, BLUE]}}
    here = await ada.create_flag(environment, bucketing_key="x", variants=[RED])
    await ada.create_rule(here, rollout_percentage=50)
    there = await ada.create_flag(staging, **shares.get(own, {}))
    if own == "rules":
        await ada.create_rule(there, rollout_percentage=50)
    for dry_run in (True, False):
        answer = await copy(ada, environment, staging, parts=parts, dry_run=dry_run)
        reason = (
            f"would choose other users for its own {own}, because its bucketing_key or stickiness would change; "
            "copy rollout, rules and variants together"
        )
        assert problems(answer) == {"flag_keys.0": reason}
    await ada.put(flag_path(there), json={"bucketing_key": "x"})
    await copied(ada, environment, staging, parts=parts)
    await ada.put(flag_path(there), json={"bucketing_key": None})
    await copied(ada, environment, staging, parts=["rollout", "rules", "variants"])
    assert [each["field"] for found in await differences(ada, environment, staging) for each in found["fields"]] == []


async def test_an_archived_flag_is_neither_copied_nor_changed(ada: Caller, environment: Json, staging: Json) -> None:
    here, there = [await ada.create_flag(place, name=place["key"]) for place in (environment, staging)]
    await ada.post(f"{flag_path(there)}/archive")
    assert list(problems(await copy(ada, environment, staging))) == ["flag_keys.0"]
    await ada.post(f"{flag_path(here)}/archive")
    assert list(field_errors(await copy(ada, environment, staging))) == ["flag_keys.0"]
    assert (await ada.get(flag_path(there))).json()["name"] == "staging"


@pytest.mark.parametrize("environ", [{"FLAGSTAFF_MAX_RULES_PER_FLAG": "2", "FLAGSTAFF_MAX_FLAGS_PER_ENVIRONMENT": "2"}])
async def test_quotas_hold_and_nothing_is_copied(ada: Caller, environment: Json, staging: Json) -> None:
    for key in ("one", "two"):
        await ada.create_flag(environment, key=key)
    await ada.create_flag(staging)
    for dry_run in (True, False):
        answer = await copy(ada, environment, staging, "one", "two", dry_run=dry_run)
        assert (answer.status_code, "FLAGSTAFF_MAX_FLAGS_PER_ENVIRONMENT" in answer.json()["detail"]) == (409, True)
    assert list(await flags_of(ada, staging)) == [KEY]


async def test_flags_with_too_many_rules_are_refused(
    ada: Caller, environment: Json, staging: Json, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("flagstaff.copying.copy_plans.RULES_MAX", 2)
    assert copies.RULES_MAX >= 1_000  # the fields that a flag has
    for place in (environment, staging):
        flag = await ada.create_flag(place)
        await ada.create_rule(flag)
    await copied(ada, environment, staging)
    await ada.create_rule(flag)
    reason = "have 3 rules in both environments; at most 2 can be copied at once. Copy fewer flags"
    assert field_errors(await copy(ada, environment, staging)) == {"flag_keys": reason}


async def test_a_copy_that_would_change_too_much_is_refused_but_one_flag_is_not(
    ada: Caller, environment: Json, staging: Json, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("flagstaff.copying.copies_service.ALTERED_MAX", 2)
    await ada.create_flag(environment, key="one")
    two = await ada.create_flag(environment, key="two")
    for value in ("ada", "eve"):
        await ada.create_rule(two, rule_value=value)
    reason = "would change 4 flags and rules; at most 2 can be changed at once. Copy fewer flags"
    for dry_run in (True, False):
        answer = await copy(ada, environment, staging, "one", "two", dry_run=dry_run)
        assert field_errors(answer) == {"flag_keys": reason}
    assert await flags_of(ada, staging) == {}
    assert (await copy(ada, environment, staging, "two")).status_code == 200


async def test_a_copy_with_an_idempotency_key_happens_once(ada: Caller, environment: Json, staging: Json) -> None:
    await ada.create_flag(environment)
    body = {"from": environment["id"], "to": staging["id"], "flag_keys": [KEY]}
    path = f"/api/projects/{environment['project_id']}/copy"
    answers = [await ada.post(path, json=body, headers={"idempotency-key": "once"}) for _ in range(2)]
    assert answers[0].json() == answers[1].json()
    assert answers[1].headers["idempotency-replayed"] == "true"
    assert [each["action"] for each in answers[0].json()["alterations"]] == ["flag.created"]


@pytest.mark.both_databases
async def test_of_copies_at_once_with_one_fingerprint_one_is_carried_out(
    ada: Caller, environment: Json, staging: Json
) -> None:
    await ada.create_flag(environment)
    dry = (await copy(ada, environment, staging, dry_run=True)).json()
    answers = await asyncio.gather(
        *(copy(ada, environment, staging, if_unchanged=dry["fingerprint"]) for _ in range(6))
    )
    assert Counter(answer.status_code for answer in answers) == {200: 1, 409: 5}
    assert list(await flags_of(ada, staging)) == [KEY]
