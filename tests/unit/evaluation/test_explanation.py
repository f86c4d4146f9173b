"""Explanations compared with the evaluation of the same flags, and with the naive one, on inputs from hypothesis."""

import json
from collections.abc import Sequence
from datetime import timedelta
from itertools import pairwise
from typing import Any

from hypothesis import given

from flagstaff.conditions.conditions import Condition
from flagstaff.conditions.operators import Operator
from flagstaff.evaluation.bucketing import bucket
from flagstaff.evaluation.compiler import TargetedFlag
from flagstaff.evaluation.evaluator import evaluate
from flagstaff.evaluation.explanations.explanation import explain
from flagstaff.evaluation.explanations.flag_sets import FlagSet, compile_segments
from flagstaff.evaluation.explanations.traces import ChosenBy, FlagTrace, RuleStatus, RuleTrace, Step
from flagstaff.evaluation.explanations.tracing import Subject
from flagstaff.evaluation.snapshot_assembly import compile_environment
from flagstaff.flags.flags import Flag, Rule, RuleType
from flagstaff.flags.prerequisites import Prerequisite
from tests.support.builders import AT, make_flag, make_rule, make_segment
from tests.support.examples import times_the_examples
from tests.support.naive import Context, deciding_rule, evaluate_naively, meets_all
from tests.support.strategies import ENVIRONMENT, addresses, attributes, some_segments, targeted_flags, users

Targeted = tuple[Flag, Sequence[Rule]]


def explain_flags(
    flags: Sequence[Targeted],
    user_id: str | None = None,
    user_email: str | None = None,
    custom: dict[str, Any] | None = None,
    segments: dict[str, tuple[Condition, ...]] | None = None,
) -> dict[str, tuple[FlagTrace, list[RuleTrace]]]:
    """Return the trace of each flag, with those of its rules."""
    made = [make_segment(key=key, conditions=conditions) for key, conditions in (segments or {}).items()]
    by_key = {flag.key: TargetedFlag(flag, rules) for flag, rules in flags}
    flag_set = FlagSet(ENVIRONMENT, by_key, compile_segments(made))
    traced: dict[str, tuple[FlagTrace, list[RuleTrace]]] = {}
    rules: list[RuleTrace] = []
    for trace in explain(flag_set, Subject(user_id, user_email, custom or {}), sorted(by_key)):
        if isinstance(trace, FlagTrace):
            rules = []
            traced[trace.flag.key] = (trace, rules)
        elif trace is not None:
            rules.append(trace)
    return traced


def result_of(trace: FlagTrace) -> dict[str, Any]:
    """Return the result as an evaluation returns it."""
    result: dict[str, Any] = {"enabled": trace.decision.outcome.enabled, "reason": trace.decision.reason}
    if trace.variants:
        result |= {"variant": trace.decision.variant, "value": trace.value and json.loads(trace.value)}
    return result


@times_the_examples(3)
@given(targeted_flags(), users, addresses, attributes, some_segments)
def test_an_explanation_has_the_results_of_the_evaluation_and_reasons_that_agree_with_them(
    flags: list[tuple[Flag, list[Rule]]],
    user_id: str | None,
    user_email: str | None,
    custom: dict[str, Any],
    segments: dict[str, tuple[Condition, ...]],
) -> None:
    made = [make_segment(key=key, conditions=conditions) for key, conditions in segments.items()]
    snapshot = compile_environment(ENVIRONMENT, [TargetedFlag(*each) for each in flags], made)
    results = json.loads(evaluate(snapshot, user_id, user_email, custom)[0])["flags"]
    traced = explain_flags(flags, user_id, user_email, custom, segments)
    context = Context(user_id, user_email, custom, ENVIRONMENT.key, segments)

    for flag, rules in flags:
        trace, traced_rules = traced[flag.key]
        assert result_of(trace) == results[flag.key]
        check_step(trace, traced_rules, deciding_rule(flag, rules, context))
        check_rules(trace, traced_rules, rules, context)
        check_shares(trace, context)
        for each in trace.prerequisites:
            other = results.get(each.prerequisite.flag_key)
            assert (each.actual and each.actual.outcome.enabled) == (other and other["enabled"])


