"""Conditions for tests: a typical one for each operator."""

from flagstaff.conditions.compiled_conditions import compile_condition
from flagstaff.conditions.conditions import Condition, check_condition
from flagstaff.conditions.operators import Operator

TYPICAL = {
    Operator.IN: ("pro", "team"),
    Operator.NOT_IN: ("pro", "team"),
    Operator.STARTS_WITH: ("pro", "team"),
    Operator.ENDS_WITH: ("pro", "team"),
    Operator.CONTAINS: ("pro", "team"),
    Operator.EQ: ("5",),
    Operator.GT: ("5",),
    Operator.GTE: ("5",),
    Operator.LT: ("5",),
    Operator.LTE: ("5",),
    Operator.BEFORE: ("2026-11-20T10:00:00Z",),
    Operator.AFTER: ("2026-11-20T10:00:00Z",),
    Operator.SEMVER_EQ: ("1.2.3",),
    Operator.SEMVER_GT: ("1.2.3",),
    Operator.SEMVER_GTE: ("1.2.3",),
    Operator.SEMVER_LT: ("1.2.3",),
    Operator.SEMVER_LTE: ("1.2.3",),
    Operator.IN_NETWORK: ("10.0.0.0/8", "2001:db8::/32"),
    Operator.MATCHES: ("^pro|am$",),
}
NUMBERS = (Operator.EQ, Operator.GT, Operator.GTE, Operator.LT, Operator.LTE)
MOMENTS = (Operator.BEFORE, Operator.AFTER)
VERSIONS = tuple(each for each in Operator if each.startswith("semver_"))
TEXTS = (
    Operator.IN,
    Operator.NOT_IN,
    Operator.STARTS_WITH,
    Operator.ENDS_WITH,
    Operator.CONTAINS,
    Operator.MATCHES,
)


def make_condition(operator: Operator, *values: str, **flags: bool) -> Condition:
    """Return a stored condition, with the typical values unless others are given."""
    return check_condition(Condition("attribute", operator, values or TYPICAL[operator], **flags))


def meets(value: object, operator: Operator, *values: str, **flags: bool) -> bool:
    """Return whether an attribute meets such a condition."""
    return compile_condition(make_condition(operator, *values, **flags))(value)
