"""The operators of conditions, and what each compares.

conditions/operator_functions.py compiles them into tests. CONTRIBUTING.md lists what else a new one needs.
"""

from enum import StrEnum
from types import MappingProxyType


class ValueType(StrEnum):
    """The type of the values that an operator compares."""

    TEXT = "text"
    NUMBER = "number"
    MOMENT = "moment"
    VERSION = "version"
    ADDRESS = "address"


class Operator(StrEnum):
    """The comparison of a condition: of the attribute with its values."""

    IN = "in"
    NOT_IN = "not_in"
    STARTS_WITH = "starts_with"
    ENDS_WITH = "ends_with"
    CONTAINS = "contains"
    EQ = "eq"
    GT = "gt"
    GTE = "gte"
    LT = "lt"
    LTE = "lte"
    BEFORE = "before"
    AFTER = "after"
    SEMVER_EQ = "semver_eq"
    SEMVER_GT = "semver_gt"
    SEMVER_GTE = "semver_gte"
    SEMVER_LT = "semver_lt"
    SEMVER_LTE = "semver_lte"
    IN_NETWORK = "in_network"
    MATCHES = "matches"


def _describe(operator: Operator) -> tuple[ValueType, bool]:
    """The type of an operator's values, and whether there may be several. mypy names an operator that is missing."""
    match operator:
        case Operator.IN | Operator.NOT_IN | Operator.STARTS_WITH | Operator.ENDS_WITH | Operator.CONTAINS:
            return ValueType.TEXT, True
        case Operator.MATCHES:
            return ValueType.TEXT, False
        case Operator.EQ | Operator.GT | Operator.GTE | Operator.LT | Operator.LTE:
            return ValueType.NUMBER, False
        case Operator.BEFORE | Operator.AFTER:
            return ValueType.MOMENT, False
        case Operator.SEMVER_EQ | Operator.SEMVER_GT | Operator.SEMVER_GTE | Operator.SEMVER_LT | Operator.SEMVER_LTE:
            return ValueType.VERSION, False
        case Operator.IN_NETWORK:
            return ValueType.ADDRESS, True


_described = {operator: _describe(operator) for operator in Operator}
VALUE_TYPES = MappingProxyType({operator: value_type for operator, (value_type, _) in _described.items()})
COMPARES_TEXT = frozenset(operator for operator in Operator if VALUE_TYPES[operator] is ValueType.TEXT)
TAKES_A_LIST = frozenset(operator for operator, (_, takes_a_list) in _described.items() if takes_a_list)
LOOKS_UP = frozenset({Operator.IN, Operator.NOT_IN})
"""Those that compare with a whole list at once. Stored lists may be empty: earlier releases accepted that."""
