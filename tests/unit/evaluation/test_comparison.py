"""Comparing two versions of a flag for recorded evaluations."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from flagstaff.conditions.conditions import Condition
from flagstaff.conditions.operators import Operator
from flagstaff.evaluation.compiler import TargetedFlag
from flagstaff.evaluation.explanations.comparison import Comparison, Effect
from flagstaff.evaluation.history.layout import Layout
from flagstaff.evaluation.history.records import RecordedEvaluation
from flagstaff.evaluation.snapshot import EnvironmentSnapshot
from flagstaff.evaluation.snapshot_assembly import compile_environment
from flagstaff.flags.flags import Fallthrough, Flag, RuleType
from flagstaff.flags.prerequisites import Prerequisite
from flagstaff.flags.variants import Variant
from tests.support.builders import AT, make_environment, make_flag, make_rule

ENVIRONMENT = make_environment()
ON = make_flag(ENVIRONMENT, key="flag")
OFF = make_flag(ENVIRONMENT, key="flag", enabled=False)


def recorded(
    user_id: str | None = "ada", attributes: dict[str, Any] | None = None, **values: Any
) -> RecordedEvaluation:
    """Return a recorded evaluation whose attributes were kept."""
    layout = Layout((), (), tuple(sorted(attributes or ())))
    return RecordedEvaluation(uuid4(), AT, user_id, None, layout, b"", **{"attributes": attributes, **values})


def snapshot(flag: Flag, *conditions: Condition, others: tuple[Flag, ...] = ()) -> EnvironmentSnapshot:
    """The flag, with a rule for these conditions if there are any, and others."""
    rule = make_rule(flag, rule_type=RuleType.ATTRIBUTES, rule_value=None, conditions=conditions)
    rules = [rule] if conditions else []
    return compile_environment(ENVIRONMENT, [TargetedFlag(flag, rules), *map(TargetedFlag, others)])


def effect(before: EnvironmentSnapshot, after: EnvironmentSnapshot, evaluation: RecordedEvaluation) -> Effect:
    return Comparison(before, after, "flag").effect(evaluation)


def varied(**values: str) -> Flag:
    """A flag whose first variant has all users."""
    variants = (Variant(key, int(not place), value) for place, (key, value) in enumerate(values.items()))
    return make_flag(ENVIRONMENT, key="flag", variants=tuple(variants))


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (ON, ON, Effect.NONE),
        (OFF, OFF, Effect.NONE),
        (OFF, ON, Effect.TURNED_ON),
        (ON, OFF, Effect.TURNED_OFF),
        (ON, make_flag(ENVIRONMENT, key="flag", rollout_percentage=100), Effect.NONE),
        (varied(a="1", b="2"), varied(a="1", c="3"), Effect.NONE),
        (varied(a="1", b="2"), varied(b="2", a="1"), Effect.VARIANT_CHANGED),
        (varied(a="1"), varied(a="2"), Effect.VARIANT_CHANGED),
        (ON, varied(a="1"), Effect.VARIANT_CHANGED),
        (OFF, varied(a="1"), Effect.TURNED_ON),
    ],
)
def test_a_change_has_an_effect_if_the_result_differs(before: Flag, after: Flag, expected: Effect) -> None:
    assert effect(snapshot(before), snapshot(after), recorded()) is expected


def test_without_an_attribute_that_either_version_looks_at_nothing_is_known() -> None:
    gold = Condition("plan", Operator.IN, ("gold",))
    only = make_flag(ENVIRONMENT, key="flag", fallthrough=Fallthrough.OFF)
    plain, ruled = snapshot(only), snapshot(only, gold)
    for before, after in ((plain, ruled), (ruled, plain)):
        assert effect(before, after, recorded()) is Effect.UNKNOWN
        assert effect(before, after, recorded(attributes={"country": "PT"})) is Effect.UNKNOWN
    assert effect(plain, ruled, recorded(attributes={"plan": "gold"})) is Effect.TURNED_ON
    assert effect(ruled, plain, recorded(attributes={"plan": "gold"})) is Effect.TURNED_OFF
    assert effect(plain, ruled, recorded(attributes={"plan": "silver"})) is Effect.NONE
    assert effect(plain, ruled, recorded(attributes={}, has_all=True)) is Effect.NONE


def test_what_a_prerequisite_looks_at_must_be_known_as_well() -> None:
    other = make_flag(ENVIRONMENT, key="other", rollout_percentage=50, stickiness="company")
    needing = make_flag(ENVIRONMENT, key="flag", prerequisites=(Prerequisite("other"),))
    before, after = snapshot(ON, others=(other,)), snapshot(needing, others=(other,))
    assert effect(before, after, recorded()) is Effect.UNKNOWN
    effects = {effect(before, after, recorded(attributes={"company": number})) for number in range(50)}
    assert effects == {Effect.NONE, Effect.TURNED_OFF}


def test_the_time_is_that_of_the_evaluation() -> None:
    late = Condition("current_time", Operator.AFTER, ((AT - timedelta(seconds=1)).isoformat(),))
    only = make_flag(ENVIRONMENT, key="flag", fallthrough=Fallthrough.OFF)
    assert effect(snapshot(only), snapshot(only, late), recorded()) is Effect.TURNED_ON
