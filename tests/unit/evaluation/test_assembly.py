"""A snapshot is assembled in small steps, between which evaluations are answered."""

from functools import cached_property
from typing import Any

import pytest

from flagstaff.conditions.conditions import Condition
from flagstaff.conditions.operators import Operator
from flagstaff.evaluation.compiler import TargetedFlag
from flagstaff.evaluation.evaluator import evaluate
from flagstaff.evaluation.snapshot_assembly import compile_environment
from flagstaff.evaluation.targets import Targeting
from flagstaff.flags.flags import Fallthrough, RuleType
from flagstaff.flags.variants import Variant
from tests.support.builders import make_environment, make_flag, make_rule

COUNT = 100


def test_the_first_evaluation_has_nothing_left_to_prepare() -> None:
    environment = make_environment()
    flag = make_flag(environment, rollout_percentage=50, stickiness="company")
    targeting = compile_environment(environment, [TargetedFlag(flag)]).targeting
    assert targeting is not None
    computed = {name for name, value in vars(Targeting).items() if isinstance(value, cached_property)}
    assert computed <= vars(targeting).keys()


@pytest.mark.parametrize(
    ("values", "percentages", "hashes"),
    [
        ({}, (100,), 0),
        ({"rollout_percentage": 50}, (), 1),
        ({}, (50, 60), 1),
        ({"rollout_percentage": 50}, (60,), 1),
        ({"variants": (Variant("a", 1, "1"),)}, (), 1),
        ({"rollout_percentage": 50, "variants": (Variant("a", 1, "1"),)}, (60,), 2),
    ],
)
def test_an_identifier_is_hashed_once_for_the_bucket_and_once_for_the_variant(
    values: dict[str, Any], percentages: tuple[int, ...], hashes: int
) -> None:
    environment = make_environment()
    flags = [make_flag(environment, key=f"flag-{number}", **values) for number in range(2)]
    targeted = [
        TargetedFlag(flag, [make_rule(flag, rollout_percentage=each) for each in percentages]) for flag in flags
    ]
    assert compile_environment(environment, targeted).hashes == 2 * hashes


@pytest.mark.parametrize(
    "values", [{}, {"enabled": False}, {"rollout_percentage": 100}, {"fallthrough": Fallthrough.OFF}]
)
def test_a_result_that_is_the_same_for_everyone_takes_no_byte_of_the_history(values: dict[str, Any]) -> None:
    environment = make_environment()
    snapshot = compile_environment(environment, [TargetedFlag(make_flag(environment, **values))])
    assert evaluate(snapshot, "ada", None)[1] == b""


def test_the_history_names_the_custom_attributes_that_flags_look_at() -> None:
    environment = make_environment()
    flag = make_flag(environment, rollout_percentage=50, stickiness="company")
    conditions = [Condition(name, Operator.IN, ("a",)) for name in ("plan", "user_id", "current_time")]
    rule = make_rule(flag, rule_type=RuleType.ATTRIBUTES, rule_value=None, conditions=tuple(conditions))
    assert compile_environment(environment, [TargetedFlag(flag)]).layout.attributes == ("company",)
    assert compile_environment(environment, [TargetedFlag(flag, [rule])]).layout.attributes == ("company", "plan")
