"""Compiles operators to tests of one reading of an attribute. Conditions may have 10,000 values; a test stays fast.

`in` takes one look-up, `starts_with` and `ends_with` a binary search, `contains` one for each character of the
attribute, and `in_network` a look-up for each length of prefix.
"""

import operator
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, partial
from types import MappingProxyType
from typing import Any, TypeVar

from flagstaff.conditions.attributes import READERS, Form
from flagstaff.conditions.conditions import Condition, InvalidConditionError
from flagstaff.conditions.operators import Operator

Text = TypeVar("Text", str, bytes)
Test = Callable[[Any], bool]
"""The test of one reading of an attribute."""

_NUMBER = (Form.NUMBER, "must be a decimal number such as 42, -0.5 or 1e6")
_MOMENT = (Form.MOMENT, "must be a time with its offset from UTC, such as 2026-11-20T10:00:00Z (RFC 3339)")
_VERSION = (Form.VERSION, "must be a semantic version such as 1.2.3 or 2.0.0-beta.1, without a leading v")
# The condition's value is the left operand, the attribute the right one.
_COMPARISONS: MappingProxyType[Operator, tuple[tuple[Form, str], Callable[[Any, Any], bool]]] = MappingProxyType(
    {
        Operator.EQ: (_NUMBER, operator.eq),
        Operator.GT: (_NUMBER, operator.lt),
        Operator.GTE: (_NUMBER, operator.le),
        Operator.LT: (_NUMBER, operator.gt),
        Operator.LTE: (_NUMBER, operator.ge),
        Operator.AFTER: (_MOMENT, operator.lt),
        Operator.BEFORE: (_MOMENT, operator.gt),
        Operator.SEMVER_EQ: (_VERSION, operator.eq),
        Operator.SEMVER_GT: (_VERSION, operator.lt),
        Operator.SEMVER_GTE: (_VERSION, operator.le),
        Operator.SEMVER_LT: (_VERSION, operator.gt),
        Operator.SEMVER_LTE: (_VERSION, operator.ge),
    }
)
MET_BY_HIGHEST = frozenset(each for each, (_, compare) in _COMPARISONS.items() if compare in (operator.lt, operator.le))
"""The operators that a list meets if its highest element does."""
MET_BY_LOWEST = frozenset(each for each, (_, compare) in _COMPARISONS.items() if compare in (operator.gt, operator.ge))
FEW, FEW_CONTAINED = 4, 64  # so many values are found faster, or as fast, one by one
_HEAD_LENGTH = 4
_PREFIX_LENGTH = re.compile("[0-9]{1,3}")
_TOO_LARGE = (
    "must be a smaller regular expression: repeat less, match ASCII instead of Unicode classes, or list texts with "
    "in, starts_with, ends_with or contains"
)
_BITS = MappingProxyType({4: 32, 6: 128})
# RE2 takes time for each instruction of an expression at each character. With these bounds, 1,024 characters take less
# than a millisecond whatever the expression, and compiling one takes as little.
_MAX_INSTRUCTIONS = 250
_MAX_MEMORY_BYTES = 1 << 16
# Reading a class such as \pL takes a quarter of a millisecond, before its size is known.
_MAX_UNICODE_CLASSES = 8
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)


def compile_test(condition: Condition) -> tuple[Form, Test]:
    """The form in which the attribute is read, and the test of one reading, without regard to `negate` and `not_in`.

    Made in steps of at most a few milliseconds: ten thousand ranges take longer to read.

    Raises:
        InvalidConditionError: at the first value that the operator cannot compare with, such as `values.3`.
    """
    text = Form.LOWER_TEXT if condition.case_insensitive else Form.TEXT
    match condition.operator:
        case Operator.IN | Operator.NOT_IN:
            return text, frozenset(compared_texts(condition)).__contains__
        case Operator.STARTS_WITH:
            return text, _starts_with(compared_texts(condition))
        case Operator.ENDS_WITH:
            return text, _ends_with(compared_texts(condition))
        case Operator.CONTAINS:
            return text, _contains(compared_texts(condition))
        case Operator.MATCHES:
            return Form.SEARCHED_TEXT, _matches(condition.values[0], case_sensitive=not condition.case_insensitive)
        case Operator.IN_NETWORK:
            return Form.ADDRESS, _in_network(condition.values)
    (form, message), compare = _COMPARISONS[condition.operator]
    bound = READERS[form](condition.values[0])
    if bound is None:
        raise InvalidConditionError("values.0", message)
    return form, partial(compare, bound)


def compared_texts(condition: Condition) -> Iterable[str]:
    """The values in the form in which text is compared with them."""
    return map(str.lower, condition.values) if condition.case_insensitive else condition.values


