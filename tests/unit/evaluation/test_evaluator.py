"""The compiled evaluator compared with the naive one, on inputs that hypothesis generates."""

import json
from datetime import timedelta
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from flagstaff.domain.conditions import Condition, Operator
from flagstaff.domain.flags import Fallthrough, Flag, Rule, RuleType
from flagstaff.domain.prerequisites import Prerequisite
from flagstaff.domain.variants import Variant
from flagstaff.evaluation.assembly import compile_environment
from flagstaff.evaluation.compiler import TargetedFlag
from flagstaff.evaluation.evaluator import evaluate
from tests.support.builders import AT, make_environment, make_flag, make_rule, make_segment
from tests.support.naive import Answer, Context, deciding_rule, evaluate_naively

ENVIRONMENT = make_environment()

# A few common values, so that rules do match, and arbitrary texts.
anything = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=8)
ids = st.sampled_from(["ada", "ada", "Ada", "ada@example.com"]) | anything
emails = st.sampled_from(
    ["ada@example.com", "ADA@Example.com", "grace@sub.example.com", "eve@evil-example.com", "İ@i.example"]
)
domains = st.sampled_from(["example.com", "@EXAMPLE.com", "sub.example.com", "I.EXAMPLE", "com"])
values = {
    RuleType.USER_ID: ids.filter(bool),
    RuleType.USER_EMAIL: emails,
    RuleType.EMAIL_DOMAIN: domains,
    RuleType.ATTRIBUTES: st.none(),
    RuleType.SEGMENT: st.sampled_from(["beta", "staff"]),
}
plans = st.sampled_from(["gold", "Gold", "1", "2.5", "1.2.3", "true", "192.0.2.1", "2026-11-20T10:00:00Z"])
some_conditions = st.one_of(
    st.builds(
        Condition,
        attribute=st.sampled_from(["plan", "company", "user_id", "user_email", "email_domain", "environment"]),
        operator=st.sampled_from([Operator.IN, Operator.NOT_IN, Operator.STARTS_WITH, Operator.CONTAINS]),
        values=st.lists(plans | emails | domains | st.just("production"), min_size=1, max_size=3).map(tuple),
        case_insensitive=st.booleans(),
        negate=st.booleans(),
    ),
    st.builds(
        Condition,
        attribute=st.sampled_from(["plan", "company"]),
        operator=st.sampled_from([Operator.EQ, Operator.GTE]),
        values=st.sampled_from([("1",), ("2.5",)]),
        negate=st.booleans(),
    ),
)
flag_keys = st.text("abz09_-", max_size=6).map("k".__add__)
attribute_names = ["company", "plan", "default", "user_id", "user_email", "email_domain", "environment"]
attribute_values = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | ids
    | plans
    | st.sampled_from([1, 1.0, True, 2.5])
    | st.lists(ids | plans, max_size=2)
)
attributes = st.dictionaries(st.sampled_from(attribute_names), attribute_values)
users = st.none() | st.just("") | ids
addresses = (
    st.none() | st.just("") | emails | anything | st.sampled_from(["@example.com", "example.com", "a@b@example.com"])
)
some_segments = st.fixed_dictionaries(
    {key: st.lists(some_conditions, max_size=2).map(tuple) for key in ("beta", "staff")}
)


@st.composite
def rules(draw: st.DrawFn) -> Rule:
    rule_type = draw(st.sampled_from(RuleType))
    return make_rule(
        rule_type=rule_type,
        rule_value=draw(values[rule_type]),
        priority=draw(st.integers(-1, 1)),
        enabled=draw(st.sampled_from([True, True, False])),
        created_at=AT + timedelta(seconds=draw(st.integers(0, 2))),
        conditions=tuple(draw(st.just([]) | st.lists(some_conditions, max_size=3))),
        rollout_percentage=draw(st.sampled_from([100, 100, 1, 50, 99])),
        variant=draw(st.sampled_from([None, "a", "b"])),
    )


weights = st.lists(st.integers(0, 3), min_size=1, max_size=3).filter(any)
variant_lists = st.just(()) | weights.map(
    lambda given: tuple(Variant(key, weight, f'{{"is":"{key}"}}') for key, weight in zip("abc", given, strict=False))
)


@st.composite
def prerequisites(draw: st.DrawFn, keys: list[str]) -> tuple[Prerequisite, ...]:
    needed = draw(st.just([]) | st.lists(st.sampled_from([*keys, "missing"]), max_size=2, unique=True))
    wanted = st.sampled_from([(False, ()), (True, ()), (True, ("a",)), (True, ("b", "c"))])
    return tuple(Prerequisite(key, *draw(wanted)) for key in needed)


@st.composite
def targeted_flags(draw: st.DrawFn) -> list[tuple[Flag, list[Rule]]]:
    keys = draw(st.lists(flag_keys, unique=True, max_size=6))
    return [
        (
            make_flag(
                ENVIRONMENT,
                key=key,
                variants=draw(variant_lists),
                # Only earlier flags, so that there is no cycle, in an order unlike that of the keys.
                prerequisites=draw(prerequisites(keys[:place])),
                enabled=draw(st.booleans() | st.just(True)),
                rollout_percentage=draw(st.sampled_from([0, 0, 1, 50, 99, 100]) | st.integers(0, 100)),
                fallthrough=draw(st.sampled_from([*Fallthrough, Fallthrough.ROLLOUT])),
                bucketing_key=draw(st.none() | st.sampled_from(["Group one", "a:b"])),
                stickiness=draw(st.sampled_from(["default", *attribute_names])),
            ),
            draw(st.lists(rules(), max_size=4)),
        )
        for place, key in enumerate(keys)
    ]


def each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object. Fails if a name occurs twice."""
    assert len({name for name, _ in pairs}) == len(pairs)
    return dict(pairs)


@settings(max_examples=500)
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
        if decision.bucket is not None:
            assert decision.bucket == context.bucket(flag)


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


def test_only_the_attributes_of_live_rollouts_are_looked_at() -> None:
    flags = [
        make_flag(ENVIRONMENT, key="live", rollout_percentage=50, stickiness="company"),
        make_flag(ENVIRONMENT, key="off", rollout_percentage=50, stickiness="session", enabled=False),
    ]
    targeting = compile_environment(ENVIRONMENT, map(TargetedFlag, flags)).targeting
    assert targeting is not None
    assert targeting.attributes == {"company"}
