"""Reads OFREP requests. Clients send no context, no targeting key, null or an empty text for nobody."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import msgspec

from flagstaff.domain.errors import FieldError
from flagstaff.web.context import UNREADABLE, GivenAttributes, Types, mistyped, read_repaired
from flagstaff.web.sdk.contexts import read_email, read_identifier

_CONTEXT: Types = {"context": (b"{n", "an object or null")}


class _Body(msgspec.Struct, gc=False):
    context: dict[str, msgspec.Raw] | None = None


_decode = msgspec.json.Decoder(_Body).decode


class OfrepRequest(NamedTuple):
    """The user, and the members of the context, which are custom attributes."""

    user_id: str | None
    user_email: str | None
    given: GivenAttributes


def read_request(body: bytes) -> OfrepRequest:
    """Read a body; raises Error INVALID at the field `body` or one of the context."""
    try:
        request = _decode(body)
    except UNREADABLE as error:
        request = read_repaired(body, error, _decode, _mistakes)
    given = request.context or {}
    return OfrepRequest(read_identifier(given, "targetingKey"), read_email(given), given)


def credential_in(headers: Iterable[tuple[bytes, bytes]]) -> str:
    """The SDK key in `Authorization: Bearer` or `X-API-Key`; an empty string if there is none, or not just one."""
    found = set()
    for name, value in headers:
        if name == b"x-api-key":
            found.add(value.strip())
        elif name == b"authorization" and value[:7].lower() == b"bearer ":
            found.add(value[7:].strip())
    return found.pop().decode("latin-1") if len(found) == 1 else ""


def _mistakes(document: Mapping[str, msgspec.Raw]) -> Iterator[FieldError]:
    return mistyped(document, _CONTEXT)
