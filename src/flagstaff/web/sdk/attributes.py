"""Reads the attributes that an environment's flags look at, and encodes those that the history keeps.

No value of an attribute is an error.
"""

from collections.abc import Callable, Collection, Mapping
from datetime import datetime

import msgspec

from flagstaff.domain.conditions import ATTRIBUTE_MAX_LENGTH
from flagstaff.evaluation.attributes import comparable
from flagstaff.evaluation.snapshot import CURRENT_TIME, RESERVED

MAX_BYTES = 8 * 1024
# The names come on top of the values, and some numbers are longer than they were written.
KEPT_MAX_BYTES = 2 * MAX_BYTES

_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode
_TOO_LARGE = b"null"

Given = Mapping[str, msgspec.Raw] | msgspec.UnsetType


def read_attributes(given: Given, wanted: Collection[str], now: Callable[[], datetime]) -> Mapping[str, object]:
    """Those of the given attributes that are wanted, by name, and the time.

    Unreadable ones count as missing, and so do those that do not fit into 8 KiB together: each element of a list is
    compared with each condition.
    """
    found: dict[str, object] = {}
    if given is not msgspec.UNSET:
        room = MAX_BYTES
        for name, raw in given.items():  # in the client's order, so that every instance leaves out the same ones
            if name in wanted and (size := len(memoryview(raw))) <= room:
                room -= size
                try:
                    found[name] = _decode(raw)
                except (ValueError, RecursionError):
                    continue
    if CURRENT_TIME in wanted:
        found[CURRENT_TIME] = now()
    return found


def read_others(given: Given, read: Mapping[str, object]) -> Mapping[str, object]:
    """Those of the given attributes that were not read, in the room that is left, which their names take up, too."""
    if given is msgspec.UNSET:
        return {}
    room = MAX_BYTES - sum(len(memoryview(given[name])) for name in read if name in given)
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