def check_step(trace: FlagTrace, rules: Sequence[RuleTrace], first: Rule | None) -> None:
    """Check that the step is the first that can decide."""
    unmet = next((each for each in trace.prerequisites if not each.holds), None)
    if not trace.flag.enabled:
        assert trace.step is Step.OFF
    elif unmet:
        assert (trace.step, trace.decision.prerequisite) == (Step.PREREQUISITE, unmet.prerequisite.flag_key)
    elif first:
        assert (trace.step, trace.rule) == (Step.RULE, first)
        assert [each.rule for each in rules if each.status is RuleStatus.MATCHED] == [first]
    elif trace.rollout:
        assert trace.step is Step.ROLLOUT
        assert trace.rollout.inside == trace.decision.outcome.enabled
    else:
        assert trace.step in (Step.FALLTHROUGH, Step.EVERYONE)
    if trace.step is not Step.RULE:
        assert trace.rule is None


def check_rules(trace: FlagTrace, traced: Sequence[RuleTrace], rules: Sequence[Rule], context: Context) -> None:
    """Check that each rule's status follows from the results of its parts."""
    assert [each.rule for each in traced] == sorted(rules, key=lambda rule: (-rule.priority, rule.created_at, rule.id))
    is_reached = trace.step not in (Step.OFF, Step.PREREQUISITE)
    for each in traced:
        inside = each.rule.rollout_percentage == 100 or context.bucket(trace.flag) < each.rule.rollout_percentage
        matches = each.matches and all(condition.holds for condition in each.conditions)
        if not each.rule.enabled:
            assert each.status is RuleStatus.DISABLED
        elif not is_reached:
            assert each.status is RuleStatus.NOT_REACHED
        elif matches and inside:
            assert each.status is RuleStatus.MATCHED
            is_reached = False
        else:
            assert each.status is (RuleStatus.OUTSIDE_PERCENTAGE if matches else RuleStatus.NOT_MATCHED)
        assert (each.segment is not None) == (each.rule.rule_type is RuleType.SEGMENT)
        for condition in (*each.conditions, *(each.segment.conditions if each.segment else ())):
            assert condition.actual == context.attributes.get(condition.condition.attribute)
            assert condition.holds == meets_all([condition.condition], context)


def check_shares(trace: FlagTrace, context: Context) -> None:
    """Check that the bucket and the position are the user's, and the variant is the one at the position."""
    identifier = context.identifier(trace.flag)
    if trace.rollout:
        assert trace.rollout.hashed.identifier == (identifier or None)
        assert trace.rollout.bucket == (context.bucket(trace.flag) if identifier else None)
    if not trace.variants:
        return
    assert trace.variants.total_weight == sum(variant.weight for variant in trace.flag.variants)
    assert trace.variants.chosen == trace.decision.variant
    position = trace.variants.position
    assert (position is None) == (not identifier)
    if trace.variants.by is ChosenBy.WEIGHT and position is not None:
        at = [key for key, start, end in trace.variants.ranges if start <= position < end]
        assert at == [trace.decision.variant]
    elif trace.variants.by is ChosenBy.RULE:
        assert trace.rule
        assert trace.rule.variant == trace.decision.variant
    elif trace.variants.by is ChosenBy.NO_IDENTIFIER:
        assert not identifier
    else:
        assert not trace.decision.outcome.enabled


