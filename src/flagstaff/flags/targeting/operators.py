"""The operators of conditions. evaluation/operators.py compiles them into tests."""

from enum import StrEnum


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


# A list may be empty where Unleash permits it: no text is in an empty list.
MAY_BE_EMPTY = frozenset({Operator.IN, Operator.NOT_IN})
TAKES_A_LIST = MAY_BE_EMPTY | {Operator.STARTS_WITH, Operator.ENDS_WITH, Operator.CONTAINS, Operator.IN_NETWORK}
COMPARES_TEXT = (TAKES_A_LIST | {Operator.MATCHES}) - {Operator.IN_NETWORK}
