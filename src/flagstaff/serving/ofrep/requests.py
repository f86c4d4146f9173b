"""Reads OFREP requests. Clients send no context, no targeting key, null or an empty text for nobody."""

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from flagstaff.http.nesting import require_plain
from flagstaff.serving.context import (
    IDENTIFIER_MAX_LENGTH,
    UNREADABLE,
    GivenAttributes,
    Types,
    mistyped,
    read_repaired,
    require_few,
)
from flagstaff.serving.flat_contexts import GivenContext, read_email, read_identifier
from flagstaff.values.errors import FieldError

IDENTIFIERS = ("targetingKey", "email", "user_email")
_CONTEXT: Types = {"context": (b"{n", "an object or null")}


class _Context(msgspec.Struct, gc=False):
    user_id: str | None = msgspec.field(name="targetingKey", default=None)
    email: str | None = None
    user_email: str | None = None


class _Plain(msgspec.Struct, gc=False):
    context: _Context


class _Body(msgspec.Struct, gc=False):
    context: dict[str, msgspec.Raw] | None = None


_decode_plain = msgspec.json.Decoder(_Plain).decode
_decode = msgspec.json.Decoder(_Body).decode


def read_request(body: bytes) -> GivenContext:
    """The user, and the members of the context, which are custom attributes.

    Raises:
        Error: INVALID, at the field `body` or one of the context.
    """
    require_plain(body)
    if len(body) <= IDENTIFIER_MAX_LENGTH and b"\\" not in body:  # nothing is too long, or a NUL
        try:
            context = _decode_plain(body).context
        except UNREADABLE:
            pass
        else:
            return GivenContext(context.user_id, context.email or context.user_email, lambda: _members(body))
    given = _members(body)
    return GivenContext(read_identifier(given, "targetingKey"), read_email(given), lambda: given)


def credential_in(headers: Iterable[tuple[bytes, bytes]]) -> str:
    """The SDK key in `Authorization: Bearer` or `X-API-Key`; an empty string if there is none, or not just one."""
    found = set()
    for name, value in headers:
        if name == b"x-api-key":
            found.add(value.strip())
        elif name == b"authorization" and value[:7].lower() == b"bearer ":
            found.add(value[7:].strip())
    return found.pop().decode("latin-1") if len(found) == 1 else ""


def _members(body: bytes) -> GivenAttributes:
    try:
        request = _decode(body)
    except UNREADABLE as error:
        request = read_repaired(body, error, _decode, _mistakes)
    return require_few(request.context or {}, "context")


def _mistakes(document: Mapping[str, msgspec.Raw]) -> Iterator[FieldError]:
    return mistyped(document, _CONTEXT)
