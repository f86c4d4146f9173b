"""Variants: the values between which a flag that is on divides its users."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from flagstaff.values.text import check_length, check_text

MAX_VARIANTS = 50
WEIGHT_MAX = 1000
KEY_MAX_LENGTH = 128
MAX_DEPTH = 20
# The integers that every JSON parser reads exactly.
INTEGER_MAX = 2**53 - 1


@dataclass(frozen=True, slots=True)
class Variant:
    """A variant of a flag: its share of the sum of all weights, and its value as JSON."""

    key: str
    weight: int
    value: str

    def as_recorded(self) -> dict[str, Any]:
        """The variant as the audit trail has it."""
        return {"key": self.key, "weight": self.weight, "value": json.loads(self.value)}


def check_variant_key(value: str) -> str:
    """A variant's key: trimmed, 1 to 128 characters."""
    return check_length(check_text(value).strip(), 1, KEY_MAX_LENGTH)


def check_weight(value: int) -> int:
    """A variant's weight: a whole number from 0 to 1000."""
    if not 0 <= value <= WEIGHT_MAX:
        raise ValueError(f"must be a whole number from 0 to {WEIGHT_MAX}")
    return value


def check_value(value: Any) -> Any:
    """A variant's value: a string, number, boolean or object that JSON can hold in every database and language."""
    if value is None or isinstance(value, list):
        raise ValueError("must be a string, a number, a boolean or an object")
    _check_json(value, 0)
    return value


def encode_value(value: Any) -> str:
    """A value as JSON, in one fixed form."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def check_variants(variants: Sequence[Variant]) -> tuple[Variant, ...]:
    """A flag's variants, which have been checked one by one.

    Raises:
        ValueError: when there are too many, two have the same key, their values differ in type or nobody gets any.
    """
    if len(variants) > MAX_VARIANTS:
        raise ValueError(f"must have at most {MAX_VARIANTS} items")
    keys = [variant.key for variant in variants]
    twice = next((key for place, key in enumerate(keys) if key in keys[:place]), None)
    if twice is not None:
        raise ValueError(f"must have different keys; {twice!r} occurs twice")
    kinds = sorted({_kind(variant.value) for variant in variants})
    if len(kinds) > 1:
        raise ValueError(f"must have values of one type; these are {' and '.join(kinds)}")
    if variants and not sum(variant.weight for variant in variants):
        raise ValueError("must have a weight above 0 for at least one variant")
    return tuple(variants)


def _kind(encoded: str) -> str:
    return {'"': "strings", "{": "objects", "t": "booleans", "f": "booleans"}.get(encoded[0], "numbers")


def _check_json(value: Any, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise ValueError(f"must not be nested more than {MAX_DEPTH} levels deep")
    match value:
        case str():
            check_text(value)
        case int() if not isinstance(value, bool) and abs(value) > INTEGER_MAX:
            raise ValueError(f"must not contain integers beyond {INTEGER_MAX}")
        case float() if not isfinite(value):
            raise ValueError("must not contain numbers that JSON cannot hold")
        case list():
            for each in value:
                _check_json(each, depth + 1)
        case dict():
            for name, each in value.items():
                check_text(name)
                _check_json(each, depth + 1)
