"""Answers in other dialects, compared with evaluate's answers, on inputs that hypothesis generates."""

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given

from flagstaff.conditions.conditions import Condition
from flagstaff.evaluation.compiler import TargetedFlag
from flagstaff.evaluation.dialects import evaluate_in, translate
from flagstaff.evaluation.evaluator import evaluate
from flagstaff.evaluation.frontend_dialect import FRONTEND
from flagstaff.evaluation.ofrep_dialect import OFREP, write_alone
from flagstaff.evaluation.snapshot import EnvironmentSnapshot
from flagstaff.evaluation.snapshot_assembly import compile_environment
from flagstaff.evaluation.subset import evaluate_flag, find_flag
from flagstaff.flags.flags import Fallthrough, Flag, Rule
from flagstaff.flags.prerequisites import Prerequisite
from flagstaff.flags.targeting.segments import Segment
from flagstaff.flags.variants import Variant
from tests.support.builders import make_flag, make_rule, make_segment
from tests.support.examples import times_the_examples
from tests.support.strategies import ENVIRONMENT, addresses, attributes, some_segments, targeted_flags, users

Flags = list[tuple[Flag, list[Rule]]]


def compiled(flags: Flags, segments: dict[str, tuple[Condition, ...]] | None = None) -> EnvironmentSnapshot:
    made: list[Segment] = [make_segment(key=key, conditions=each) for key, each in (segments or {}).items()]
    return compile_environment(ENVIRONMENT, [TargetedFlag(*each) for each in flags], made)


def each_once(items: Iterable[dict[str, Any]], name: str) -> dict[str, dict[str, Any]]:
    listed = list(items)
    found = {each[name]: each for each in listed}
    assert len(found) == len(listed)
    return found


def expected_reason(flag: Flag, reason: str) -> str:
    if reason.startswith("Matched "):
        return "TARGETING_MATCH"
    is_on = reason.startswith(("User in", "Flag enabled"))
    if not is_on and any(each.value not in ("true", "false") for each in flag.variants):
        return "DISABLED"
    if 0 < flag.rollout_percentage < 100 and reason.startswith("User "):
        return "SPLIT"
    return "SPLIT" if is_on and sum(each.weight > 0 for each in flag.variants) > 1 else "STATIC"


@times_the_examples(3)
@given(targeted_flags(), users, addresses, attributes, some_segments)
def test_every_dialect_decides_as_evaluate_does(
    flags: Flags,
    user_id: str | None,
    user_email: str | None,
    custom: dict[str, Any],
    segments: dict[str, tuple[Condition, ...]],
) -> None:
    snapshot = compiled(flags, segments)
    body, recorded = evaluate(snapshot, user_id, user_email, custom)
    answers: dict[str, Any] = json.loads(body)["flags"]

    ofrep, frontend = translate(snapshot, OFREP), translate(snapshot, FRONTEND)
    in_ofrep = evaluate_in(ofrep, user_id, user_email, custom)
    in_frontend = evaluate_in(frontend, user_id, user_email, custom)
    assert in_ofrep.recorded == in_frontend.recorded == recorded

    given_flags = each_once(json.loads(in_ofrep.body)["flags"], "key")
    assert given_flags.keys() == answers.keys()
    by_key = {flag.key: flag for flag, _ in flags}
    for key, answer in answers.items():
        flag, is_on = by_key[key], answer["enabled"]
        expected: dict[str, Any] = {
            "key": key,
            "variant": answer.get("variant") or ("on" if is_on else "off"),
            "reason": expected_reason(flag, answer["reason"]),
            "metadata": {},
        }
        if not flag.variants:
            expected["value"] = is_on
        elif is_on:
            expected["value"] = answer["value"]
        assert given_flags[key] == expected

    toggles = each_once(json.loads(in_frontend.body)["toggles"], "name")
    assert toggles.keys() == {key for key, answer in answers.items() if answer["enabled"]}
    for key, toggle in toggles.items():
        assert (toggle["enabled"], toggle["impressionData"], toggle["variant"]["feature_enabled"]) == (
            True,
            False,
            True,
        )
        variant = answers[key].get("variant")
        assert (toggle["variant"]["name"], toggle["variant"]["enabled"]) == (variant or "disabled", variant is not None)
        if variant is not None:
            assert toggle["variant"]["payload"]["type"] == "json"
            assert json.loads(toggle["variant"]["payload"]["value"]) == answers[key]["value"]

    for decision in snapshot.layout.decisions(recorded):
        alone = json.loads(write_alone(snapshot, decision, with_details=False))
        assert alone.pop("metadata") == {"flagSetId": str(ENVIRONMENT.id), "version": "0"}
        assert {**alone, "metadata": {}} == given_flags[decision.flag.key]


