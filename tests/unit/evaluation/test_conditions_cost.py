"""The worst-case cost of comparing an attribute."""

from collections.abc import Callable
from contextlib import suppress
from itertools import count
from random import Random

import pytest

from flagstaff.conditions.compiled_conditions import (
    CompiledCondition,
    compile_condition,
)
from flagstaff.conditions.conditions import Condition, InvalidConditionError, check_condition
from flagstaff.conditions.operators import Operator
from tests.support.turns import fastest_in_turn, in_units

MOMENT = "2026-11-20T10:00:00Z"


def compiled_condition(operator: Operator, *values: str) -> CompiledCondition:
    return compile_condition(check_condition(Condition("attribute", operator, values)))


def test_ten_thousand_values_in_a_list_cost_what_one_costs() -> None:
    def asking(*values: str) -> Callable[[], object]:
        compiled = compiled_condition(Operator.IN, *values)
        return lambda: [compiled(f"user-{number}") for number in range(1000)]

    many, one = fastest_in_turn(asking(*(f"user-{number}" for number in range(10_000))), asking("user-1"))
    assert many < 3 * one


SLOW: dict[str, tuple[Operator, tuple[str, ...], object]] = {
    "contains, words": (Operator.CONTAINS, tuple(f"word{number}" for number in range(10_000)), "word " * 204),
    "contains, a list": (Operator.CONTAINS, tuple(f"word{number}" for number in range(10_000)), ["word " * 8] * 100),
    "contains, one letter": (Operator.CONTAINS, tuple("a" * length + "b" for length in range(1, 1000)), "a" * 1024),
    "contains, few": (Operator.CONTAINS, tuple("a" * 500 + each + "a" * 500 for each in "bcde"), "a" * 1024),
    "starts with": (Operator.STARTS_WITH, tuple("ü" * 1019 + str(number) for number in range(9999)), "ü" * 1024),
    "ends with": (Operator.ENDS_WITH, tuple(f"{number}" + "ü" * 1019 for number in range(9999)), "ü" * 1024),
    "ranges": (Operator.IN_NETWORK, tuple(f"2001:db8::/{length}" for length in range(129)), "ff::1"),
    "a number": (Operator.GT, ("5",), "9" * 1024),
    "an integer": (Operator.GT, ("5",), 2**1023 - 1),
    "an integer as text": (Operator.IN, ("5",), 2**1023 - 1),
    "a version": (Operator.SEMVER_GT, ("1.2.3",), f"1.2.3-{'1.' * 124}1"),
    "a list of addresses": (Operator.IN_NETWORK, ("10.0.0.0/8",), ["2001:db8:1:2:3:4:5:6"] * 16),
    "an expression": (Operator.MATCHES, ("(x+x+)+y",), "x" * 1024),
    "an expression with many states": (
        Operator.MATCHES,
        ("[ab]*a[ab]{230}c",),
        "".join(Random(1).choices("ab", k=1024)),
    ),
    "an expression with many choices": (Operator.MATCHES, ("(?:[ab]?){70}[ab]{100}c",), "ab" * 512),
}


# Not compared, whatever the condition.
TOO_LARGE: dict[str, object] = {
    "256 KiB": "pro" * 87_000,
    "a million digits": 10**1_000_000,
    "a million digits as text": "1" * 1_000_000,
    "100,000 elements": ["pro", 5, "1.2.3"] * 33_000,
}


@pytest.mark.parametrize(("operator", "values", "value"), SLOW.values(), ids=list(SLOW))
def test_no_attribute_is_slow_to_compare(operator: Operator, values: tuple[str, ...], value: object) -> None:
    compiled = compiled_condition(operator, *values)
    assert in_units(lambda: compiled(value)) < 2


@pytest.mark.parametrize("value", TOO_LARGE.values(), ids=list(TOO_LARGE))
@pytest.mark.parametrize(("operator", "operand"), [("in", "5"), ("matches", "1"), ("gt", "5"), ("after", MOMENT)])
def test_an_attribute_that_is_too_large_takes_no_time(operator: str, operand: str, value: object) -> None:
    compiled = compiled_condition(Operator(operator), operand)
    assert in_units(lambda: compiled(value)) < 1 / 50


EXPRESSIONS = {
    "letters": r"\pL" * 340,
    "letters, ignoring case": "(?i)" + r"\pL" * 338,
    "no letters": r"[^\PL]" * 169,
    "many letters": r"(?:\pL{100}){10}",
    "letters, as many as are read": r"\pL" * 8,
    "ranges, ignoring case": "(?i)" + "[A-\U0001e943]" * 203,
    "repetitions": "(?:" * 9 + "[ab]" + "){2}" * 9,
    "choices": "(?:a|" * 169 + ")" * 169,
    "groups": "(" * 510 + ")" * 510,
}


@pytest.mark.parametrize("expression", EXPRESSIONS.values(), ids=list(EXPRESSIONS))
def test_no_expression_is_slow_to_compile_or_to_refuse(expression: str) -> None:
    numbers = count()  # the library keeps expressions that it has compiled

    def check() -> None:
        with suppress(InvalidConditionError):
            compiled_condition(Operator.MATCHES, f"{expression}{next(numbers):x}")

    assert in_units(check, repeat=5) < 10
