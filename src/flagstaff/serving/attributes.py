"""Chooses and encodes the attributes that the history keeps. No value of an attribute is an error."""

from collections.abc import Mapping

import msgspec

from flagstaff.conditions.attributes import comparable
from flagstaff.conditions.conditions import ATTRIBUTE_MAX_LENGTH
from flagstaff.evaluation.targets import CURRENT_TIME, RESERVED
from flagstaff.serving.context import ATTRIBUTES_MAX_BYTES, GivenAttributes

# The names come on top of the values, and some numbers are longer than they were written.
KEPT_MAX_BYTES = 2 * ATTRIBUTES_MAX_BYTES

_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode
_TOO_LARGE = b"null"
_FEW = 10
_LEAST_ROOM = 10  # less is left empty, so that thousands of attributes are not looked at
_SCALARS = frozenset({str, int, float, bool, type(None)})


def read_others(given: GivenAttributes, read: Mapping[str, object]) -> Mapping[str, object]:
    """Read the attributes that were not read before, in the room that is left, which their names take up, too.

    Custom attributes with reserved names are left out, because no condition sees them.
    """
    room = ATTRIBUTES_MAX_BYTES - sum(len(memoryview(given[name])) for name in read if name in given)
    found: dict[str, object] = {}
    for name, raw in given.items():
        if room < _LEAST_ROOM:
            break
        size = len(name) + len(memoryview(raw))
        if size <= room and len(name) <= ATTRIBUTE_MAX_LENGTH and name not in read and name not in RESERVED:
            room -= size
            try:
                found[name] = _decode(raw)
            except ValueError:
                continue
    return found


def encode_attributes(read: Mapping[str, object]) -> bytes:
    """The JSON object that the history keeps of attributes; `null` if it takes more than 16 KiB.

    Of a list, only the part that conditions can compare is kept; an object or a list without such a part becomes null.
    The time is left out, because it is the time of the record.
    """
    if not _SCALARS.issuperset(map(type, read.values())):
        given = ((name, value) for name, value in read.items() if name != CURRENT_TIME)
        read = {name: value if type(value) in _SCALARS else comparable(value) for name, value in given}
    encoded = _encode(read)
    return encoded if len(encoded) <= KEPT_MAX_BYTES else _TOO_LARGE


def are_small(read: Mapping[str, object]) -> bool:
    """Return whether attributes take about as much memory as their JSON: nested empty lists take thirty times that."""
    lists = [value for value in read.values() if type(value) not in _SCALARS]
    return all(type(each) is list and len(each) <= _FEW and _SCALARS.issuperset(map(type, each)) for each in lists)
