"""Reads attributes of a user in the forms that conditions compare.

Clients choose attributes, so reading one never raises an error, and takes time that is bounded by a constant:

- Text: a string as it is; `true` and `false`; a number as JavaScript writes it, so that 5.0 is `5`.
- Lower text: the same in lower case.
- A number: a JSON number, or a string that contains a decimal number; as an IEEE 754 double, as in Unleash's SDKs.
- A moment: a string in RFC 3339's form, such as `2026-11-20T10:00:00.5+01:00`, or a datetime with a time zone.
- A version: a string in the form of Semantic Versioning 2.0.0, of at most 256 characters.
- An address: a string that contains an IPv4 or IPv6 address without a zone.

A list is read element by element. Values of other forms are left out: null, objects, lists in lists, strings of more
than 1,024 characters or with lone surrogates, integers that no double can hold, and lists of more than 100 elements or
4,096 characters. Numbers have at most 1,024 characters in a list, and what takes longest to read or to compare, which
are times, versions, addresses and text to search with regular expressions, has 16 elements as well. Of forms with an
order, the lowest element of a list is read first and the highest last.
"""

import re
from collections.abc import Callable
from datetime import datetime
from enum import Enum, auto
from ipaddress import ip_address
from math import isfinite
from types import MappingProxyType
from typing import Any

TEXT_MAX_LENGTH = 1024
IDENTIFIER_MAX_BYTES = 1024
"""Of an attribute that identifies users, which thousands of flags may hash."""
LIST_MAX_LENGTH = 100
LIST_MAX_CHARACTERS = 4096

_MAX_INTEGER_BITS = 1023  # the largest power of two that a double can hold; long integers take quadratic time
_SHORT_INTEGER_BITS = 64
_MOMENT_MAX_LENGTH = 64
_VERSION_MAX_LENGTH = 256  # as in the package semver for JavaScript
_ADDRESS_MAX_LENGTH = 45
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_HOUR_AND_MINUTE = "(?:[01][0-9]|2[0-3]):[0-5][0-9]"
_MOMENT = re.compile(
    rf"[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}[Tt]{_HOUR_AND_MINUTE}:[0-5][0-9](?:\.[0-9]+)?(?:[Zz]|[+-]{_HOUR_AND_MINUTE})"
)
_IDENTIFIER = "(?:0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)"
_VERSION = re.compile(
    r"(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)"
    rf"(?:-({_IDENTIFIER}(?:\.{_IDENTIFIER})*))?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?"
)

Readings = tuple[Any, ...]
"""The readings of an attribute: one element for a single value; none if there is nothing to compare."""


class Form(Enum):
    """The forms in which attributes are compared. Text for regular expressions is read like text, from short lists."""

    TEXT = auto()
    LOWER_TEXT = auto()
    SEARCHED_TEXT = auto()
    NUMBER = auto()
    MOMENT = auto()
    VERSION = auto()
    ADDRESS = auto()


_LIST_BOUNDS: MappingProxyType[Form, tuple[int, int]] = MappingProxyType(
    {
        **dict.fromkeys(Form, (16, 1024)),
        **dict.fromkeys((Form.TEXT, Form.LOWER_TEXT), (LIST_MAX_LENGTH, LIST_MAX_CHARACTERS)),
        Form.NUMBER: (LIST_MAX_LENGTH, 1024),
    }
)
"""The most elements and characters of a list, by the form in which it is read."""
_ORDERED = frozenset({Form.NUMBER, Form.MOMENT, Form.VERSION})


def read(form: Form, value: object) -> Readings:
    """Read an attribute: any JSON value, None if it is missing."""
    read_one = READERS[form]
    if isinstance(value, list):
        length, characters = _LIST_BOUNDS[form]
        if len(value) > length or _count_characters(value) > characters:
            return ()
        readings = tuple(reading for each in value if (reading := read_one(each)) is not None)
        return (min(readings), *readings, max(readings)) if form in _ORDERED and readings else readings
    reading = read_one(value)
    return () if reading is None else (reading,)


