"""Reads the contexts of Unleash's frontend API: from the query of a GET, or the body of a POST."""

from collections.abc import Iterator, Mapping
from urllib.parse import parse_qsl

import msgspec

from flagstaff.http.nesting import require_plain
from flagstaff.serving.context import UNREADABLE, GivenAttributes, Types, mistyped, read_repaired, require_few
from flagstaff.serving.flat_contexts import GivenContext, read_email, read_identifier
from flagstaff.values.errors import FieldError, invalid_field

_MAX_FIELDS = 1000  # of a query
_PROPERTY, _END = "properties[", "]"
# The environment is the key's, and the time the server's.
_IGNORED = ("userId", "properties", "environment", "currentTime")
_CONTEXT: Types = {"context": (b"{n", "an object or null")}
_PROPERTIES: Types = {"properties": (b"{n", "an object or null")}


class _Body(msgspec.Struct, gc=False):
    context: dict[str, msgspec.Raw] | None = None


_decode = msgspec.json.Decoder(_Body).decode
_decode_object = msgspec.json.Decoder(dict[str, msgspec.Raw] | None).decode
_encode = msgspec.json.Encoder().encode


def read_query(query: bytes) -> GivenContext:
    """Read the context in a query; raises Error INVALID."""
    try:
        pairs = parse_qsl(query.decode("latin-1"), keep_blank_values=True, max_num_fields=_MAX_FIELDS)
    except ValueError:
        raise invalid_field("query", f"must have at most {_MAX_FIELDS} fields") from None
    context: dict[str, msgspec.Raw] = {}
    properties: dict[str, msgspec.Raw] = {}
    for name, value in pairs:
        raw = msgspec.Raw(_encode(value))
        if name.startswith(_PROPERTY) and name.endswith(_END):
            properties[name[len(_PROPERTY) : -len(_END)]] = raw
        else:
            context[name] = raw
    return _request(context, properties)


def read_body(body: bytes) -> GivenContext:
    """Read the context in a body; raises Error INVALID at its field."""
    require_plain(body)
    try:
        request = _decode(body)
    except UNREADABLE as error:
        request = read_repaired(body, error, _decode, _mistakes)
    context = request.context or {}
    try:
        properties = _decode_object(context.get("properties", b"{}")) or {}
    except msgspec.ValidationError:
        raise invalid_field("context.properties", "must be an object or null") from None
    except UNREADABLE:
        raise invalid_field("body", "is not valid JSON") from None
    return _request(context, properties)


def _request(context: GivenAttributes, properties: GivenAttributes) -> GivenContext:
    """The user, and the custom attributes: the properties, and the further fields that every context has."""
    others = {name: raw for name, raw in context.items() if name not in _IGNORED}
    given = require_few({**properties, **others}, "context")
    return GivenContext(read_identifier(context, "userId", allow_number=True), read_email(given), lambda: given)


def _mistakes(document: Mapping[str, msgspec.Raw]) -> Iterator[FieldError]:
    return mistyped(document, _CONTEXT)
