"""The context in a request: the user whose flags are evaluated or explained.

Identifiers are read strictly. No value of a custom attribute is an error.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, TypeVar

import msgspec

from flagstaff.conditions.conditions import LISTS_MAX
from flagstaff.http.fields import MAX_FIELD_ERRORS
from flagstaff.values.errors import Code, Error, FieldError, invalid_field
from flagstaff.values.text import check_length, check_text

IDENTIFIER_MAX_LENGTH = 1024
ATTRIBUTES_MAX = 1_000
"""Custom attributes of a context."""
ATTRIBUTES_MAX_BYTES = 8 * 1024

GivenAttributes = Mapping[str, msgspec.Raw]
"""The custom attributes in a request, whose values have not been read yet."""

NONE_GIVEN = msgspec.Raw(b"{}")
_LIST = ord("[")
_NOT_AN_OBJECT = "must be an object"
_NOT_JSON = "is not valid JSON"

Types = Mapping[str, tuple[bytes, str]]
"""Each field's types, identified by the first byte of its JSON, and how to describe them."""

_CONTEXT: Types = {"context": (b"{n", "an object or null")}
_FIELDS: Types = {
    "user_id": (b'"n', "a string or null"),
    "user_email": (b'"n', "a string or null"),
    "custom_attributes": (b"{", "an object"),
}
_IDENTIFIER = {"type": ["string", "null"], "maxLength": IDENTIFIER_MAX_LENGTH}
CONTEXT_OBJECT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "user_id": {**_IDENTIFIER, "description": "A stable identifier, used for rollouts."},
        "user_email": {**_IDENTIFIER, "description": "For rules on emails and their domains."},
        "custom_attributes": {
            "type": "object",
            "additionalProperties": True,
            "maxProperties": ATTRIBUTES_MAX,
            "description": "For conditions.",
        },
    },
    "description": "The user. Unknown members are ignored.",
}
"""The context in the API's description, whose name there is `Context`."""
CONTEXT_SCHEMA: dict[str, Any] = {"anyOf": [{"$ref": "#/components/schemas/Context"}, {"type": "null"}]}
"""A context, or none."""


class Context(msgspec.Struct, gc=False):
    """The user. Unknown keys are ignored, so that SDKs may send attributes that later versions use.

    `custom_attributes` may be any JSON until `given_attributes` has read it.
    """

    user_id: str | None = None
    user_email: str | None = None
    custom_attributes: msgspec.Raw = NONE_GIVEN


class _WithContext(msgspec.Struct, gc=False):
    context: Context | None = None


NOBODY = Context()
UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError)
"""The error that a strict decoder raises for a body that it refuses."""

Request = TypeVar("Request")
FindMistakes = Callable[[Mapping[str, msgspec.Raw]], Iterable[FieldError]]

_LONE_SURROGATE = re.compile(
    rb"\\u[dD](?:[89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])"  # the first half of a pair without the second
    rb"|(?<!\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD])[c-fC-F][0-9a-fA-F]{2})"
)
_MAX_ESCAPES = 2000  # a body with a lone half and more is refused, so that none takes long
# Bytes that UTF-8 never contains.
_BACKSLASHES, _NO_CHARACTER = b"\xfe\xfe", b"\xff"

_decode = msgspec.json.Decoder().decode
_decode_context = msgspec.json.Decoder(_WithContext).decode
_decode_object = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


def read_context(body: bytes) -> Context:
    """The `context` in a body, whose other fields are ignored; raises Error INVALID at its field."""
    try:
        request = _decode_context(body)
    except UNREADABLE as error:
        request = read_repaired(body, error, _decode_context, context_mistakes)
    context = request.context or NOBODY
    require_sound(context)
    return context


def read_repaired(
    body: bytes, refusal: Exception, decode: Callable[[bytes], Request], find_mistakes: FindMistakes
) -> Request:
    """Read a body that a strict decoder refused with this exception, if only texts that nobody reads are wrong.

    `find_mistakes` lists the invalid fields of the body, if it is an object.

    Raises:
        Error: INVALID, at the invalid fields.
    """
    repaired = without_lone_surrogates(body)
    if repaired is None:
        raise _describe(body, refusal, find_mistakes) from None
    try:
        return decode(repaired)
    except UNREADABLE as error:
        raise _describe(repaired, error, find_mistakes) from None