@given(targeted_flags(), users, users, addresses, attributes, some_segments)
def test_answers_with_the_same_tag_are_the_same(
    flags: Flags,
    user_id: str | None,
    other_id: str | None,
    user_email: str | None,
    custom: dict[str, Any],
    segments: dict[str, tuple[Condition, ...]],
) -> None:
    first, again = compiled(flags, segments), compiled(flags[::-1], segments)
    bodies: dict[str, bytes] = {}
    for dialect in (OFREP, FRONTEND):
        one, same = translate(first, dialect), translate(again, dialect)
        assert one.content == same.content
        for user in (user_id, other_id):
            rendered = evaluate_in(one, user, user_email, custom)
            assert evaluate_in(same, user, user_email, custom) == rendered  # another instance compiled it
            assert bodies.setdefault(rendered.tag, rendered.body) == rendered.body


def change(flag: Flag, **values: Any) -> tuple[str, str]:
    """Return the tags of the answers before and after a change to a flag."""
    tags = [
        evaluate_in(translate(compiled([(each, [])]), OFREP), "ada", None).tag
        for each in (flag, replace(flag, **values))
    ]
    return tags[0], tags[1]


@pytest.mark.parametrize(
    "values",
    [
        {"enabled": False},
        {"key": "other"},
        {"variants": (Variant("a", 1, "1"),)},
        {"rollout_percentage": 50},
    ],
)
def test_a_change_of_the_answer_changes_its_tag(values: dict[str, Any]) -> None:
    before, after = change(make_flag(ENVIRONMENT), **values)
    assert before != after


def test_a_change_of_a_variants_value_changes_the_tag() -> None:
    flag = make_flag(ENVIRONMENT, variants=(Variant("a", 1, "1"), Variant("b", 1, "2")))
    before, after = change(flag, variants=(Variant("a", 1, "1"), Variant("b", 1, "3")))
    assert before != after


def test_a_change_that_no_answer_shows_keeps_the_tag() -> None:
    before, after = change(make_flag(ENVIRONMENT), name="Another", description="Nobody sees it")
    assert before == after


def test_the_answers_of_many_flags_have_short_tags_that_tell_them_apart() -> None:
    flags: Flags = [(make_flag(ENVIRONMENT, key=f"flag-{n:02}", rollout_percentage=50), []) for n in range(40)]
    translation = translate(compiled(flags), OFREP)
    rendered = [evaluate_in(translation, f"user-{number}", None) for number in range(50)]
    assert len({each.tag for each in rendered}) == len({each.body for each in rendered}) == 50
    assert {len(each.tag) for each in rendered} == {32}
    assert evaluate_in(translation, "user-0", None) == rendered[0]


def off(**values: Any) -> dict[str, Any]:
    snapshot = compiled([(make_flag(ENVIRONMENT, enabled=False, **values), [])])
    (answer,) = json.loads(evaluate_in(translate(snapshot, OFREP), "ada", None).body)["flags"]
    found: dict[str, Any] = answer
    return found


def test_a_flag_that_is_off_is_false_and_never_disabled() -> None:
    assert off() == {"key": "new-checkout", "value": False, "reason": "STATIC", "variant": "off", "metadata": {}}
    assert off(variants=(Variant("a", 1, "true"),))["value"] is False


@pytest.mark.parametrize("value", ['"blue"', "7", "1.5", '{"a":1}'])
def test_a_flag_of_another_type_that_is_off_leaves_the_value_to_the_application(value: str) -> None:
    answer = off(variants=(Variant("a", 1, value),))
    assert "value" not in answer
    assert (answer["reason"], answer["variant"]) == ("DISABLED", "off")


