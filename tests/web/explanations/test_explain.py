"""POST …/explain."""

from typing import Any
from uuid import uuid4

import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.insight import explanations_routes
from tests.support.api import Caller, Json, environment_path, field_errors
from tests.web.conftest import ListChanges

FLAG = {"name": "Checkout", "key": "checkout"}
RULE = {"rule_type": "user_id", "rule_value": "ada"}
ATTRIBUTES: Json = {"rule_type": "attributes", "rule_value": None}
PLAN = {"attribute": "plan", "operator": "in", "values": ["gold"]}
NO_FLAG = "must be the key of a flag of this environment"
NO_RULE = "must be the id of a rule of the saved flag; leave it out for a new rule"

MALFORMED: list[tuple[Any, dict[str, str]]] = [
    ([], {"body": "must be a JSON object, sent with Content-Type: application/json"}),
    ({"contxt": {}}, {"contxt": "is not a known field; did you mean context?"}),
    ({"context": "ada"}, {"context": "must be an object or null"}),
    ({"context": {"user_id": 7}}, {"context.user_id": "must be a string or null"}),
    ({"context": {"user_email": []}}, {"context.user_email": "must be a string or null"}),
    ({"context": {"custom_attributes": None}}, {"context.custom_attributes": "must be an object"}),
    ({"context": {"user_id": "u" * 1025}}, {"context.user_id": "must be at most 1,024 characters long"}),
    ({"context": {"user_id": "a\x00"}}, {"context.user_id": "must not contain the NUL character"}),
    ({"flag_keys": "flag"}, {"flag_keys": "must be a list"}),
    ({"flag_keys": ["Flag"]}, {"flag_keys.0": "must start with a lowercase letter and consist of a-z, 0-9, _ and -"}),
    ({"flag_keys": ["flag"] * 1001}, {"flag_keys": "must have at most 1,000 items"}),
    ({"flag_keys": ["missing", "flag", "other"]}, {"flag_keys.0": NO_FLAG, "flag_keys.2": NO_FLAG}),
    ({"flag": []}, {"flag": "must be an object"}),
    ({"flag": {}}, {"flag.name": "is required", "flag.key": "is required"}),
    ({"flag": {**FLAG, "rulez": []}}, {"flag.rulez": "is not a known field; did you mean rules?"}),
    (
        {"flag": {**FLAG, "rollout_percentage": 101}},
        {"flag.rollout_percentage": "must be a whole number from 0 to 100, where 0 means everyone"},
    ),
    (
        {"flag": {**FLAG, "variants": [{"key": "a", "weight": 0, "value": 1}]}},
        {"flag.variants": "must have a weight above 0 for at least one variant"},
    ),
    ({"flag": {**FLAG, "prerequisites": [{"flag_key": "no"}]}}, {"flag.prerequisites.0.flag_key": NO_FLAG}),
    (
        {"flag": {**FLAG, "prerequisites": [{"flag_key": "flag", "variants": ["x"]}]}},
        {"flag.prerequisites.0.variants.0": "must be the key of a variant of flag"},
    ),
    ({"flag": {**FLAG, "rules": {}}}, {"flag.rules": "must be a list"}),
    ({"flag": {**FLAG, "rules": [RULE] * 1001}}, {"flag.rules": "must have at most 1,000 items"}),
    (
        {"flag": {**FLAG, "rules": [RULE, {**RULE, "enabld": True}]}},
        {"flag.rules.1.enabld": "is not a known field; did you mean enabled?"},
    ),
    (
        {"flag": {**FLAG, "rules": [RULE, {**RULE, "rule_value": " "}]}},
        {"flag.rules.1.rule_value": "must not be blank"},
    ),
    (
        {"flag": {**FLAG, "rules": [{**RULE, "rule_type": "segment", "rule_value": "no"}]}},
        {"flag.rules.0.rule_value": "must be the key of a segment of this project"},
    ),
    (
        {"flag": {**FLAG, "rules": [RULE, ATTRIBUTES]}},
        {"flag.rules.1.conditions": "must be given for the type attributes; an empty list means everyone"},
    ),
    (
        {"flag": {**FLAG, "rules": [{**RULE, "variant": "x"}]}},
        {"flag.rules.0.variant": "must be the key of a variant of the flag"},
    ),
    (
        {"flag": {**FLAG, "rules": [RULE, {**RULE, "conditions": [PLAN, {**PLAN, "values": ["a", " "]}]}]}},
        {"flag.rules.1.conditions.1.values.1": "must not be empty"},
    ),
    (
        {"flag": {**FLAG, "rules": [{**RULE, "conditions": [{**PLAN, "operator": "eq"}]}]}},
        {"flag.rules.0.conditions.0.values.0": "must be a decimal number such as 42, -0.5 or 1e6"},
    ),
    (
        {"flag": {**FLAG, "rules": [{**RULE, "conditions": [{**PLAN, "value": "x"}]}]}},
        {"flag.rules.0.conditions.0.value": "is not a known field; did you mean values?"},
    ),
    ({"flag": {**FLAG, "rules": [{**RULE, "id": "x"}]}}, {"flag.rules.0.id": "must be a UUID, or null for a new rule"}),
    ({"flag": {**FLAG, "rules": [{**RULE, "id": str(uuid4())}]}}, {"flag.rules.0.id": NO_RULE}),
]


