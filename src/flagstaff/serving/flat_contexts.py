"""Contexts in which identifiers and attributes are side by side, as the clients of other protocols send them."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import msgspec

from flagstaff.serving.context import UNREADABLE, GivenAttributes, require_sound_text
from flagstaff.values.errors import invalid_field

EMAILS = ("email", "user_email")
"""The members that may hold the user's email, the first one first."""

_decode_text = msgspec.json.Decoder(str | None).decode
_decode_identifier = msgspec.json.Decoder(str | int | float | None).decode


class GivenContext(NamedTuple):
    """The user in a request, and what reads the members of the context; most evaluations do not need those.

    Reading raises Error INVALID for members that are not valid JSON.
    """

    user_id: str | None
    user_email: str | None
    read_members: Callable[[], GivenAttributes]


def read_identifier(given: GivenAttributes, name: str, *, allow_number: bool = False) -> str | None:
    """The user's identifier, None if there is none; raises Error INVALID at its field."""
    raw = given.get(name)
    if raw is None:
        return None
    field = f"context.{name}"
    try:
        identifier: str | float | None = _decode_identifier(raw) if allow_number else _decode_text(raw)
    except msgspec.ValidationError:
        words = "a string, a number or null" if allow_number else "a string or null"
        raise invalid_field(field, f"must be {words}") from None
    except UNREADABLE:
        raise invalid_field("body", "is not valid JSON") from None
    text = bytes(raw).decode() if isinstance(identifier, int | float) else identifier
    require_sound_text(text, field)
    return text


def read_email(given: GivenAttributes, names: Iterable[str] = EMAILS) -> str | None:
    """The user's email. Applications choose the members of a context, so anything else than a text counts as missing.

    Raises:
        Error: INVALID, if the text cannot be an identifier.
    """
    for name in names:
        try:
            email: str | None = _decode_text(given[name]) if name in given else None
        except UNREADABLE:
            continue
        if email:
            require_sound_text(email, f"context.{name}")
            return email
    return None
