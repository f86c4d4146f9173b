"""Ids of evaluations: UUIDs of version 7, kept as 16 bytes, that carry their time to the microsecond.

48 bits of milliseconds, the version, 12 bits that count microseconds (RFC 9562, 6.2, method 3), the variant and 62 bits
of which a batch has drawn the first at random and counts on from there.
"""

from collections.abc import Iterable
from datetime import datetime
from itertools import count
from struct import Struct

from flagstaff.storage.tables import microseconds, moment

LAST_ID = b"\xff" * 16  # after every id

_halves = Struct(">QQ")
_VARIANT = 1 << 63


def evaluation_ids(times: Iterable[int], first_tail: int) -> list[bytes]:
    """Ids for evaluations at times in nanoseconds since 1970; the tails count on from the first."""
    pack = _halves.pack
    return [
        pack(time // 1_000_000 << 16 | 0x7000 | time // 1000 % 1000, low)
        for time, low in zip(times, count(_VARIANT | first_tail), strict=False)
    ]


def first_id_at(at: datetime) -> bytes:
    """What no id of that moment or later comes before, and every earlier one does."""
    milliseconds, rest = divmod(max(0, microseconds(at)), 1000)
    return _halves.pack(milliseconds << 16 | 0x7000 | rest, 0)


def next_id(value: bytes) -> bytes:
    """What comes right after an id."""
    return (int.from_bytes(value) + 1).to_bytes(16)


def evaluated_at(value: bytes) -> datetime:
    """The time that an id carries."""
    high, _ = _halves.unpack(value)
    return moment((high >> 16) * 1000 + (high & 0xFFF))


def minute_of(value: bytes) -> int:
    """The minute, counted from 1970, of an id."""
    return int.from_bytes(value[:6]) // 60_000