@pytest.fixture
def environ() -> dict[str, str]:
    """No limit on evaluations."""
    return {"FLAGSTAFF_EVALUATE_RATE_LIMIT": "off"}


@pytest.fixture
def path(environment: Json) -> str:
    """The path that explains the flags of Ada's production."""
    return f"{environment_path(environment)}/explain"


async def explain(caller: Caller, path: str, **body: Any) -> list[Json]:
    answer = await caller.post(path, json=body)
    assert answer.status_code == 200, answer.text
    flags: list[Json] = answer.json()["flags"]
    return flags


async def explain_one(caller: Caller, path: str, **body: Any) -> Json:
    (flag,) = await explain(caller, path, **body)
    return flag


async def evaluate(client: Caller, project: Json, context: Any) -> Json:
    answer = await client.evaluate(project["sdk_key"], context=context)
    assert answer.status_code == 200, answer.text
    flags: Json = answer.json()["flags"]
    return flags


def result_of(trace: Json) -> Json:
    return {name: trace[name] for name in ("enabled", "reason", "variant", "value") if name in trace}


async def test_it_needs_a_token(client: Caller, path: str) -> None:
    assert (await client.post(path, json={})).status_code == 401


async def test_an_environment_that_is_not_there_or_not_yours_is_not_found(
    ada: Caller, eve: Caller, environment: Json
) -> None:
    other = await ada.create_project()
    for caller, place in (
        (eve, environment),
        (ada, {**environment, "project_id": other["id"]}),
        (ada, {**environment, "id": uuid4()}),
        (ada, {**environment, "id": "production"}),
    ):
        answer = await caller.post(f"{environment_path(place)}/explain", json={"flag": FLAG})
        assert answer.status_code == 404


@pytest.mark.both_databases
async def test_each_invalid_field_is_named_with_what_is_wrong(ada: Caller, environment: Json, path: str) -> None:
    await ada.create_flag(environment, key="flag")
    for body, expected in MALFORMED:
        assert field_errors(await ada.post(path, json=body)) == expected, body


async def test_a_context_is_refused_as_in_an_evaluation(ada: Caller, project: Json, path: str) -> None:
    headers = {"content-type": "application/json", "x-sdk-key": project["sdk_key"]}
    for context in (
        b"[]",
        b"7",
        b'{"user_id": 7, "user_email": {}, "custom_attributes": []}',
        b'{"user_id": "\\ud800"}',
        b'{"user_id": "\\u0000", "user_email": 1}',
        b'{"user_id": "%s"}' % (b"x" * 1025),
        b'{"custom_attributes": {"a": ]}}',
    ):
        evaluation = b'{"environment": "production", "context": %s}' % context
        refused = await ada.post("/sdk/v1/evaluate", content=evaluation, headers=headers)
        answer = await ada.post(path, content=b'{"context": %s}' % context, headers=headers)
        assert field_errors(answer) == field_errors(refused), context


