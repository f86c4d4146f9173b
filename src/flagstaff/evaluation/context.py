"""The attributes of a context: those that every context has, and the custom ones; and what identifies a user."""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from math import isfinite

IDENTIFIER_MAX_LENGTH = 1024
_MAX_INTEGER_BITS = 1023  # longer integers take quadratic time


def resolve(
    names: Iterable[str], custom: Mapping[str, object], user_id: str | None, email: str, environment_key: str
) -> dict[str, object]:
    """The values of attributes by name. A custom attribute never replaces one that every context has.

    `email` is the lower-cased email, or an empty string.
    """
    values: dict[str, object] = {}
    for name in names:
        match name:
            case "user_id":
                values[name] = user_id or None
            case "user_email":
                values[name] = email or None
            case "email_domain":
                values[name] = email.rpartition("@")[2] or None if "@" in email else None
            case "environment":
                values[name] = environment_key
            case _:
                values[name] = custom.get(name)
    return values


def identifier_in(value: object) -> bytes:
    """The identifier that an attribute's value makes, in UTF-8: a text, or a number as JavaScript writes it.

    Anything else makes none, and so do longer texts: the result is empty.
    """
    if isinstance(value, str):
        return value.encode() if len(value) <= IDENTIFIER_MAX_LENGTH else b""
    if isinstance(value, bool):
        return b""
    if isinstance(value, int):
        return str(value).encode() if value.bit_length() <= _MAX_INTEGER_BITS else b""
    if isinstance(value, float) and isfinite(value):
        return _write_number(value).encode()
    return b""


def _write_number(number: float) -> str:
    """The shortest digits that identify a number, with an exponent below 1e-6 and from 1e21."""
    if not number:
        return "0"
    if not 1e-6 <= abs(number) < 1e21:
        return repr(number).replace("e-0", "e-").replace(".0e", "e")
    return f"{Decimal(repr(number)):f}".removesuffix(".0")
