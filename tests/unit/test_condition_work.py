"""The computed cost of conditions."""

from collections.abc import Sequence
from itertools import pairwise

import msgspec
import pytest

from flagstaff.conditions.conditions import LISTS_MAX, Condition
from flagstaff.conditions.operators import Operator
from flagstaff.conditions.predicates import instructions_of
from flagstaff.evaluation.compiler import TargetedFlag
from flagstaff.evaluation.evaluator import evaluate
from flagstaff.evaluation.snapshot_assembly import compile_environment
from flagstaff.flags.condition_work import compute_work
from flagstaff.flags.flags import Fallthrough, Rule, RuleType
from flagstaff.serving.context import Context, given_attributes, read_attributes
from tests.support.builders import make_environment, make_flag, make_rule
from tests.support.turns import in_units

DEFAULT_BUDGET = 1_000
OPERATORS = {
    "number": (Operator.GTE, "5"),
    "time": (Operator.AFTER, "2026-01-01T00:00:00Z"),
    "version": (Operator.SEMVER_GTE, "2.1.0"),
}


def rule_about(attribute: str, kind: str) -> Rule:
    operator, value = OPERATORS[kind]
    flag = make_flag(make_environment(), fallthrough=Fallthrough.OFF)
    condition = Condition(attribute, operator, (value,))
    return make_rule(flag, rule_type=RuleType.ATTRIBUTES, rule_value=None, conditions=(condition,))


def work_of(rules: Sequence[Rule]) -> float:
    return compute_work(instructions_of, rules, ()).micros


def test_a_mobile_app_with_eight_compared_attributes_and_200_flags_fits_the_default_budget() -> None:
    kinds = ["version"] * 3 + ["number"] * 3 + ["time"] * 2
    attributes = [(f"{kind}-{place}", kind) for place, kind in enumerate(kinds)]
    rules = [rule_about(*attributes[number % len(attributes)]) for number in range(200)]
    assert work_of(rules) < DEFAULT_BUDGET


@pytest.mark.parametrize("kind", OPERATORS)
def test_only_as_many_attributes_cost_what_lists_cost_as_a_context_can_have_lists(kind: str) -> None:
    works = [work_of([rule_about(f"a{place}", kind) for place in range(count)]) for count in range(LISTS_MAX + 3)]
    added = [after - before for before, after in pairwise(works)]
    assert added[:LISTS_MAX] == pytest.approx([added[0]] * LISTS_MAX)
    assert added[LISTS_MAX:] == pytest.approx([added[-1]] * 2)
    assert added[-1] < added[0] / 1.5


def test_the_lists_that_cost_most_are_counted_in_whatever_order_they_come() -> None:
    rules = [rule_about(f"{kind}-{place}", kind) for place in range(LISTS_MAX) for kind in OPERATORS]
    assert work_of(rules) == pytest.approx(work_of(rules[::-1]))


@pytest.mark.parametrize("are_lists", [False, True])
def test_no_context_is_slow_to_compare_with_versions_up_to_the_budget(are_lists: bool) -> None:
    rules: list[Rule] = []
    while work_of(rules) < DEFAULT_BUDGET:
        rules.append(rule_about(f"a{len(rules)}", "version"))
    flags = [make_flag(make_environment(), key=f"flag-{place}") for place in range(len(rules))]
    targeted = [TargetedFlag(flag, [rule]) for flag, rule in zip(flags, rules, strict=True)]
    snapshot = compile_environment(make_environment(), targeted)
    assert snapshot.targeting is not None
    value: object = ["1.0.0-" + "1." * 28 + "1"] * 16 if are_lists else "1.0.0-" + "1." * 124 + "1"
    given = {f"a{place}": value for place in range(len(rules))}
    context = Context(custom_attributes=msgspec.Raw(msgspec.json.encode(given)))

    def answer() -> None:
        assert snapshot.targeting is not None
        snapshot.targeting.kept.clear()  # a user about whom nothing is remembered
        evaluate(snapshot, "ada", None, read_attributes(given_attributes(context), snapshot.targeting.custom))

    assert in_units(answer) < 2
