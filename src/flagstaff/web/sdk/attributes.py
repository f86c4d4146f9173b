"""Reads the attributes that an environment's flags look at. No value of an attribute is an error."""

from collections.abc import Callable, Collection, Mapping
from datetime import datetime

import msgspec

from flagstaff.evaluation.snapshot import CURRENT_TIME

MAX_BYTES = 8 * 1024

_decode = msgspec.json.Decoder().decode


def read_attributes(
    given: Mapping[str, msgspec.Raw] | msgspec.UnsetType, wanted: Collection[str], now: Callable[[], datetime]
) -> Mapping[str, object]:
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
