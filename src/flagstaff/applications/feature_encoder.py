"""Encodes features for SDKs that evaluate flags themselves, so that they share their long lists of values."""

from typing import Any

import msgspec

from flagstaff.evaluation.unleash.documents import Feature

_SHARED_VALUES = 50  # a shorter list is not worth a part of its own
_PLACE = b"\0"  # no JSON has it
_encode = msgspec.json.Encoder().encode


class FeatureEncoder:
    """Encodes features, and lets them share long lists of values."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, ...], bytes] = {}

    def encode(self, feature: dict[str, Any]) -> Feature:
        """The feature's JSON."""
        shared: list[bytes] = []
        strategies = [
            {**each, "constraints": [self._lighten(constraint, shared) for constraint in each["constraints"]]}
            for each in feature["strategies"]
        ]
        encoded = _encode({**feature, "strategies": strategies})
        if not shared:
            return (encoded,)
        parts = encoded.split(_PLACE)
        return tuple(part for pair in zip(parts, [*shared, b""], strict=True) for part in pair if part)

    def _lighten(self, constraint: dict[str, Any], shared: list[bytes]) -> dict[str, Any]:
        values = tuple(constraint.get("values", ()))
        if len(values) < _SHARED_VALUES:
            return constraint
        known = self._known.get(values)
        if known is None:
            known = self._known[values] = _encode(values)
        shared.append(known)
        return {**constraint, "values": msgspec.Raw(_PLACE)}