async def test_what_could_not_be_saved_cannot_be_explained(ada: Caller, environment: Json, path: str) -> None:
    variants = [{"key": "a", "weight": 1, "value": 1}, {"key": "b", "weight": 1, "value": 2}]
    flag = await ada.create_flag(environment, key="flag", variants=variants)
    rule = await ada.create_rule(flag)
    needing = await ada.create_flag(environment, key="needing", prerequisites=[{"flag_key": "flag", "variants": ["b"]}])
    cycle = await ada.post(path, json={"flag": {**flag, "prerequisites": [{"flag_key": "needing"}]}})
    assert (cycle.status_code, cycle.json()["detail"]) == (
        409,
        "The prerequisites would form a cycle: flag needs needing needs flag.",
    )
    unneeded = await ada.post(path, json={"flag": {**flag, "variants": variants[:1]}})
    assert unneeded.status_code == 409
    assert "is a prerequisite of needing" in unneeded.json()["detail"]
    other_rule = {**rule, "id": (await ada.create_rule(needing))["id"]}
    answer = await ada.post(path, json={"flag": {**flag, "rules": [rule, other_rule]}})
    assert field_errors(answer) == {"flag.rules.1.id": NO_RULE}
    answer = await ada.post(path, json={"flag": {**flag, "rules": [rule, rule]}})
    assert field_errors(answer) == {"flag.rules.1.id": "must not occur twice"}


async def test_an_environment_without_flags_has_nothing_to_explain(ada: Caller, path: str) -> None:
    answer = await ada.post(path, json={})
    assert answer.json() == {
        "environment_key": "production",
        "evaluated_at": "2026-11-20T10:00:00.000000Z",
        "flags": [],
        "segments": [],
        "more_flags": False,
    }
    assert answer.headers["cache-control"] == "no-store"


async def test_a_plain_flag_is_explained_by_its_rollout(ada: Caller, environment: Json, path: str) -> None:
    await ada.create_flag(environment, key="flag", rollout_percentage=40)
    trace = await explain_one(ada, path, context={"user_id": "user-42"})
    bucket = trace["rollout"]["bucket"]
    assert trace == {
        "flag_key": "flag",
        "enabled": bucket < 40,
        "reason": f"User {'in' if bucket < 40 else 'not in'} 40% rollout",
        "decided_by": {"step": "rollout", "prerequisite": None, "rule_id": None, "rule_name": None},
        "prerequisites": [],
        "rollout": {
            "identifier": "user-42",
            "hashed": "flag:user-42",
            "bucket": bucket,
            "percentage": 40,
            "inside": bucket < 40,
        },
        "variants": None,
        "rules": [],
        "more_rules": False,
    }
    nobody = await explain_one(ada, path)
    assert nobody["rollout"] == {
        "identifier": None,
        "hashed": None,
        "bucket": None,
        "percentage": 40,
        "inside": False,
    }


