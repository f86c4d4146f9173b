"""Compiles conditions to functions of an attribute, with Unleash's meaning of the operators.

A list meets a condition if any of its elements does; with `negate` or `not_in`, if none does. An attribute that is
missing, or that attributes.py cannot read in the operator's form, meets no condition, not even one with `negate`;
except `not_in`, which it meets unless that is negated. `negate` turns `not_in` into `in`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from flagstaff.conditions.attributes import Form, Readings, read
from flagstaff.conditions.conditions import (
    Condition,
    InvalidConditionError,
    check_condition,
    check_number_of_conditions,
)
from flagstaff.conditions.operator_functions import (
    MET_BY_HIGHEST,
    MET_BY_LOWEST,
    Test,
    compared_texts,
    compile_test,
)
from flagstaff.conditions.operators import LOOKS_UP, Operator


@dataclass(frozen=True, slots=True)
class CompiledCondition:
    """A condition as a function of an attribute's value: any JSON value, None if it is missing.

    To read an attribute once for several conditions, pass `read(form, value)` to the `decide` of each.
    """

    attribute: str
    form: Form
    decide: Callable[[Readings], bool]

    def __call__(self, value: object) -> bool:
        """Return whether the attribute meets the condition; never raises an error."""
        return self.decide(read(self.form, value))


def check_conditions(conditions: Sequence[Condition]) -> tuple[Condition, ...]:
    """Return conditions as they are stored. What is returned compiles.

    Raises:
        InvalidConditionError: with a path such as `1.values.3`, or an empty one if there are too many conditions.
    """
    check_number_of_conditions(conditions)
    checked = []
    for index, condition in enumerate(conditions):
        try:
            checked.append(check_condition(condition))
            compile_condition(checked[index])
        except InvalidConditionError as error:
            raise error.inside(index) from None
    return tuple(checked)


def compile_condition(condition: Condition) -> CompiledCondition:
    """Compile a condition as `check_condition` returned it.

    Raises:
        InvalidConditionError: at the first value that the operator cannot compare with, such as `values.3`.
    """
    form, test = compile_test(condition)
    not_in = condition.operator is Operator.NOT_IN
    met, missing = not_in == condition.negate, not_in and not condition.negate
    if condition.operator in LOOKS_UP:
        decide = _look_up(frozenset(compared_texts(condition)), met=met, missing=missing)
    elif condition.operator in MET_BY_HIGHEST:
        decide = _compare(test, -1, met=met, missing=missing)
    elif condition.operator in MET_BY_LOWEST:
        decide = _compare(test, 0, met=met, missing=missing)
    else:
        decide = _decide(test, met=met, missing=missing)
    return CompiledCondition(condition.attribute, form, decide)


def lookup_values(condition: Condition) -> frozenset[str] | None:
    """The texts that meet a condition, if equality alone decides: `in` without `negate`. Otherwise None.

    With `case_insensitive`, they are in lower case and are compared with the attribute in Form.LOWER_TEXT.
    """
    if condition.operator is not Operator.IN or condition.negate:
        return None
    return frozenset(compared_texts(condition))


def _decide(test: Test, *, met: bool, missing: bool) -> Callable[[Readings], bool]:
    def decide(readings: Readings) -> bool:
        if not readings:
            return missing
        for reading in readings:
            if test(reading):
                return met
        return not met

    return decide


def _look_up(texts: frozenset[str], *, met: bool, missing: bool) -> Callable[[Readings], bool]:
    """The same for look-ups, of a whole list at once."""

    def decide(readings: Readings) -> bool:
        if not readings:
            return missing
        return met if not texts.isdisjoint(readings) else not met

    return decide


def _compare(test: Test, place: int, *, met: bool, missing: bool) -> Callable[[Readings], bool]:
    """The same for comparisons by order: of a list, the lowest or the highest element suffices."""

    def decide(readings: Readings) -> bool:
        if not readings:
            return missing
        return met if test(readings[place]) else not met

    return decide
