"""The limits at which numbers are cut off, from a sketch of the numbers of the users so far.

The sketch counts numbers by size, to within a tenth, so that it stays small however many users there are.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp, floor, log, sqrt

QUANTILE = 0.99
"""The quantile of the users' numbers at which numbers are cut off, and 1 minus it on the other side."""
_GROWTH = 10.0
_RATIO = log(1.1)
_PLACE_ZERO, _PLACE_MIN, _PLACE_MAX = 400, -390, 7_500  # 1e-16 to more than 1e300
_LEAST = 1e-16


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of the users from some moment on, and the standard deviation of the users before them."""

    low: float
    high: float
    deviation: float

    def cut(self, number: float) -> float:
        """A number within the limits."""
        return min(max(number, self.low), self.high)


def place_of(number: float) -> int:
    """The place of a number in a sketch: 0 for zero, and with the number's sign."""
    size = abs(number)
    if size < _LEAST:
        return 0
    place = _PLACE_ZERO + min(max(floor(log(size) / _RATIO), _PLACE_MIN), _PLACE_MAX)
    return place if number > 0 else -place


def _bounds(place: int) -> tuple[float, float]:
    """The numbers between which those at a place are."""
    if not place:
        return 0.0, 0.0
    low = exp(min((abs(place) - _PLACE_ZERO) * _RATIO, 690.0))
    high = exp(min((abs(place) - _PLACE_ZERO + 1) * _RATIO, 690.0))
    return (low, high) if place > 0 else (-high, -low)


def find_limits(sketch: Mapping[int, int], zeros: int = 0, *, grow: bool = False) -> Limits | None:
    """The limits for the users after a sketch's users, and of as many more with a zero; None if all are alike.

    They are quantiles. Where these leave nothing to see, because nearly all numbers are the same, numbers are only
    bounded by what was seen. Counts `grow`: the first users' numbers are still low, so their upper limit is ten times
    the quantile of the numbers above zero, and at least ten.
    """
    counts = sorted((place, count) for place, count in sketch.items() if count > 0)
    if not counts or (len(counts) == 1 and not zeros):
        return None
    users = sum(count for _, count in counts)
    low, high = _quantile(counts, (1 - QUANTILE) * users)[0], _quantile(counts, QUANTILE * users)[1]
    if grow:
        low, high = 0.0, max(10.0, _GROWTH * high)
    elif _quantile(counts, (1 - QUANTILE) * users) == _quantile(counts, QUANTILE * users):
        low, high = _bounds(counts[0][0])[0], _bounds(counts[-1][0])[1]
    cut = [(min(max(sum(_bounds(place)) / 2, low), high), count) for place, count in counts]
    cut.append((0.0, zeros))
    total = users + zeros
    scale = max(abs(each) for each, _ in cut) or 1.0  # squares of large numbers overflow
    mean = sum(each / scale * count for each, count in cut) / total
    deviation = scale * sqrt(sum((each / scale - mean) ** 2 * count for each, count in cut) / max(1, total - 1))
    return Limits(low, high, deviation) if deviation else None


def _quantile(counts: list[tuple[int, int]], rank: float) -> tuple[float, float]:
    passed = 0
    for place, count in counts:
        passed += count
        if passed > rank:
            return _bounds(place)
    return _bounds(counts[-1][0])
