"""The flags and the scenarios of OpenFeature's provider conformance suite, Appendix F of its specification.

`missing-flag` is in no environment. Scenarios about events and about the start of a provider are left out: server
providers for OFREP ask for each flag, and keep nothing that could change.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from tests.support.api import Json

HIT_USER, OTHER_USER = "5c3d8535-f81a-4478-a6d3-afaa4d51199e", "f20bd32d-703b-48b6-bc8e-79d53c85134a"
TARGETED = "targeting-key-flag"
TEMPLATE = {"showImages": True, "title": "Check out these pics!", "imagesPerPage": 100}

_SCALARS: Mapping[str, Mapping[str, Any]] = {
    "boolean-flag": {"on": True, "off": False},
    "string-flag": {"greeting": "hi", "parting": "bye"},
    "integer-flag": {"ten": 10, "one": 1},
    "float-flag": {"half": 0.5, "tenth": 0.1},
}
# The variants of each flag, of which everyone gets the first.
_VARIANTS: Mapping[str, Mapping[str, Any]] = {
    **_SCALARS,
    **{f"disabled-{key}": variants for key, variants in _SCALARS.items()},
    "large-integer-flag": {"max-int32": 2**31 - 1, "one": 1},
    "huge-integer-flag": {"max-safe": 2**53 - 1, "one": 1},
    "integral-float-flag": {"ten": 10.0, "tenth": 0.1},
    "boolean-zero-flag": {"zero": False, "non-zero": True},
    "integer-zero-flag": {"zero": 0, "non-zero": 1},
    "string-zero-flag": {"zero": "", "non-zero": "str"},
    "object-flag": {"template": TEMPLATE, "empty": {}},
    "wrong-flag": {"one": "uno", "two": "dos"},
    TARGETED: {"miss": "miss", "hit": "hit"},
    "changing-flag": {"foo": "foo", "bar": "bar"},
}
TARGETING_RULE = {"rule_value": HIT_USER, "variant": "hit"}


class Scenario(NamedTuple):
    """A question and its answer; the variant is None where the suite does not ask for it."""

    flag: str
    kind: str
    default: Any
    value: Any
    reason: str
    variant: str | None = None
    error: str | None = None
    user: str = ""


def canonical_flags() -> Iterator[Json]:
    """The flags, as the API takes them."""
    for key, variants in _VARIANTS.items():
        weighted = [
            {"key": variant, "weight": 0 if place else 1000, "value": value}
            for place, (variant, value) in enumerate(variants.items())
        ]
        yield {"key": key, "variants": weighted, "enabled": not key.startswith("disabled-")}


def _mismatch(flag: str, kind: str, default: Any) -> Scenario:
    return Scenario(flag, kind, default, default, "ERROR", error="TYPE_MISMATCH")


_ANSWERS = (
    Scenario("boolean-flag", "boolean", False, True, "STATIC", "on"),
    Scenario("string-flag", "string", "bye", "hi", "STATIC", "greeting"),
    Scenario("integer-flag", "integer", 1, 10, "STATIC", "ten"),
    Scenario("float-flag", "float", 0.1, 0.5, "STATIC", "half"),
    Scenario("object-flag", "object", {}, TEMPLATE, "STATIC", "template"),
    Scenario("boolean-zero-flag", "boolean", True, False, "STATIC", "zero"),
    Scenario("integer-zero-flag", "integer", 1, 0, "STATIC", "zero"),
    Scenario("string-zero-flag", "string", "fallback", "", "STATIC", "zero"),
    Scenario("large-integer-flag", "integer", 1, 2**31 - 1, "STATIC", "max-int32"),
    Scenario("huge-integer-flag", "integer", 1, 2**53 - 1, "STATIC", "max-safe"),
    Scenario("string-flag", "string", "bye", "hi", "STATIC", "greeting", user=OTHER_USER),
    Scenario(TARGETED, "string", "fallback", "hit", "TARGETING_MATCH", "hit", user=HIT_USER),
    # The suite expects DEFAULT, which OFREP does not have.
    Scenario(TARGETED, "string", "fallback", "miss", "STATIC", "miss", user=OTHER_USER),
    Scenario(TARGETED, "string", "fallback", "miss", "STATIC", "miss"),
    # The suite expects DISABLED, with which the provider for Go returns the application's default, also if that is on.
    Scenario("disabled-boolean-flag", "boolean", False, False, "STATIC"),
    Scenario("disabled-string-flag", "string", "bye", "bye", "DISABLED"),
    Scenario("disabled-integer-flag", "integer", 1, 1, "DISABLED"),
    Scenario("disabled-float-flag", "float", 0.1, 0.1, "DISABLED"),
)
_ERRORS = (
    Scenario("missing-flag", "string", "fallback", "fallback", "ERROR", error="FLAG_NOT_FOUND"),
    _mismatch("string-flag", "boolean", False),
    _mismatch("string-flag", "integer", 1),
    _mismatch("string-flag", "float", 0.1),
    _mismatch("wrong-flag", "boolean", False),
    _mismatch("boolean-flag", "string", "fallback"),
    _mismatch("boolean-flag", "integer", 1),
    _mismatch("boolean-flag", "float", 0.1),
    _mismatch("integer-flag", "boolean", False),
    _mismatch("integer-flag", "string", "fallback"),
    _mismatch("float-flag", "boolean", False),
    _mismatch("float-flag", "string", "fallback"),
    _mismatch("object-flag", "boolean", False),
    _mismatch("object-flag", "string", "fallback"),
    _mismatch("object-flag", "integer", 1),
    _mismatch("object-flag", "float", 0.1),
)
_NUMBERS = (
    _mismatch("float-flag", "integer", 1),
    Scenario("integral-float-flag", "integer", 1, 10, "STATIC", "ten"),
    Scenario("integer-flag", "float", 0.1, 10.0, "STATIC", "ten"),
)
SCENARIOS = (*_ANSWERS, *_ERRORS, *_NUMBERS)
