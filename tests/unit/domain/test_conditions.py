"""The rules for conditions that need no library."""

from typing import Any

import pytest

from flagstaff.conditions.conditions import (
    Condition,
    InvalidConditionError,
    check_condition,
    check_number_of_conditions,
)
from flagstaff.conditions.operators import Operator

TEXT_LISTS = (Operator.IN, Operator.NOT_IN, Operator.STARTS_WITH, Operator.ENDS_WITH, Operator.CONTAINS)
LISTS = (*TEXT_LISTS, Operator.IN_NETWORK)
SINGLES = tuple(each for each in Operator if each not in LISTS)


def condition(**changes: Any) -> Condition:
    fields: dict[str, Any] = {"attribute": "plan", "operator": Operator.IN, "values": ("pro",)}
    return Condition(**(fields | changes))


def refusal(**changes: Any) -> InvalidConditionError:
    with pytest.raises(InvalidConditionError) as caught:
        check_condition(condition(**changes))
    return caught.value


@pytest.mark.parametrize(
    ("attribute", "message"),
    [
        ("", "must not be empty"),
        (" \t\u2003", "must not be empty"),
        ("a" * 129, "at most 128 characters"),
        ("pl\x00an", "NUL"),
        ("\ud800", "lone surrogates"),
    ],
)
def test_a_name_that_no_attribute_can_have_is_refused(attribute: str, message: str) -> None:
    error = refusal(attribute=attribute)
    assert error.path == "attribute"
    assert message in str(error)


@pytest.mark.parametrize("operator", LISTS)
@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("", "must not be empty"),
        (" \n", "must not be empty"),
        ("a" * 1025, "at most 1,024 characters"),
        ("a\x00", "NUL"),
        ("a\udfff", "lone surrogates"),
    ],
)
def test_a_value_that_cannot_be_compared_is_refused_at_its_index(operator: Operator, value: str, message: str) -> None:
    error = refusal(operator=operator, values=("a", "b", value, ""))
    assert error.path == "values.2"
    assert message in str(error)


@pytest.mark.parametrize("operator", LISTS)
def test_more_than_10_000_values_are_refused(operator: Operator) -> None:
    error = refusal(operator=operator, values=("a",) * 10_001)
    assert error.path == "values"
    assert "at most 10,000 values" in str(error)


@pytest.mark.parametrize("operator", LISTS)
def test_a_list_without_values_is_refused(operator: Operator) -> None:
    error = refusal(operator=operator, values=())
    assert error.path == "values"
    assert "at least one value" in str(error)


@pytest.mark.parametrize("operator", SINGLES)
@pytest.mark.parametrize("values", [(), ("1", "2")])
def test_an_operator_that_compares_with_one_value_takes_exactly_one(operator: Operator, values: tuple[str]) -> None:
    error = refusal(operator=operator, values=values)
    assert error.path == "values"
    assert f"exactly one value: {operator} compares with one" in str(error)


@pytest.mark.parametrize("operator", [each for each in Operator if each not in {*TEXT_LISTS, Operator.MATCHES}])
def test_an_operator_that_does_not_compare_text_cannot_ignore_case(operator: Operator) -> None:
    error = refusal(operator=operator, values=("1",), case_insensitive=True)
    assert error.path == "case_insensitive"
    assert f"must be false: {operator} does not compare text" in str(error)


def test_more_than_50_conditions_are_refused() -> None:
    with pytest.raises(InvalidConditionError, match="at most 50 conditions") as caught:
        check_number_of_conditions([condition()] * 51)
    assert caught.value.path == ""


def test_an_error_can_be_named_from_outside() -> None:
    error = refusal(values=("a", "", "b"))
    assert error.inside(3).inside("conditions").path == "conditions.3.values.1"
    assert str(error.inside(3)) == str(error)
    assert InvalidConditionError("", "too many").inside("conditions").path == "conditions"


def test_50_conditions_are_accepted() -> None:
    check_number_of_conditions([condition()] * 50)


def test_names_and_values_are_trimmed() -> None:
    checked = check_condition(condition(attribute=" plan ", values=("pro\n", " team a\u2003")))
    assert checked == condition(attribute="plan", values=("pro", "team a"))


def test_a_regular_expression_is_kept_as_it_is() -> None:
    assert check_condition(condition(operator=Operator.MATCHES, values=(" ",))).values == (" ",)


def test_the_longest_names_and_values_are_kept() -> None:
    longest = condition(attribute="a" * 128, values=("ü" * 1024,) * 10_000, case_insensitive=True, negate=True)
    assert check_condition(longest) == longest