def without_lone_surrogates(body: bytes) -> bytes | None:
    r"""The body with a byte that is not UTF-8 in place of each half of a character, or None if it contains none.

    A half, such as "\ud83d", remains when an emoji is cut in two. JavaScript and Python write it, and the decoder
    refuses a body with one anywhere. It skips texts with a byte that is not UTF-8, and refuses them only where it reads
    text.
    """
    if not 0 < body.count(b"\\u") <= _MAX_ESCAPES or _BACKSLASHES in body:
        return None
    marked = body.replace(b"\\\\", _BACKSLASHES)  # an escaped backslash before a u begins no escape
    repaired, found = _LONE_SURROGATE.subn(_NO_CHARACTER, marked)
    return repaired.replace(_BACKSLASHES, b"\\\\") if found else None


def require_sound(context: Context) -> None:
    """Refuse identifiers that no rule or record can hold. JSON escapes NUL and lone surrogates with a backslash."""
    for name in ("user_id", "user_email"):
        require_sound_text(getattr(context, name), f"context.{name}")


def require_sound_text(identifier: str | None, field: str) -> None:
    """The same for one identifier; `field` names it in the error."""
    try:
        check_length(check_text(identifier or ""), 0, IDENTIFIER_MAX_LENGTH)
    except ValueError as error:
        raise invalid_field(field, str(error)) from error


def given_attributes(context: Context) -> GivenAttributes:
    """The custom attributes by name; raises Error INVALID if they are not an object, or too many."""
    try:
        return require_few(_decode_object(context.custom_attributes), "context.custom_attributes")
    except msgspec.ValidationError:
        raise invalid_field("context.custom_attributes", _NOT_AN_OBJECT) from None
    except UNREADABLE:  # the name of an attribute; the rest has been read
        raise invalid_field("body", _NOT_JSON) from None


def require_few(given: GivenAttributes, field: str) -> GivenAttributes:
    """Return custom attributes, unless they are too many; raises Error INVALID at the field."""
    if len(given) > ATTRIBUTES_MAX:
        raise invalid_field(field, f"must not have more than {ATTRIBUTES_MAX:,} attributes; send those that rules use")
    return given


def read_attributes(given: GivenAttributes, wanted: Collection[str]) -> dict[str, object]:
    """Read the attributes that are wanted, by name.

    Unreadable ones count as missing, and so do those that do not fit into 8 KiB together and lists after the eighth:
    each element of a list is compared with each condition.
    """
    found: dict[str, object] = {}
    room, lists = ATTRIBUTES_MAX_BYTES, LISTS_MAX
    for name, raw in given.items():  # in the client's order, so that every instance leaves out the same ones
        if name in wanted and (size := len(memoryview(raw))) <= room:
            room -= size
            try:
                value = _decode(raw)
            except ValueError:
                continue
            if type(value) is list:
                lists -= 1
                if lists < 0:
                    continue
            found[name] = value
            if not room:
                break
    return found


def fit(given: GivenAttributes) -> bool:
    """Return whether attributes are all compared: they take at most 8 KiB together, and few are lists."""
    room, lists = ATTRIBUTES_MAX_BYTES, LISTS_MAX
    for raw in given.values():
        view = memoryview(raw)
        room -= len(view)
        lists -= view[0] == _LIST
        if room < 0 or lists < 0:
            return False
    return True


def _describe(body: bytes, refusal: Exception, find_mistakes: FindMistakes) -> Error:
    """The INVALID for a body that a strict decoder refused with this exception, at the price of a second parse."""
    if not isinstance(refusal, msgspec.ValidationError):
        return invalid_field("body", _NOT_JSON)
    try:
        fields = list(islice(find_mistakes(_decode_object(body)), MAX_FIELD_ERRORS))
    except msgspec.ValidationError:
        return invalid_field("body", _NOT_AN_OBJECT)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return invalid_field("body", _NOT_JSON)
    # The decoder reads every value of a field that is given twice; the invalid one was not the last.
    return Error(Code.INVALID, "The request is invalid.", fields=fields or [FieldError("body", "has a field twice")])


def context_mistakes(document: Mapping[str, msgspec.Raw]) -> Iterator[FieldError]:
    """The fields of the context that have the wrong type."""
    yield from mistyped(document, _CONTEXT)
    context = bytes(document.get("context", b""))
    if context.startswith(b"{"):
        yield from mistyped(_decode_object(context), _FIELDS, "context.")


def mistyped(values: Mapping[str, msgspec.Raw], types: Types, prefix: str = "") -> Iterator[FieldError]:
    """The fields that have the wrong type."""
    for name, (beginnings, words) in types.items():
        if name in values and bytes(values[name])[0] not in beginnings:
            yield FieldError(prefix + name, f"must be {words}")
