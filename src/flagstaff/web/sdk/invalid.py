"""Explains why the strict decoder refused an evaluate body: each invalid field and what it must be.

Only invalid requests pay for this second parse.
"""

from collections.abc import Iterator, Mapping
from itertools import islice

import msgspec

from flagstaff.domain.errors import Code, Error, FieldError, invalid_field
from flagstaff.web.edge.fields import MAX_FIELD_ERRORS, unknown_field

_decode_object = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
# Each field's types, identified by the first byte of its JSON, and how to describe them.
_BODY = {"environment": (b'"', "a string"), "context": (b"{n", "an object or null")}
_CONTEXT = {
    "user_id": (b'"n', "a string or null"),
    "user_email": (b'"n', "a string or null"),
    "custom_attributes": (b"{", "an object"),
}


def describe(body: bytes, refusal: Exception) -> Error:
    """The INVALID for a body that the strict decoder refused with this exception."""
    if isinstance(refusal, RecursionError):
        return invalid_field("body", "is nested too deeply")
    if not isinstance(refusal, msgspec.ValidationError):
        return invalid_field("body", "is not valid JSON")
    try:
        fields = list(islice(_mistakes(body), MAX_FIELD_ERRORS))
    except msgspec.ValidationError:
        return invalid_field("body", "must be an object")
    except RecursionError:
        return invalid_field("body", "is nested too deeply")
    except (msgspec.DecodeError, UnicodeDecodeError):
        return invalid_field("body", "is not valid JSON")
    # The decoder reads every value of a field that is given twice; the invalid one was not the last.
    return Error(Code.INVALID, "The request is invalid.", fields=fields or [FieldError("body", "has a field twice")])


def _mistakes(body: bytes) -> Iterator[FieldError]:
    document = _decode_object(body)
    if "environment" not in document:
        yield FieldError("environment", "is required")
    yield from _mistyped(document, _BODY, "")
    context = bytes(document.get("context", b""))
    if context.startswith(b"{"):
        yield from _mistyped(_decode_object(context), _CONTEXT, "context.")
    for name in document:
        if name not in _BODY:
            yield FieldError(name, unknown_field(name, _BODY))


def _mistyped(
    values: Mapping[str, msgspec.Raw], types: Mapping[str, tuple[bytes, str]], prefix: str
) -> Iterator[FieldError]:
    for name, (beginnings, words) in types.items():
        if name in values and bytes(values[name])[0] not in beginnings:
            yield FieldError(prefix + name, f"must be {words}")