def comparable(value: object) -> object:
    """The part of an attribute that any form can read; None if there is none."""
    if isinstance(value, list):
        if len(value) > LIST_MAX_LENGTH or _count_characters(value) > LIST_MAX_CHARACTERS:
            return None
        return [each for each in value if _read_text(each) is not None] or None
    return None if _read_text(value) is None else value  # what the other forms read from JSON is text, too


def _count_characters(values: list[Any]) -> int:
    """Count the characters of texts, and about the digits of long integers. Other elements are short."""
    return sum(
        len(each) if isinstance(each, str) else each.bit_length() // 3
        for each in values
        if isinstance(each, str) or (isinstance(each, int) and each.bit_length() > _SHORT_INTEGER_BITS)
    )


def _read_text(value: object) -> str | None:
    if isinstance(value, str):
        return value if len(value) <= TEXT_MAX_LENGTH and (value.isascii() or _is_unicode(value)) else None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value) if value.bit_length() <= _MAX_INTEGER_BITS else None
    if isinstance(value, float) and isfinite(value):
        return _write_number(value)
    return None


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _write_number(number: float) -> str:
    """The shortest digits that identify a number, with an exponent below 1e-6 and from 1e21."""
    text = repr(number + 0.0)  # the sum turns -0.0 into 0.0
    if "e" not in text:
        return text.removesuffix(".0")
    if not 1e-6 <= abs(number) < 1e21:
        return text.replace("e-0", "e-")
    sign = "-" if number < 0 else ""
    mantissa, _, power = text.removeprefix("-").partition("e")
    digits, zeros = mantissa.replace(".", ""), int(power)
    return sign + ("0." + "0" * (-zeros - 1) + digits if zeros < 0 else digits.ljust(zeros + 1, "0"))


def _read_lower_text(value: object) -> str | None:
    text = _read_text(value)
    return None if text is None else text.lower()


def _read_number(value: object) -> float | None:
    if isinstance(value, str):
        if len(value) > TEXT_MAX_LENGTH or not _NUMBER.fullmatch(value):
            return None
        value = float(value)
    elif isinstance(value, int) and not isinstance(value, bool) and value.bit_length() <= _MAX_INTEGER_BITS:
        return float(value)
    return value if isinstance(value, float) and isfinite(value) else None


def _read_moment(value: object) -> datetime | None:
    if isinstance(value, datetime):
        return value if value.tzinfo else None
    if not isinstance(value, str) or len(value) > _MOMENT_MAX_LENGTH or not _MOMENT.fullmatch(value):
        return None
    try:
        return datetime.fromisoformat(value.upper())
    except ValueError:  # such as the 30th of February
        return None


def _read_version(value: object) -> tuple[Any, ...] | None:
    """A version as a tuple that sorts by precedence, without build metadata."""
    if not isinstance(value, str) or len(value) > _VERSION_MAX_LENGTH or not (found := _VERSION.fullmatch(value)):
        return None
    major, minor, patch, prerelease = found.groups()
    if prerelease is None:
        return int(major), int(minor), int(patch), True
    # Numeric identifiers precede others.
    identifiers = tuple([(False, int(each)) if each.isdigit() else (True, each) for each in prerelease.split(".")])
    return int(major), int(minor), int(patch), False, identifiers


def _read_address(value: object) -> tuple[int, int] | None:
    """An address as its IP version and its number."""
    if not isinstance(value, str) or len(value) > _ADDRESS_MAX_LENGTH or "%" in value:
        return None
    try:
        address = ip_address(value)
    except ValueError:
        return None
    return address.version, int(address)


READERS: MappingProxyType[Form, Callable[[object], Any]] = MappingProxyType(
    {
        Form.TEXT: _read_text,
        Form.LOWER_TEXT: _read_lower_text,
        Form.SEARCHED_TEXT: _read_text,
        Form.NUMBER: _read_number,
        Form.MOMENT: _read_moment,
        Form.VERSION: _read_version,
        Form.ADDRESS: _read_address,
    }
)
"""For each form, what reads one element: its reading, or None."""


def read_identifier(value: object) -> str:
    """Return the text that identifies a user by an attribute: a text of up to 1,024 bytes or a number; else empty."""
    text = "" if isinstance(value, bool | list) else "".join(read(Form.TEXT, value))
    return text if text.isascii() or len(text.encode()) <= IDENTIFIER_MAX_BYTES else ""
