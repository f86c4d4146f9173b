"""The compiled evaluator compared with the naive one, on inputs that hypothesis generates."""

import json
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from flagstaff.conditions.conditions import Condition
from flagstaff.conditions.operators import Operator
from flagstaff.evaluation.compiler import TargetedFlag
from flagstaff.evaluation.snapshot_assembly import compile_environment
from flagstaff.flags.flags import Fallthrough, Flag, Rule, RuleType
from flagstaff.flags.variants import Variant
from tests.support.builders import make_flag, make_rule, make_segment
from tests.support.examples import times_the_examples
from tests.support.loops import evaluate
from tests.support.naive import Answer, Context, deciding_rule, evaluate_naively
from tests.support.strategies import ENVIRONMENT, addresses, attributes, some_segments, targeted_flags, users

_AB = (Variant("a", 1, "1"), Variant("b", 2, "2"))


def each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object, or fail if a name occurs twice."""
    assert len({name for name, _ in pairs}) == len(pairs)
    return dict(pairs)


@times_the_examples(5)
@given(targeted_flags(), users, addresses, attributes, some_segments)
def test_the_compiled_evaluator_returns_the_same_as_the_naive_one(
    flags: list[tuple[Flag, list[Rule]]],
    user_id: str | None,
    user_email: str | None,
    custom: dict[str, Any],
    segments: dict[str, tuple[Condition, ...]],
) -> None:
    made = [make_segment(key=key, conditions=conditions) for key, conditions in segments.items()]
    snapshot = compile_environment(ENVIRONMENT, [TargetedFlag(flag, rules) for flag, rules in flags], made)
    body, recorded_bytes = evaluate(snapshot, user_id, user_email, custom)

    answers = json.loads(body, object_pairs_hook=each_once)
    assert answers == {"flags": evaluate_naively(flags, user_id, user_email, custom, segments=segments)}

    decisions = snapshot.layout.decisions(recorded_bytes)
    recorded: dict[str, Answer] = {
        decision.flag.key: {"enabled": decision.outcome.enabled, "reason": decision.reason} for decision in decisions
    }
    given = {key: {name: answer[name] for name in ("enabled", "reason")} for key, answer in answers["flags"].items()}
    assert recorded == given
    for decision in decisions:
        assert decision.variant == answers["flags"][decision.flag.key].get("variant")
    outcomes = [
        flag.outcomes_by_byte[byte] for flag, byte in zip(snapshot.layout.recorded, recorded_bytes, strict=False)
    ]
    assert outcomes == [decision.outcome for decision in decisions][: len(outcomes)]

    context = Context(user_id, user_email, custom, ENVIRONMENT.key, segments)
    by_key = {flag.key: (flag, rules) for flag, rules in flags}
    for decision in decisions:
        flag, its_rules = by_key[decision.flag.key]
        if decision.flag.deciders and not decision.prerequisite:
            rule = deciding_rule(flag, its_rules, context)
            assert decision.rule_id == (rule and rule.id)
        if decision.flag.has_bucket or decision.bucket is not None:
            assert decision.bucket == (context.bucket(flag) if context.identifier(flag) else None)


_share = st.tuples(
    st.sampled_from([(RuleType.USER_ID, "ada"), (RuleType.USER_EMAIL, "ada@x.org"), (RuleType.EMAIL_DOMAIN, "x.org")]),
    st.integers(1, 100),
    st.booleans(),
    st.sampled_from([None, "a", "b"]),
)


@given(
    st.lists(st.lists(_share, max_size=12), min_size=1, max_size=5),
    st.sampled_from(["ada", "eve", "", None]),
    st.booleans(),
)
def test_rules_for_shares_of_the_same_users_decide_in_their_order(
    shares_of_flags: list[list[tuple[tuple[RuleType, str], int, bool, str | None]]], user_id: str | None, has_city: bool
) -> None:
    city = Condition("city", Operator.IN, ("Oslo",))
    flags = []
    for number, shares in enumerate(shares_of_flags):
        flag = make_flag(ENVIRONMENT, key=f"flag-{number}", enabled=True, rollout_percentage=30, variants=_AB)
        rules = [
            make_rule(
                flag,
                rule_type=kind,
                rule_value=value,
                priority=-rank,
                rollout_percentage=percentage,
                conditions=(city,) if has_condition else (),
                variant=variant,
            )
            for rank, ((kind, value), percentage, has_condition, variant) in enumerate(shares)
        ]
        flags.append((flag, rules))
    custom = {"city": "Oslo"} if has_city else {}
    snapshot = compile_environment(ENVIRONMENT, [TargetedFlag(*each) for each in flags])
    body, _ = evaluate(snapshot, user_id, "ada@x.org", custom)
    assert json.loads(body)["flags"] == evaluate_naively(flags, user_id, "ada@x.org", custom)


def test_a_thousand_rules_for_shares_of_one_user_are_found_as_one() -> None:
    flag = make_flag(ENVIRONMENT, enabled=True)
    rules = [make_rule(flag, priority=-each, rollout_percentage=each % 99 + 1) for each in range(1000)]
    assert len(compile_environment(ENVIRONMENT, [TargetedFlag(flag, rules)]).by_user_id["ada"]) == 1


@given(
    targeted_flags(),
    st.lists(st.tuples(users, addresses, attributes), min_size=2, max_size=6),
    some_segments,
    st.integers(1, 3),
)
def test_users_get_the_same_after_others_whatever_is_remembered_of_those(
    flags: list[tuple[Flag, list[Rule]]],
    askers: list[tuple[str | None, str | None, dict[str, Any]]],
    segments: dict[str, tuple[Condition, ...]],
    kept: int,
) -> None:
    made = [make_segment(key=key, conditions=conditions) for key, conditions in segments.items()]
    targeted = [TargetedFlag(flag, rules) for flag, rules in flags]
    shared = compile_environment(ENVIRONMENT, targeted, made)
    assert shared.targeting is None or shared.targeting.kept_matches > kept
    bounded = replace(shared, targeting=shared.targeting and replace(shared.targeting, kept={}, kept_matches=kept))
    for asker in [*askers, *askers]:
        fresh = evaluate(compile_environment(ENVIRONMENT, targeted, made), *asker)
        assert evaluate(shared, *asker) == fresh
        if shared.targeting is not None:
            custom_holding = shared.targeting.custom_predicates.holding(asker[2])
            assert evaluate(shared, *asker, custom_holding=custom_holding) == fresh
        assert evaluate(bounded, *asker) == fresh
    assert bounded.targeting is None or len(bounded.targeting.kept) <= kept


@given(targeted_flags(), st.randoms())
def test_the_order_of_flags_and_rules_in_the_store_does_not_matter(
    flags: list[tuple[Flag, list[Rule]]], random: Any
) -> None:
    shuffled = [TargetedFlag(flag, random.sample(rules, len(rules))) for flag, rules in flags]
    random.shuffle(shuffled)
    segments = [make_segment(key=key) for key in ("beta", "staff")]
    one = compile_environment(ENVIRONMENT, [TargetedFlag(flag, rules) for flag, rules in flags], segments)
    other = compile_environment(ENVIRONMENT, shuffled, segments)
    assert one.layout.digest == other.layout.digest
    assert evaluate(one, "ada", "ada@example.com") == evaluate(other, "ada", "ada@example.com")


def test_an_environment_without_flags_returns_no_flags() -> None:
    assert evaluate(compile_environment(ENVIRONMENT, []), "ada", None) == (b'{"flags":{}}', b"")


def test_a_rules_value_never_appears_in_the_response() -> None:
    flag = make_flag(ENVIRONMENT)
    rule = make_rule(flag, rule_value="a-secret-customer")
    snapshot = compile_environment(ENVIRONMENT, [TargetedFlag(flag, [rule])])
    assert b"secret" not in evaluate(snapshot, "a-secret-customer", None)[0]


def test_flags_that_need_no_attribute_make_a_snapshot_without_targeting() -> None:
    flags = [
        make_flag(ENVIRONMENT, key="rollout", rollout_percentage=50, bucketing_key="other"),
        make_flag(ENVIRONMENT, key="whole", rollout_percentage=100, stickiness="company"),
        make_flag(ENVIRONMENT, key="off", rollout_percentage=50, stickiness="company", enabled=False),
        make_flag(ENVIRONMENT, key="rules", fallthrough=Fallthrough.OFF, rollout_percentage=50, stickiness="company"),
    ]
    assert compile_environment(ENVIRONMENT, map(TargetedFlag, flags)).targeting is None


def test_the_answers_for_groups_of_users_take_a_bounded_space() -> None:
    conditions = (Condition("plan", Operator.IN, ("pro",)),)
    targeted = [
        TargetedFlag(flag, [make_rule(flag, rule_type=RuleType.ATTRIBUTES, rule_value=None, conditions=conditions)])
        for flag in (make_flag(ENVIRONMENT, key=f"flag-{number:04d}") for number in range(1000))
    ]
    for count, most in ((1, 200), (100, 200), (1000, 20)):
        snapshot = compile_environment(ENVIRONMENT, targeted[:count])
        body, _ = evaluate(snapshot, "ada", None, {"plan": "pro"})
        assert snapshot.targeting is not None
        assert 10 < snapshot.targeting.kept_matches <= most
        assert snapshot.targeting.kept_matches * len(body) < 1_500_000


def test_only_the_attributes_of_live_rollouts_are_looked_at() -> None:
    flags = [
        make_flag(ENVIRONMENT, key="live", rollout_percentage=50, stickiness="company"),
        make_flag(ENVIRONMENT, key="off", rollout_percentage=50, stickiness="session", enabled=False),
    ]
    targeting = compile_environment(ENVIRONMENT, map(TargetedFlag, flags)).targeting
    assert targeting is not None
    assert targeting.attributes == {"company"}
