"""Strategies that generate flags with rules, variants and prerequisites, segments and users for hypothesis."""

from datetime import timedelta
from typing import Any

from hypothesis import strategies as st

from flagstaff.conditions.conditions import Condition
from flagstaff.conditions.operators import Operator
from flagstaff.flags.flags import Fallthrough, Flag, Rule, RuleType
from flagstaff.flags.prerequisites import Prerequisite
from flagstaff.flags.variants import Variant
from tests.support.builders import AT, make_environment, make_flag, make_rule

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
def rules(draw: st.DrawFn, left_out: frozenset[str] = frozenset()) -> Rule:
    """A rule of any kind, for few different users, whose fields of these names have their defaults."""
    rule_type = draw(st.sampled_from(RuleType))
    fields: dict[str, st.SearchStrategy[Any]] = {
        "priority": st.integers(-1, 1),
        "conditions": st.just(()) | st.lists(some_conditions, max_size=3).map(tuple),
        "rollout_percentage": st.sampled_from([100, 100, 1, 50, 99]),
        "variant": st.sampled_from([None, "a", "b"]),
    }
    return make_rule(
        rule_type=rule_type,
        rule_value=draw(values[rule_type]),
        enabled=draw(st.sampled_from([True, True, False])),
        created_at=AT + timedelta(seconds=draw(st.integers(0, 2))),
        **{name: draw(each) for name, each in fields.items() if name not in left_out},
    )


weights = st.lists(st.integers(0, 3), min_size=1, max_size=3).filter(any)
variant_lists = st.just(()) | weights.map(
    lambda given: tuple(Variant(key, weight, f'{{"is":"{key}"}}') for key, weight in zip("abc", given, strict=False))
)


@st.composite
def prerequisites(draw: st.DrawFn, keys: list[str]) -> tuple[Prerequisite, ...]:
    """Generate prerequisites on some of the flags with these keys, and sometimes on one that does not exist."""
    needed = draw(st.just([]) | st.lists(st.sampled_from([*keys, "missing"]), max_size=2, unique=True))
    wanted = st.sampled_from([(False, ()), (True, ()), (True, ("a",)), (True, ("b", "c"))])
    return tuple(Prerequisite(key, *draw(wanted)) for key in needed)


# What many flags have hides what the others need, so an environment does without some of it.
_LEFT_OUT = st.frozensets(
    st.sampled_from(["rollout_percentage", "variants", "prerequisites", "stickiness", "conditions"]), max_size=4
)


@st.composite
def targeted_flags(draw: st.DrawFn) -> list[tuple[Flag, list[Rule]]]:
    """Flags of an environment with their rules."""
    keys = draw(st.lists(flag_keys, unique=True, max_size=6))
    left_out = draw(st.just(frozenset()) | _LEFT_OUT)
    return [
        (draw(_flags(key, keys[:place], left_out)), draw(st.lists(rules(left_out), max_size=4)))
        for place, key in enumerate(keys)
    ]


@st.composite
def _flags(draw: st.DrawFn, key: str, earlier: list[str], left_out: frozenset[str]) -> Flag:
    fields = {
        "variants": variant_lists,
        # Only earlier flags, so that there is no cycle, in an order that differs from that of the keys.
        "prerequisites": prerequisites(earlier),
        "stickiness": st.sampled_from(["default", *attribute_names]),
    }
    return make_flag(
        ENVIRONMENT,
        key=key,
        enabled=draw(st.booleans() | st.just(True)),
        rollout_percentage=draw(st.sampled_from([0, 0, 1, 50, 99, 100]) | st.integers(0, 100)),
        fallthrough=draw(st.sampled_from([*Fallthrough, Fallthrough.ROLLOUT])),
        bucketing_key=draw(st.none() | st.sampled_from(["Group one", "a:b"])),
        **{name: draw(each) for name, each in fields.items() if name not in left_out},
    )
