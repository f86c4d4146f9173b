"""Reads the custom attributes that an environment's flags look at. No value is an error."""

from collections.abc import Collection, Mapping

import msgspec

_decode = msgspec.json.Decoder().decode


def read_attributes(
    given: Mapping[str, msgspec.Raw] | msgspec.UnsetType, wanted: Collection[str]
) -> Mapping[str, object]:
    """Those of the given attributes that are wanted, by name. What cannot be decoded counts as missing."""
    if given is msgspec.UNSET:
        return {}
    found = {}
    for name in wanted:
        if name in given:
            try:
                found[name] = _decode(given[name])
            except (ValueError, RecursionError):
                continue
    return found