async def test_every_part_of_a_flag_is_explained(ada: Caller, project: Json, environment: Json, path: str) -> None:
    staff = {"attribute": "email_domain", "operator": "in", "values": ["Example.com"]}
    await ada.create_segment(project, key="staff", name="Staff", conditions=[staff])
    await ada.create_flag(environment, key="backend")
    variants = [{"key": "a", "weight": 0, "value": {"x": 1}}, {"key": "b", "weight": 10, "value": {"x": 2}}]
    flag = await ada.create_flag(
        environment,
        key="flag",
        bucketing_key="group",
        fallthrough="off",
        variants=variants,
        prerequisites=[{"flag_key": "backend"}],
    )
    many = [f"user-{number}" for number in range(25)]
    listed = {"attribute": "user_id", "operator": "in", "values": many}
    rule = await ada.create_rule(
        flag, rule_type="segment", rule_value="staff", conditions=[listed], variant="a", name="QA"
    )
    context = {"user_id": "user-7", "user_email": "QA@EXAMPLE.com"}
    trace = await explain_one(ada, path, context=context, flag_keys=["flag"])
    position = trace["variants"]["position"]
    assert 0 <= position < 10
    assert trace == {
        "flag_key": "flag",
        "enabled": True,
        "reason": "Matched segment targeting rule",
        "variant": "a",
        "value": {"x": 1},
        "decided_by": {"step": "rule", "prerequisite": None, "rule_id": rule["id"], "rule_name": "QA"},
        "prerequisites": [
            {
                "flag_key": "backend",
                "enabled": True,
                "variants": [],
                "actual": {"enabled": True, "variant": None},
                "holds": True,
            }
        ],
        "rollout": None,
        "variants": {
            "identifier": "user-7",
            "hashed": "group:user-7",
            "position": position,
            "total_weight": 10,
            "ranges": [{"key": "a", "from": 0, "to": 0}, {"key": "b", "from": 0, "to": 10}],
            "chosen": "a",
            "by": "rule",
        },
        "rules": [
            {
                "id": rule["id"],
                "name": "QA",
                "rule_type": "segment",
                "rule_value": "staff",
                "priority": 0,
                "enabled": True,
                "status": "matched",
                "matches": True,
                "conditions": [
                    {
                        **listed,
                        "values": many[:20],
                        "values_total": 25,
                        "case_insensitive": False,
                        "negate": False,
                        "actual": "user-7",
                        "holds": True,
                    }
                ],
                "segment": {"key": "staff", "name": "Staff"},
                "bucket": None,
                "rollout_percentage": 100,
                "variant": "a",
            }
        ],
        "more_rules": False,
    }


async def test_a_segment_is_explained_once_however_many_rules_name_it(
    ada: Caller, project: Json, environment: Json, path: str
) -> None:
    staff = {"attribute": "email_domain", "operator": "in", "values": ["Example.com"]}
    await ada.create_segment(project, key="staff", name="Staff", conditions=[staff])
    for key in ("a", "b"):
        flag = await ada.create_flag(environment, key=key)
        for _ in range(3):
            await ada.create_rule(flag, rule_type="segment", rule_value="staff")

    explanation = (await ada.post(path, json={"context": {"user_email": "QA@EXAMPLE.com"}})).json()

    named = [rule["segment"] for flag in explanation["flags"] for rule in flag["rules"]]
    assert named == [{"key": "staff", "name": "Staff"}] * 6
    given = {"case_insensitive": False, "negate": False, "actual": "example.com", "holds": True, "values_total": 1}
    assert explanation["segments"] == [
        {"key": "staff", "name": "Staff", "holds": True, "conditions": [{**staff, **given}]}
    ]