@pytest.mark.parametrize(
    "values",
    [
        {"fallthrough": Fallthrough.OFF},
        {"rollout_percentage": 1, "stickiness": "user_id"},
        {"prerequisites": (Prerequisite("missing"),)},
    ],
)
def test_an_answer_without_a_value_is_disabled_whatever_turned_the_flag_off(values: dict[str, Any]) -> None:
    for value, expected in (('"blue"', None), ("true", False)):
        flag = make_flag(ENVIRONMENT, variants=(Variant("a", 1, value),), **values)
        snapshot = compiled([(flag, [])])
        (answer,) = json.loads(evaluate_in(translate(snapshot, OFREP), None, None).body)["flags"]
        assert answer.get("value") is expected
        assert (answer["reason"] == "DISABLED") == (expected is None)


@pytest.mark.parametrize("value", ['"blue"', "7", "1.0", "1e3", "false", '{"a":[1,"ü"]}'])
def test_a_variants_value_keeps_its_form(value: str) -> None:
    snapshot = compiled([(make_flag(ENVIRONMENT, variants=(Variant("a", 1, value),)), [])])
    assert f'"value":{value},"variant":"a"'.encode() in evaluate_in(translate(snapshot, OFREP), "ada", None).body


@pytest.mark.parametrize(
    ("value", "payload"),
    [
        ('"blü\\""', {"type": "string", "value": 'blü"'}),
        ("7", {"type": "number", "value": "7"}),
        ("1.0", {"type": "number", "value": "1.0"}),
        ("true", {"type": "string", "value": "true"}),
        ("false", {"type": "string", "value": "false"}),
        ('{"a":"b"}', {"type": "json", "value": '{"a":"b"}'}),
    ],
)
def test_a_variant_is_text_of_a_type_in_the_frontend_api(value: str, payload: dict[str, str]) -> None:
    snapshot = compiled([(make_flag(ENVIRONMENT, variants=(Variant("a", 1, value),)), [])])
    (toggle,) = json.loads(evaluate_in(translate(snapshot, FRONTEND), "ada", None).body)["toggles"]
    assert toggle["variant"] == {"name": "a", "enabled": True, "feature_enabled": True, "payload": payload}


@pytest.mark.parametrize(
    ("values", "rules", "reason"),
    [
        ({"rollout_percentage": 0}, [], "STATIC"),
        ({"rollout_percentage": 100}, [], "STATIC"),
        ({"rollout_percentage": 50}, [], "SPLIT"),
        ({"variants": (Variant("a", 1, "1"), Variant("b", 1, "2"))}, [], "SPLIT"),
        ({"variants": (Variant("a", 1, "1"), Variant("b", 0, "2"))}, [], "STATIC"),
        ({"variants": (Variant("a", 0, "1"), Variant("b", 9, "2"))}, [], "STATIC"),
        ({"variants": (Variant("a", 1, "1"), Variant("b", 0, "2")), "rollout_percentage": 99}, [], "SPLIT"),
        ({}, ["ada"], "TARGETING_MATCH"),
        ({"fallthrough": Fallthrough.OFF}, ["eve"], "STATIC"),
    ],
)
def test_the_reason_says_what_kind_of_decision_it_was(values: dict[str, Any], rules: list[str], reason: str) -> None:
    flag = make_flag(ENVIRONMENT, **values)
    snapshot = compiled([(flag, [make_rule(flag, rule_value=each) for each in rules])])
    (answer,) = json.loads(evaluate_in(translate(snapshot, OFREP), "ada", None).body)["flags"]
    assert answer["reason"] == reason


def test_an_environment_without_flags_answers_none_in_each_dialect() -> None:
    snapshot = compiled([])
    assert evaluate_in(translate(snapshot, OFREP), "ada", None).body == b'{"flags":[]}'
    assert evaluate_in(translate(snapshot, FRONTEND), "ada", None).body == b'{"toggles":[]}'


def test_a_translation_shares_what_decides() -> None:
    flag = make_flag(ENVIRONMENT, rollout_percentage=50)
    snapshot = compiled([(flag, [make_rule(flag)])])
    translation = translate(snapshot, OFREP)
    assert translation.snapshot.layout is snapshot.layout
    assert translation.snapshot.by_user_id is snapshot.by_user_id
    alone = find_flag(snapshot, flag.key)
    assert alone is not None
    assert evaluate_flag(snapshot, alone, "ada", None)[1] == evaluate_in(translation, "ada", None).recorded
