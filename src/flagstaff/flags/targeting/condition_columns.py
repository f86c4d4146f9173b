"""Conditions as JSON in a column."""

from collections.abc import Mapping
from typing import Any

from flagstaff.conditions.conditions import Condition
from flagstaff.conditions.operators import Operator


def write_condition(condition: Condition) -> dict[str, Any]:
    """The stored form of a condition."""
    return {
        "attribute": condition.attribute,
        "operator": condition.operator,
        "values": condition.values,
        "case_insensitive": condition.case_insensitive,
        "negate": condition.negate,
    }


def read_condition(stored: Mapping[str, Any]) -> Condition:
    """A condition from its stored form."""
    return Condition(
        stored["attribute"],
        Operator(stored["operator"]),
        tuple(stored["values"]),
        stored["case_insensitive"],
        stored["negate"],
    )
