"""Conditions as the documentation describes them, one value at a time. Shares no code with the engine."""

import re
from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from ipaddress import ip_address, ip_network
from typing import Any

from flagstaff.conditions.conditions import Condition

_VERSION_PART = re.compile(r"[0-9A-Za-z-]+")


def meets_naively(condition: Condition, value: object) -> bool:
    """Return whether an attribute meets a condition."""
    readings = [] if value is None else _read_all(condition, value)
    negative = (condition.operator.value == "not_in") != condition.negate
    if not readings:
        return condition.operator.value == "not_in" and negative
    return any(_is_met(condition, reading) for reading in readings) != negative


def _read_all(condition: Condition, value: object) -> list[Any]:
    elements: list[object] = value if isinstance(value, list) else [value]
    name = condition.operator.value
    characters = 4096 if name in {"in", "not_in", "starts_with", "ends_with", "contains"} else 1024
    length = 100 if characters == 4096 or name in {"eq", "gt", "gte", "lt", "lte"} else 16
    if isinstance(value, list) and (len(value) > length or sum(map(_length, value)) > characters):
        return []
    readings = [_read(condition, each) for each in elements]
    return [reading for reading in readings if reading is not None]


def _length(element: object) -> int:
    if isinstance(element, int) and element.bit_length() > 64:
        return element.bit_length() // 3
    return len(element) if isinstance(element, str) else 0


def _read(condition: Condition, value: object) -> Any:
    if isinstance(value, str) and (len(value) > 1024 or any("\ud800" <= each <= "\udfff" for each in value)):
        return None
    return _kind(condition)(value)


def _kind(condition: Condition) -> Callable[[Any], Any]:
    name = condition.operator.value
    if name.startswith("semver_"):
        return _version
    if name in {"eq", "gt", "gte", "lt", "lte"}:
        return _number
    if name in {"before", "after"}:
        return _moment
    return _address if name == "in_network" else _text


def _is_met(condition: Condition, reading: Any) -> bool:
    name = condition.operator.value
    fold: Callable[[str], str] = str.lower if condition.case_insensitive else str
    values = condition.values
    match name:
        case "in" | "not_in":
            return fold(reading) in [fold(value) for value in values]
        case "starts_with":
            return any(fold(reading)[: len(fold(value))] == fold(value) for value in values)
        case "ends_with":
            return any(fold(reading)[-len(fold(value)) :] == fold(value) for value in values)
        case "contains":
            return any(fold(value) in fold(reading) for value in values)
        case "matches":
            return re.search(values[0], reading, re.IGNORECASE if condition.case_insensitive else 0) is not None
        case "in_network":
            return any(reading in ip_network(value, strict=False) for value in values)
    return _is_ordered(name.removeprefix("semver_"), reading, _kind(condition)(values[0]))


def _is_ordered(name: str, reading: Any, bound: Any) -> bool:
    match name:
        case "eq":
            return bool(reading == bound)
        case "gt" | "after":
            return bool(reading > bound)
        case "gte":
            return bool(reading >= bound)
        case "lt" | "before":
            return bool(reading < bound)
        case "lte":
            return bool(reading <= bound)
    raise AssertionError(name)


def _text(value: object) -> str | None:
    match value:
        case str():
            return value
        case bool():
            return str(value).lower()
        case int():
            return None if abs(value) >= 2**1023 else str(value)
        case float() if value - value == 0:
            return _as_javascript_writes(value)
        case _:
            return None


def _as_javascript_writes(number: float) -> str:
    """Format a number like ECMAScript's Number::toString: the shortest digits, then the position of the point."""
    if number == 0:
        return "0"
    sign = "-" if number < 0 else ""
    # repr has them, too. Rounding to each length in turn misses them for some powers of two, such as 2**-24.
    _, found, exponent = Decimal(repr(abs(number))).normalize().as_tuple()
    digits = "".join(map(str, found))
    point = len(digits) + int(exponent)
    if len(digits) <= point <= 21:
        return sign + digits + "0" * (point - len(digits))
    if 0 < point <= 21:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    fraction = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{fraction}e{point - 1:+d}"


def _number(value: object) -> float | None:
    match value:
        case bool():
            return None
        case int():
            return None if abs(value) >= 2**1023 else float(value)
        case float():
            number = value
        case str() if set(value) <= set("0123456789+-.eE"):
            try:
                number = float(value)
            except ValueError:
                return None
        case _:
            return None
    return number if number - number == 0 else None


def _moment(value: object) -> Fraction | None:
    """Return microseconds since the year 0; finer parts are dropped."""
    if isinstance(value, datetime):
        value = value.isoformat()
    pattern = r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:Z|([+-])(\d\d):(\d\d))"
    found = re.fullmatch(pattern, value, re.ASCII | re.IGNORECASE) if isinstance(value, str) else None
    if not found or len(found[0]) > 64:
        return None
    year, month, day, hour, minute, second = (int(found[index]) for index in range(1, 7))
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    months = [31, 29 if leap else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    sign, offset_hour, offset_minute = found[8], int(found[9] or 0), int(found[10] or 0)
    if not (year and 1 <= month <= 12 and 1 <= day <= months[month - 1]):
        return None
    if hour > 23 or minute > 59 or second > 59 or offset_hour > 23 or offset_minute > 59:
        return None
    days = year * 365 + (year - 1) // 4 - (year - 1) // 100 + (year - 1) // 400 + sum(months[: month - 1]) + day
    offset = (offset_hour * 60 + offset_minute) * (-1 if sign == "-" else 1)
    microseconds = int((found[7] or "").ljust(6, "0")[:6])
    return Fraction(((days * 24 + hour) * 60 + minute - offset) * 60 + second) + Fraction(microseconds, 1_000_000)


def _version(value: object) -> tuple[Any, ...] | None:
    if not isinstance(value, str) or len(value) > 256:
        return None
    rest, plus, build = value.partition("+")
    core, minus, prerelease = rest.partition("-")
    numbers = core.split(".")
    if len(numbers) != 3 or not all(_is_number(each) for each in numbers):
        return None
    if plus and not all(_VERSION_PART.fullmatch(each) for each in build.split(".")):
        return None
    ranks = []
    for each in prerelease.split(".") if minus else []:
        if not _VERSION_PART.fullmatch(each) or (set(each) <= set("0123456789") and not _is_number(each)):
            return None
        ranks.append((0, int(each), "") if _is_number(each) else (1, 0, each))
    return (*map(int, numbers), 0 if minus else 1, ranks)


def _is_number(text: str) -> bool:
    return re.fullmatch(r"0|[1-9][0-9]*", text) is not None


def _address(value: object) -> Any:
    if not isinstance(value, str) or "%" in value:
        return None
    try:
        return ip_address(value)
    except ValueError:
        return None