def _starts_with(values: Iterable[str]) -> Test:
    ordered = _shortest(values)
    if len(ordered) <= FEW:
        return operator.methodcaller("startswith", tuple(ordered))
    return partial(_starts_with_any, ordered)


def _ends_with(values: Iterable[str]) -> Test:
    ordered = _shortest(value[::-1] for value in values)
    if len(ordered) <= FEW:
        return operator.methodcaller("endswith", tuple(value[::-1] for value in ordered))
    return lambda text: _starts_with_any(ordered, text[::-1])


def _contains(values: Iterable[str]) -> Test:
    ordered = _shortest(value.encode() for value in values)  # bytes compare faster, and have the same substrings
    if len(ordered) <= FEW_CONTAINED:
        few = tuple(value.decode() for value in ordered)
        return lambda text: any(map(text.__contains__, few))
    length = min(_HEAD_LENGTH, *map(len, ordered))
    heads = {value[:length] for value in ordered}

    def test(text: str) -> bool:
        data = text.encode()
        for start in range(len(data) - length + 1):
            if data[start : start + length] in heads and _starts_with_any(ordered, data[start:]):
                return True
        return False

    return test


def _shortest(values: Iterable[Text]) -> list[Text]:
    """The values in order, without those that start with another one: no text starts with them alone."""
    shortest: list[Text] = []
    for value in sorted(values):
        if not shortest or not value.startswith(shortest[-1]):
            shortest.append(value)
    return shortest


def _starts_with_any(shortest: Sequence[Text], text: Text) -> bool:
    """Return whether a text starts with one of the values: only the last one that does not sort after it can fit."""
    # If all values sort after the text, this is the last one, with which the text does not start either.
    return text.startswith(shortest[bisect_right(shortest, text) - 1])


def _in_network(values: Sequence[str]) -> Test:
    """One look-up for each length of prefix, however many ranges there are."""
    networks: dict[int, dict[int, set[int]]] = {version: {} for version in _BITS}
    for index, value in enumerate(values):
        version, shift, number = _read_network(index, value)
        networks[version].setdefault(shift, set()).add(number)
    frozen = {version: tuple(by_shift.items()) for version, by_shift in networks.items()}

    def test(address: tuple[int, int]) -> bool:
        version, number = address
        return any(number >> shift in numbers for shift, numbers in frozen[version])

    return test


def _read_network(index: int, value: str) -> tuple[int, int, int]:
    """A range as its IP version, the number of bits that vary, and the number before them.

    As in Unleash, an address without a prefix length is a range, and bits behind the prefix are ignored.
    """
    text, slash, prefix = value.partition("/")
    address = READERS[Form.ADDRESS](text)
    if address is not None:
        version, number = address
        length = int(prefix) if _PREFIX_LENGTH.fullmatch(prefix) else _BITS[version] + bool(slash)
        if length <= _BITS[version]:
            shift = _BITS[version] - length
            return version, shift, number >> shift
    raise InvalidConditionError(
        f"values.{index}", "must be an IP address or a range of them, such as 192.0.2.0/24 or 2001:db8::/32"
    )


def _matches(expression: str, *, case_sensitive: bool) -> Test:
    pattern = _compile_expression(expression, case_sensitive=case_sensitive)
    return lambda text: pattern.search(text.encode()) is not None


@lru_cache(maxsize=4096)
def count_instructions(expression: str, *, case_sensitive: bool) -> int:
    """The size of the program to which RE2 compiles an expression that `check_condition` has accepted."""
    size: int = _compile_expression(expression, case_sensitive=case_sensitive).programsize
    return size


def _compile_expression(expression: str, *, case_sensitive: bool) -> Any:
    if sum(escaped in "pP" for escaped in _ESCAPE.findall(expression)) > _MAX_UNICODE_CLASSES:
        raise InvalidConditionError("values.0", _TOO_LARGE)
    import re2  # noqa: PLC0415 -- 2 MB and 4 ms, for the first regular expression: few instances have any

    options = re2.Options()
    options.case_sensitive = case_sensitive
    options.never_capture = True
    options.log_errors = False
    options.max_mem = _MAX_MEMORY_BYTES
    try:
        pattern = re2.compile(expression.encode(), options)
    except re2.error as error:
        raise InvalidConditionError("values.0", _describe(error)) from None
    if pattern.programsize > _MAX_INSTRUCTIONS:
        raise InvalidConditionError("values.0", _TOO_LARGE)
    return pattern


def _describe(error: Exception) -> str:
    reason = error.args[0].decode(errors="replace")
    return _TOO_LARGE if "too large" in reason else f"must be a regular expression in RE2's syntax: {reason}"
