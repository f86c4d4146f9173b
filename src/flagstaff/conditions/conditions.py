"""Conditions on attributes of a user: their operators, and the checks that need no library.

conditions/compiled_conditions.py compiles conditions, and refuses values that their operator cannot compare.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from flagstaff.conditions.operators import COMPARES_TEXT, TAKES_A_LIST, Operator
from flagstaff.values.text import check_length, check_text

ATTRIBUTE_MAX_LENGTH = 128
LISTS_MAX = 8
"""The attributes of a context that are compared if they are lists; further lists count as missing."""
VALUE_MAX_LENGTH = 1024
MAX_VALUES = 10_000
MAX_CONDITIONS = 50


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on one attribute, met if the attribute matches any of the values, or none of them with `negate`."""

    attribute: str
    operator: Operator
    values: tuple[str, ...]
    case_insensitive: bool = False
    negate: bool = False


class InvalidConditionError(ValueError):
    """An invalid condition. `path` names the part that is wrong, such as `values.3`; `1.values.3` in a list.

    It is empty if the list of conditions itself is wrong.
    """

    def __init__(self, path: str, message: str) -> None:
        super().__init__(message)
        self.path = path

    def inside(self, parent: str | int) -> "InvalidConditionError":
        """The same error as seen from the parent, which is a field or an index."""
        return InvalidConditionError(f"{parent}.{self.path}" if self.path else str(parent), str(self))


def check_condition(condition: Condition) -> Condition:
    """Return the condition as it is stored: the attribute's name and the values trimmed, as Unleash compares them.

    A regular expression is not trimmed, because spaces have a meaning there.

    Raises:
        InvalidConditionError: when a part is missing, too long or not text, or there are too many or too few values.
    """
    operator = condition.operator
    try:
        attribute = check_length(check_text(condition.attribute).strip(), 1, ATTRIBUTE_MAX_LENGTH)
    except ValueError as error:
        raise InvalidConditionError("attribute", str(error)) from None
    if condition.case_insensitive and operator not in COMPARES_TEXT:
        raise InvalidConditionError("case_insensitive", f"must be false: {operator} does not compare text")
    _check_number_of_values(operator, len(condition.values))
    return replace(condition, attribute=attribute, values=_check_values(operator, condition.values))


def check_number_of_conditions(conditions: Sequence[Condition]) -> None:
    """Refuse a list of more than 50 conditions.

    Raises:
        InvalidConditionError: with an empty path.
    """
    if len(conditions) > MAX_CONDITIONS:
        raise InvalidConditionError("", f"must contain at most {MAX_CONDITIONS} conditions")


def _check_number_of_values(operator: Operator, number: int) -> None:
    if operator not in TAKES_A_LIST:
        if number != 1:
            raise InvalidConditionError("values", f"must contain exactly one value: {operator} compares with one")
    elif number > MAX_VALUES:
        raise InvalidConditionError("values", f"must contain at most {MAX_VALUES:,} values")
    elif not number:
        raise InvalidConditionError("values", "must contain at least one value")


def _check_values(operator: Operator, values: Sequence[str]) -> tuple[str, ...]:
    checked = []
    for index, value in enumerate(values):
        text = value if operator is Operator.MATCHES else value.strip()
        try:
            checked.append(check_length(check_text(text), 1, VALUE_MAX_LENGTH))
        except ValueError as error:
            raise InvalidConditionError(f"values.{index}", str(error)) from None
    return tuple(checked)