def test_every_rule_is_traced_whether_or_not_it_is_reached() -> None:
    gold = Condition("plan", Operator.IN, ("gold",))
    flag = make_flag(ENVIRONMENT, key="flag")
    different: tuple[dict[str, Any], ...] = (
        {"enabled": False, "conditions": (gold,)},
        {"conditions": (Condition("plan", Operator.IN, ("silver",)), gold)},
        {"conditions": (gold,), "rollout_percentage": 1},
        {"conditions": (gold,)},
        {"conditions": (gold,)},
    )
    rules = [
        make_rule(flag, rule_type=RuleType.ATTRIBUTES, rule_value=None, created_at=AT + timedelta(place), **values)
        for place, values in enumerate(different)
    ]
    _, traced = explain_flags([(flag, rules)], "user-1", custom={"plan": "gold"})["flag"]
    assert [each.status for each in traced] == [
        RuleStatus.DISABLED,
        RuleStatus.NOT_MATCHED,
        RuleStatus.OUTSIDE_PERCENTAGE,
        RuleStatus.MATCHED,
        RuleStatus.NOT_REACHED,
    ]
    holding = [[condition.holds for condition in each.conditions] for each in traced]
    assert holding == [[True], [False, True], [True], [True], [True]]
    assert [each.bucket is None for each in traced] == [True, True, False, True, True]


def test_the_bucket_at_the_percentage_is_the_first_outside() -> None:
    own = bucket("flag", "ada")
    for percentage, inside in ((own, False), (own + 1, True)):
        flag = make_flag(ENVIRONMENT, key="flag", rollout_percentage=percentage)
        trace, _ = explain_flags([(flag, [])], "ada")["flag"]
        assert trace.rollout is not None
        assert (trace.rollout.bucket, trace.rollout.inside) == (own, inside)
        assert trace.decision.outcome.enabled is inside


def test_conditions_on_the_email_ignore_its_case() -> None:
    conditions = (
        Condition("user_email", Operator.IN, ("ada@x.org",)),
        Condition("email_domain", Operator.IN, ("X.org",)),
    )
    flag = make_flag(ENVIRONMENT, key="flag", enabled=True)
    rule = make_rule(flag, rule_type=RuleType.ATTRIBUTES, rule_value=None, conditions=conditions)
    trace, (traced,) = explain_flags([(flag, [rule])], "ada", "Ada@X.org")["flag"]
    assert (trace.step, trace.rule, traced.status) == (Step.RULE, rule, RuleStatus.MATCHED)
    assert [(each.actual, each.holds) for each in traced.conditions] == [("ada@x.org", True), ("x.org", True)]


def test_the_rules_of_a_flag_that_is_off_are_traced_but_not_reached() -> None:
    flag = make_flag(ENVIRONMENT, key="flag", enabled=False)
    _, traced = explain_flags([(flag, [make_rule(flag), make_rule(flag, rule_value="eve")])], "ada")["flag"]
    assert [(each.status, each.matches) for each in traced] == [
        (RuleStatus.NOT_REACHED, True),
        (RuleStatus.NOT_REACHED, False),
    ]


def test_more_rules_than_a_record_can_tell_apart_are_told_apart() -> None:
    flag = make_flag(ENVIRONMENT, key="flag")
    condition = Condition("place", Operator.IN, ("here",))
    rules = [
        make_rule(flag, rule_value=f"user-{place}", created_at=AT + timedelta(place), conditions=(condition,))
        for place in range(300)
    ]
    trace, _ = explain_flags([(flag, rules)], "user-250", custom={"place": "here"})["flag"]
    assert trace.rule is rules[250]


def test_flags_that_are_explained_some_at_a_time_know_those_that_they_need() -> None:
    keys = [f"flag-{place:03}" for place in range(250)]
    flags: list[Targeted] = [
        (make_flag(ENVIRONMENT, key=key, rollout_percentage=99, prerequisites=(Prerequisite(needed),)), ())
        for key, needed in pairwise(keys)
    ]
    flags.append((make_flag(ENVIRONMENT, key=keys[-1], enabled=False), ()))
    traced = explain_flags(flags, "ada")
    assert list(traced) == keys
    assert {key: result_of(trace) for key, (trace, _) in traced.items()} == evaluate_naively(flags, "ada", None)
    assert all(trace.prerequisites[0].actual is not None for trace, _ in traced.values() if trace.prerequisites)
