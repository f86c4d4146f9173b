"""Ids of evaluations: version 7 UUIDs, as 16 bytes, which are not stored but computed from an evaluation's place.

48 bits of milliseconds, the version, 12 bits that count microseconds (RFC 9562, 6.2, method 3), the variant, 46 bits
for the segment and 16 for the place in it. Ids, like places, are in the order of time.
"""

from struct import Struct

# Microseconds since 1970, the segment's id and the place in the segment.
Place = tuple[int, int, int]

END: Place = (2**63 - 1, 0, 0)  # after every place

_halves = Struct(">QQ")
_VARIANT = 1 << 63
_TAIL = (1 << 62) - 1


def uuid7(time: int, tail: int) -> bytes:
    """A UUID of a time, in microseconds since 1970, and 62 bits."""
    return _halves.pack(time // 1000 << 16 | 0x7000 | time % 1000, _VARIANT | tail)


def evaluation_id(place: Place) -> bytes:
    """The id of the evaluation in a place."""
    time, segment, offset = place
    return uuid7(time, segment << 16 | offset)


def place_of(evaluation_id: bytes) -> Place:
    """The place of the evaluation with an id."""
    high, low = _halves.unpack(evaluation_id)
    tail = low & _TAIL
    return (high >> 16) * 1000 + (high & 0xFFF), tail >> 16, tail & 0xFFFF


def find_place(evaluation_id: bytes) -> Place | None:
    """The same, or None if it is the id of something else."""
    high, low = _halves.unpack(evaluation_id)
    is_one = high >> 12 & 0xF == 7 and low >> 62 == _VARIANT >> 62 and high & 0xFFF < 1000
    return place_of(evaluation_id) if is_one else None
