"""Predicates that are checked in small steps, compared with those that are decided at once; and what is remembered."""

import tracemalloc
from functools import partial
from itertools import count

import pytest

from flagstaff.conditions.conditions import Condition
from flagstaff.conditions.operators import Operator
from flagstaff.conditions.predicates import assemble_predicates, compile_predicate, instructions_of
from tests.support.turns import fastest_in_turn

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
        ({"plan": "solo"}, {4}),
        ({"plan": "piano"}, {1, 2, 4}),
        ({"plan": "pro"}, {0, 1, 2, 4}),
        ({"plan": "pro", "country": "CH"}, {0, 1, 2, 3, 4}),
        ({"country": "CH"}, {4}),
    ],
)
def test_the_predicates_hold_whose_conditions_all_do(values: dict[str, object], holding: set[int]) -> None:
    predicates = assemble_predicates([compile_predicate(each) for each in ALL])
    bits = sum(1 << number for number in holding)
    assert predicates.holding(values) == bits


def test_the_questions_about_some_attributes_ask_nothing_about_the_others() -> None:
    predicates = assemble_predicates([compile_predicate(each) for each in ALL])
    about_plan, about_country = predicates.about({"plan"}), predicates.about({"country", "city"})
    assert about_plan.holding({"plan": "pro"}) == 0b11111
    assert about_plan.holding({"country": "CH"}) == 0b10000
    assert about_country.holding({"plan": "pro"}) == 0b10111
    assert about_country.holding({"country": "CH"}) == 0b11111


def test_a_value_that_was_seen_is_not_checked_again() -> None:
    hard = [[Condition("plan", Operator.MATCHES, (f"[ab]*a[ab]{{200}}{number}",))] for number in range(20)]
    predicates = assemble_predicates([compile_predicate(each) for each in hard])
    numbers = count()
    new, *seen = fastest_in_turn(
        lambda: predicates.holding({"plan": f"{'ab' * 45}{next(numbers)}"}),
        *(partial(predicates.holding, {"plan": value}) for value in ("ab" * 50, 5, 5.5, True, None)),
    )
    assert 10 * max(seen) < new


@pytest.mark.parametrize(("attribute", "most_bytes"), [("plan", 400_000), ("user_id", 4_000)])
def test_the_values_that_are_remembered_take_a_bounded_space(attribute: str, most_bytes: int) -> None:
    condition = Condition(attribute, Operator.IN, ("pro",))
    predicates = assemble_predicates([compile_predicate([condition])])
    predicates.holding({attribute: "first"})
    tracemalloc.start()
    try:
        for number in range(5_000):
            predicates.holding({attribute: f"{number:0100}"})
        assert tracemalloc.get_traced_memory()[1] < most_bytes
    finally:
        tracemalloc.stop()


def test_fewer_values_are_remembered_for_more_predicates() -> None:
    predicate = compile_predicate([PLAN_IS_PRO])
    for number, fewest, most in ((1, 1000, 1000), (20_000, 300, 400)):
        (about_plan,) = assemble_predicates([predicate] * number).by_attribute
        assert fewest <= about_plan.kept_values <= most


def test_an_expression_is_as_large_as_what_it_is_compiled_to() -> None:
    def size(attribute: str, **values: bool) -> int:
        return instructions_of(Condition(attribute, Operator.MATCHES, ("k{20}",), **values))

    assert size("plan") < size("plan", case_insensitive=True)
    assert size("user_email") == size("plan", case_insensitive=True)
