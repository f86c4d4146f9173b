"""Chooses and encodes the attributes that the history keeps. No value of an attribute is an error."""

from collections.abc import Mapping

import msgspec

from flagstaff.domain.conditions import ATTRIBUTE_MAX_LENGTH
from flagstaff.evaluation.attributes import comparable
from flagstaff.evaluation.snapshot import RESERVED
from flagstaff.web.context import ATTRIBUTES_MAX_BYTES, GivenAttributes

# The names come on top of the values, and some numbers are longer than they were written.
KEPT_MAX_BYTES = 2 * ATTRIBUTES_MAX_BYTES

_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode
_TOO_LARGE = b"null"


def read_others(given: GivenAttributes, read: Mapping[str, object]) -> Mapping[str, object]:
    """Those of the given attributes that were not read, in the room that is left, which their names take up, too."""
    if given is msgspec.UNSET:
        return {}
    room = ATTRIBUTES_MAX_BYTES - sum(len(memoryview(given[name])) for name in read if name in given)
    found: dict[str, object] = {}
    for name, raw in given.items():
        size = len(name) + len(memoryview(raw))
        if name not in read and len(name) <= ATTRIBUTE_MAX_LENGTH and size <= room:
            room -= size
            try:
                found[name] = _decode(raw)
            except (ValueError, RecursionError):
                continue
    return found


def encode_attributes(read: Mapping[str, object]) -> bytes:
    """What the history keeps of attributes that were read: a JSON object of what conditions can compare.

    A custom attribute with the name of a reserved one is left out, because no condition sees it. If the rest takes more
    than 16 KiB, nothing is kept, and the result is `null`.
    """
    kept = {
        name: part for name, value in read.items() if name not in RESERVED and (part := comparable(value)) is not None
    }
    encoded = _encode(kept)
    return encoded if len(encoded) <= KEPT_MAX_BYTES else _TOO_LARGE
