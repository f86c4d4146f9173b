"""Evidence that users with a flag have an event more, or less, often than users without it.

Only the first event of each user counts. If the flag does not matter, the user of such an event has the flag with the
probability of the present step, its share, whatever the rate of events, its drift or the traffic is. So the test is
about the shares of the events, and steps with different shares can be multiplied, but never pooled.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import exp, log

RATIOS: tuple[float, ...] = tuple(1.1 * (6 / 1.1) ** (place / 11) for place in range(12))
"""The ratios of rates that the evidence bets on, evenly spaced on the log scale from 1.1 to 6."""

_RATIO_MAX = 1000.0
_HALVINGS = 40
_END_HALVINGS = 14  # of an interval: a thousandth of the ratio
_INTERVAL_RATIOS = (*RATIOS[::2], *(1 / ratio for ratio in RATIOS[::2]))


@dataclass(frozen=True, slots=True)
class EventSplit:
    """The users with an event in a step: those with the flag and those without, and the share that has the flag.

    Expected users are no whole numbers. `share` is between 0 and 1, both excluded.
    """

    treated: float
    control: float
    share: float


def log_evidence(steps: Sequence[EventSplit], *, harm_is_more: bool, tolerates: float = 0.0) -> float:
    """The natural logarithm of the evidence that the flag does harm; 0 without events.

    Each user's first event multiplies the wealth of a bet on the ratio r by q(r)/q(b) if the user has the flag, and
    else by (1 - q(r))/(1 - q(b)), where q(r) = πr/(πr + 1 - π), π is the step's share, and b is the ratio that is
    tolerated: 1 + `tolerates`, or its inverse if harm means fewer events. The evidence is the mean of the bets. With
    b = 1 the factors are r/(πr + 1 - π) and 1/(πr + 1 - π).

    It is a likelihood ratio of Bernoulli trials, averaged over alternatives on one side, and so a supermartingale for
    every ratio up to b: Robbins, "Statistical methods related to the law of the iterated logarithm" (1970); Johari,
    Koomen, Pekelis and Walsh, "Always valid inference" (2022); for counts in proportion to known shares, Lindon and
    Malek, "Anytime-valid inference for multinomial count data" (2022).
    """
    tolerated = 1 + tolerates
    if harm_is_more:
        return _mixture(steps, tolerated, [tolerated * ratio for ratio in RATIOS])
    return _mixture(steps, 1 / tolerated, [1 / (tolerated * ratio) for ratio in RATIOS])


def most_likely_ratio(steps: Sequence[EventSplit]) -> float | None:
    """The ratio of the rates that explains the steps best; None without events of both kinds of users.

    With it, the expected number of users with the flag is the observed one. Drifting rates do not bias it.
    """
    treated = sum(step.treated for step in steps)
    if not treated or treated == sum(step.treated + step.control for step in steps):
        return None
    low, high = -log(_RATIO_MAX), log(_RATIO_MAX)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        expected = sum((step.treated + step.control) * _share(step.share, exp(middle)) for step in steps)
        low, high = (low, middle) if expected > treated else (middle, high)
    return exp((low + high) / 2)


def ratio_interval(steps: Sequence[EventSplit], alpha: float) -> tuple[float, float] | None:
    """Ratios of the rates that are not refuted at the level `alpha`, at this look and all others; None without events.

    A ratio is refuted if the evidence against it, with bets on both sides, has reached 1/alpha. It is the inversion of
    the test (Howard, Ramdas, McAuliffe and Sekhon, "Time-uniform, nonparametric, nonasymptotic confidence sequences",
    2021). The ends are at most a thousand apart from 1.
    """
    centre = most_likely_ratio(steps)
    if centre is None:
        return None
    limit, merged = -log(alpha), _by_share(steps)

    def is_refuted(at: float) -> bool:
        ratio = exp(at)
        return _mixture(merged, ratio, [ratio * each for each in _INTERVAL_RATIOS]) >= limit

    def find_end(inside: float, outside: float) -> float:
        if not is_refuted(outside):
            return exp(outside)
        for _ in range(_END_HALVINGS):
            middle = (inside + outside) / 2
            inside, outside = (inside, middle) if is_refuted(middle) else (middle, outside)
        return exp(outside)

    start, most = log(centre), log(_RATIO_MAX)
    return find_end(start, -most), find_end(start, most)


def _mixture(steps: Sequence[EventSplit], base: float, ratios: Sequence[float]) -> float:
    bets = [sum(_log_bet(step, ratio, base) for step in steps) for ratio in ratios]
    most = max(bets)
    return most + log(sum(exp(each - most) for each in bets) / len(bets))


def _by_share(steps: Sequence[EventSplit]) -> list[EventSplit]:
    """The same steps, those with the same share as one: the likelihood only depends on shares."""
    found: dict[float, EventSplit] = {}
    for step in steps:
        known = found.get(step.share, EventSplit(0, 0, step.share))
        found[step.share] = EventSplit(known.treated + step.treated, known.control + step.control, step.share)
    return list(found.values())


def _log_bet(step: EventSplit, ratio: float, base: float) -> float:
    won, lost = _stakes(step.share, ratio, base)
    return step.treated * won + step.control * lost


@lru_cache(maxsize=4096)
def _stakes(share: float, ratio: float, base: float) -> tuple[float, float]:
    """The logarithms by which an event of a user with the flag, and without it, multiplies a bet."""
    bet, fair = _share(share, ratio), _share(share, base)
    return log(bet / fair), log((1 - bet) / (1 - fair))


def _share(share: float, ratio: float) -> float:
    """The share of the events that users with the flag have, if their rate is `ratio` times the others'."""
    return share * ratio / (share * ratio + 1 - share)
