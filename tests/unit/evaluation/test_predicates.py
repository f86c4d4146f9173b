"""Predicates that are checked in small steps, compared with those that are decided at once."""

import pytest

from flagstaff.evaluation.conditions import finish
from flagstaff.evaluation.predicates import assemble_predicates, compile_predicate
from flagstaff.flags.targeting.conditions import Condition
from flagstaff.flags.targeting.operators import Operator

PLAN_IS_PRO = Condition("plan", Operator.IN, ("pro", "team"))
PLAN_BEGINS_WITH_P = Condition("plan", Operator.STARTS_WITH, ("p",))
PLAN_ENDS_WITH_O = Condition("plan", Operator.ENDS_WITH, ("o",))
COUNTRY_IS_SWITZERLAND = Condition("country", Operator.IN, ("CH",))
ALL = [
    [PLAN_IS_PRO],
    [PLAN_BEGINS_WITH_P],
    [PLAN_BEGINS_WITH_P, PLAN_ENDS_WITH_O],
    [PLAN_IS_PRO, COUNTRY_IS_SWITZERLAND],
    [],
]


@pytest.mark.parametrize(
    ("values", "holding"),
    [
        ({}, {4}),
        ({"plan": "team"}, {0, 4}),
        ({"plan": "plus"}, {1, 4}),
        ({"plan": "piano"}, {1, 2, 4}),
        ({"plan": "pro"}, {0, 1, 2, 4}),
        ({"plan": "pro", "country": "CH"}, {0, 1, 2, 3, 4}),
        ({"country": "CH"}, {4}),
    ],
)
def test_the_same_predicates_hold_at_once_and_in_steps(values: dict[str, object], holding: set[int]) -> None:
    predicates = finish(assemble_predicates([compile_predicate(each) for each in ALL]))
    bits = sum(1 << number for number in holding)
    assert predicates.holding(values) == bits
    assert finish(predicates.checking(values)) == bits
