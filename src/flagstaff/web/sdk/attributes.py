"""Reads the attributes that an environment's flags look at. No value of an attribute is an error."""

from collections.abc import Callable, Collection, Mapping
from datetime import datetime

import msgspec

from flagstaff.evaluation.snapshot import CURRENT_TIME

_decode = msgspec.json.Decoder().decode


def read_attributes(
    given: Mapping[str, msgspec.Raw] | msgspec.UnsetType, wanted: Collection[str], now: Callable[[], datetime]
) -> Mapping[str, object]:
    """Those of the given attributes that are wanted, by name, and the time. Unreadable ones count as missing."""
    found: dict[str, object] = {}
    if given is not msgspec.UNSET:
        for name in wanted:
            if name in given:
                try:
                    found[name] = _decode(given[name])
                except (ValueError, RecursionError):
                    continue
    if CURRENT_TIME in wanted:
        found[CURRENT_TIME] = now()
    return found