async def test_an_explanation_has_a_bound_in_bytes_and_says_what_it_leaves_out(
    ada: Caller, environment: Json, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(explanations_routes, "RESPONSE_MAX_BYTES", 1_500)
    for key in ("a", "b", "c"):
        flag = await ada.create_flag(environment, key=key)
        for _ in range(6 if key == "a" else 1):
            await ada.create_rule(flag, **ATTRIBUTES, conditions=[PLAN])

    explanation = (await ada.post(path, json={})).json()

    (first,) = explanation["flags"]
    assert 1 < len(first["rules"]) < 6
    assert first["more_rules"]
    assert explanation["more_flags"]
    (other,) = await explain(ada, path, flag_keys=["c"])
    assert not other["more_rules"]


async def test_explanations_have_the_results_of_evaluations(
    client: Caller, ada: Caller, project: Json, environment: Json, path: str
) -> None:
    variants = [{"key": "a", "weight": 1, "value": "x"}, {"key": "b", "weight": 2, "value": "y"}]
    recent = {"attribute": "current_time", "operator": "after", "values": ["2026-11-20T09:59:59Z"]}
    await ada.create_segment(project, key="gold", conditions=[PLAN])
    await ada.create_flag(environment, key="off", enabled=False, variants=variants)
    await ada.create_flag(environment, key="sticky", rollout_percentage=50, stickiness="company")
    ruled = await ada.create_flag(environment, key="ruled", fallthrough="off", variants=variants)
    await ada.create_rule(ruled, rule_type="segment", rule_value="gold", rollout_percentage=60, variant="b")
    await ada.create_rule(ruled, **ATTRIBUTES, conditions=[recent, {**PLAN, "negate": True}])
    await ada.create_flag(environment, key="needing", prerequisites=[{"flag_key": "ruled", "variants": ["b"]}])
    for number in range(12):
        attributes = {"company": number, "plan": "gold" if number % 2 else ["silver"], "current_time": "never"}
        context = {"user_id": f"user-{number}", "user_email": "", "custom_attributes": attributes}
        expected = await evaluate(client, project, context)
        traces = await explain(ada, path, context=context)
        assert {trace["flag_key"]: result_of(trace) for trace in traces} == expected
        assert [trace["flag_key"] for trace in traces] == sorted(expected)
        some = await explain(ada, path, context=context, flag_keys=["sticky", "needing", "sticky"])
        assert [trace["flag_key"] for trace in some] == ["sticky", "needing"]
        assert all(trace in traces for trace in some)


async def test_attributes_that_do_not_fit_are_left_out_as_in_evaluations(
    client: Caller, ada: Caller, project: Json, environment: Json, path: str
) -> None:
    present = {"operator": "starts_with", "values": ["x"]}
    for name in ("first", "second"):
        flag = await ada.create_flag(environment, key=name, fallthrough="off")
        await ada.create_rule(flag, **ATTRIBUTES, conditions=[{**present, "attribute": name}])
    off = await ada.create_flag(environment, key="off", enabled=False)
    await ada.create_rule(off, **ATTRIBUTES, conditions=[{**present, "attribute": "third"}])
    long = ["x" * 1000] * 4
    for names in (["first", "second"], ["second", "first"], ["third", "first", "second"], ["third", "other", "second"]):
        context = {"custom_attributes": {**dict.fromkeys(names, long), "again": long}}
        expected = await evaluate(client, project, context)
        traces = await explain(ada, path, context=context)
        assert {trace["flag_key"]: result_of(trace) for trace in traces} == expected
        for key in expected:
            trace = await explain_one(ada, path, context=context, flag_keys=[key])
            assert result_of(trace) == expected[key]
    assert expected["second"]["enabled"]
    third = await explain_one(ada, path, context={"custom_attributes": {"third": "x"}}, flag_keys=["off"])
    assert third["rules"][0]["conditions"][0]["holds"]


async def test_half_a_character_makes_its_attribute_missing(ada: Caller, environment: Json, path: str) -> None:
    flag = await ada.create_flag(environment, key="flag", fallthrough="off")
    await ada.create_rule(flag, **ATTRIBUTES, conditions=[{**PLAN, "operator": "contains"}])
    body = b'{"context": {"custom_attributes": {"plan": "gold\\ud83d", "other": ["\\ude00"]}}}'
    answer = await ada.post(path, content=body, headers={"content-type": "application/json"})
    (trace,) = answer.json()["flags"]
    assert (trace["enabled"], trace["rules"][0]["conditions"][0]["actual"]) == (False, None)


async def test_attributes_are_shown_short(ada: Caller, environment: Json, path: str) -> None:
    flag = await ada.create_flag(environment, key="flag")
    await ada.create_rule(flag, **ATTRIBUTES, conditions=[PLAN])
    for given, shown in (
        ("x" * 201, "x" * 200 + "…"),
        (["x" * 201, 1, [2], *range(30)], ["x" * 200 + "…"]),
        ([1, [2], *range(30)], [1, *range(18)]),
        ({"a": 1}, {}),
        (10**30, 1e30),
        (10**400, None),
        (True, True),
        (None, None),
    ):
        trace = await explain_one(ada, path, context={"custom_attributes": {"plan": given}})
        assert trace["rules"][0]["conditions"][0]["actual"] == shown, given


async def test_a_draft_is_explained_as_it_would_be_after_it_is_saved(
    client: Caller, ada: Caller, project: Json, environment: Json, path: str
) -> None:
    flag = await ada.create_flag(environment, key="flag", fallthrough="off")
    first = await ada.create_rule(flag, **ATTRIBUTES, conditions=[], name="first", enabled=False)
    await ada.create_flag(environment, key="needing", prerequisites=[{"flag_key": "flag"}])
    context = {"user_id": "ada", "custom_attributes": {"plan": "gold"}}
    assert not any(trace["enabled"] for trace in await explain(ada, path, context=context))

    variants = [{"key": "a", "weight": 1, "value": 1}, {"key": "b", "weight": 1, "value": 2}]
    new_rules = [
        {**ATTRIBUTES, "name": "new", "conditions": [PLAN], "variant": "b"},
        {**ATTRIBUTES, "conditions": [], "name": "last"},
    ]
    draft = {**flag, "variants": variants, "rules": [*new_rules, first]}
    traces = {trace["flag_key"]: trace for trace in await explain(ada, path, context=context, flag=draft)}
    assert traces["flag"]["decided_by"] == {
        "step": "rule",
        "prerequisite": None,
        "rule_id": None,
        "rule_name": "new",
    }
    assert [(rule["id"], rule["name"], rule["status"]) for rule in traces["flag"]["rules"]] == [
        (first["id"], "first", "disabled"),
        (None, "new", "matched"),
        (None, "last", "not_reached"),
    ]
    assert traces["needing"]["enabled"]
    assert not any(flag["enabled"] for flag in (await evaluate(client, project, context)).values())

    await ada.put(f"{environment_path(environment)}/flags/{flag['id']}", json={"variants": variants})
    for rule in new_rules:
        await ada.create_rule(flag, **rule)
    saved = await evaluate(client, project, context)
    assert saved == {key: result_of(trace) for key, trace in traces.items()}


async def test_a_flag_that_does_not_exist_yet_is_explained(ada: Caller, environment: Json, path: str) -> None:
    await ada.create_flag(environment, key="other")
    draft = {**FLAG, "enabled": True, "prerequisites": [{"flag_key": "other", "enabled": False}], "rules": [RULE]}
    trace = await explain_one(ada, path, context={"user_id": "ada"}, flag=draft, flag_keys=["checkout"])
    assert (trace["reason"], trace["decided_by"]["prerequisite"]) == ("Prerequisite other is not met", "other")
    assert trace["prerequisites"][0]["actual"] == {"enabled": True, "variant": None}
    assert trace["rules"][0]["status"] == "not_reached"
    draft["prerequisites"] = []
    both = await explain(ada, path, context={"user_id": "ada"}, flag=draft)
    assert [(each["flag_key"], each["decided_by"]["step"]) for each in both] == [
        ("checkout", "rule"),
        ("other", "everyone"),
    ]


async def test_nothing_is_stored_or_recorded(
    flagstaff: Flagstaff, ada: Caller, environment: Json, path: str, list_changes: ListChanges
) -> None:
    flag = await ada.create_flag(environment, key="flag")
    before = await list_changes()
    headers = {"idempotency-key": "one"}
    bodies: list[Json] = [{"flag": {**flag, "enabled": False, "rules": [RULE]}}, {"flag": FLAG}]
    for body in bodies:
        assert (await ada.post(path, json=body, headers=headers)).status_code == 200
    assert await list_changes() == before
    assert (await ada.get(f"{environment_path(environment)}/flags")).json() == [flag]
    assert flagstaff.history.recorder.waiting == 0
    assert (await ada.get(f"{environment_path(environment)}/evaluations")).json()["items"] == []
