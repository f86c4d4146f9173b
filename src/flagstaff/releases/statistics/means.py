"""Evidence that the mean of a number, such as a latency, is higher or lower for users with a flag.

It is asymptotic: the bound on false alarms holds the better, the more users there are, and not for few. So there is no
evidence before `BURN_IN` users, and an arm of a step counts only from `USERS_LEAST` users. Each user counts once, in
the step in which it was first exposed, so that steps are independent. Numbers are cut off at quantiles (winsorised),
which are found among the first users and then stay: one user of a heavy tail would otherwise decide.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import erfc, exp, inf, log, log1p, pi, sqrt

BURN_IN = 500
"""The number of users, in both arms together, after which the limit for large numbers and the scale are fixed."""
USERS_LEAST = 50
"""The number of users in each arm of a step from which the step counts."""
QUANTILE = 0.99
"""The quantile of the first users' numbers at which numbers are cut off, and 1 minus it on the other side."""
_GROWTH = 10.0
_FAR = 25.0  # erfc is a normal number up to here
_LOG_MAX = 1e6
_EFFECT = 0.1
"""The effect that is found soonest, in standard deviations."""


@dataclass(frozen=True, slots=True)
class Moments:
    """The users of an arm in a step, the sum of their numbers and of the squares of these."""

    users: int = 0
    total: float = 0.0
    squares: float = 0.0

    @property
    def mean(self) -> float | None:
        """The mean; None without users."""
        return self.total / self.users if self.users else None

    @property
    def variance(self) -> float:
        """The sample variance; 0 with fewer than two users."""
        if self.users < 2:
            return 0.0
        return max(0.0, (self.squares - self.total**2 / self.users) / (self.users - 1))


@dataclass(frozen=True, slots=True)
class MeanSplit:
    """The users of a step, with the flag and without."""

    treated: Moments
    control: Moments


@dataclass(frozen=True, slots=True)
class Scale:
    """The scale that the first users give: where numbers are cut off on both sides, and their standard deviation."""

    low: float
    high: float
    deviation: float

    def cut(self, number: float) -> float:
        """A number within the limits."""
        return min(max(number, self.low), self.high)


def find_scale(numbers: Sequence[float], zeros: int = 0, *, grow: bool = False) -> Scale:
    """The scale of the numbers of the first users, of both arms together, and of as many more users with a zero.

    The limits are quantiles of the numbers themselves. Counts `grow`: those of the first users are still low, so their
    upper limit is ten times as high, and at least ten. There must be two users at least.
    """
    ordered = sorted(numbers)
    last = len(ordered) - 1
    low, high = (
        ordered[last - min(last, int(QUANTILE * len(ordered)))],
        ordered[min(last, int(QUANTILE * len(ordered)))],
    )
    scale = Scale(0.0, max(10.0, _GROWTH * high), 0.0) if grow else Scale(low, high, 0.0)
    cut = list(map(scale.cut, ordered))
    users = len(cut) + zeros
    mean = sum(cut) / users
    squares = sum((each - mean) ** 2 for each in cut) + zeros * mean**2
    return replace(scale, deviation=sqrt(squares / (users - 1)))


def log_evidence(steps: Sequence[MeanSplit], *, deviation: float, harm_is_more: bool, tolerates: float = 0.0) -> float:
    """The natural logarithm of the evidence that the flag moves the mean to the harmful side; 0 without enough users.

    The harm of a step is the difference of its means, beyond what is tolerated: with the share `tolerates` of the
    control's mean. Steps are combined by the inverse of their variances, which makes the information I, and S is the
    weighted sum. Under the null hypothesis S is asymptotically a Brownian motion at the time I (Waudby-Smith, Arbour,
    Sinha, Kennedy and Ramdas, "Time-uniform central limit theory and asymptotic confidence sequences"). The mixture
    over positive effects with the prior |N(0, τ²)| is 2 Φ(Sτ/√(1 + Iτ²)) exp(S²τ²/(2(1 + Iτ²)))/√(1 + Iτ²): Robbins
    (1970); the one-sided normal mixture of Howard, Ramdas, McAuliffe and Sekhon (2021), proposition 6. τ is a tenth of
    `deviation`, the standard deviation of the first users, so that it is fixed before what it is used for.
    """
    sign = 1 if harm_is_more else -1
    score, information = _combine(steps, sign=sign, weight=1 + sign * tolerates)
    prior = (_EFFECT * deviation) ** 2
    if not information or not prior:
        return 0.0
    spread = 1 + information * prior
    return _log_mixture(score * sqrt(prior / spread)) - log(spread) / 2


def _log_mixture(standing: float) -> float:
    """The logarithm of 2 Φ(z) exp(z²/2), at most 1e6: finite for each z, also where Φ(z) is less than any number.

    There it is the first terms of the asymptotic expansion (Abramowitz and Stegun, 7.1.23), within 1e-8.
    """
    far = -standing / sqrt(2)
    if far < _FAR:
        return min(log(erfc(far)) + far * far, _LOG_MAX)
    return log1p(3 / (4 * far**4) - 1 / (2 * far**2)) - log(far * sqrt(pi))


def difference_interval(
    steps: Sequence[MeanSplit], *, deviation: float, alpha: float
) -> tuple[float, float, float] | None:
    """The difference of the means, with the ends of its interval at the level `alpha`, at this look and all others.

    None without enough users. The interval is the normal mixture's: S/I ± √((1 + Iτ²)/(I²τ²) log((1 + Iτ²)/alpha²)), as
    in Howard and others (2021), equation 14, and Waudby-Smith and others, theorem 2.2.
    """
    score, information = _combine(steps, sign=1, weight=1.0)
    prior = (_EFFECT * deviation) ** 2
    if not information or not prior:
        return None
    spread, centre = 1 + information * prior, score / information
    reach = sqrt(spread / (information**2 * prior) * log(spread / alpha**2))
    return centre, centre - reach, centre + reach


def _combine(steps: Sequence[MeanSplit], *, sign: int, weight: float) -> tuple[float, float]:
    """The weighted sum of the differences, and the information. A step counts if both arms have enough users."""
    score = information = 0.0
    for step in steps:
        treated, control = step.treated, step.control
        if treated.users < USERS_LEAST or control.users < USERS_LEAST:
            continue
        # Both arms have one variance if the flag does not matter. Of a small arm alone it may be 0 by chance.
        freedom = treated.users + control.users - 2
        pooled = ((treated.users - 1) * treated.variance + (control.users - 1) * control.variance) / freedom
        variance = pooled * (1 / treated.users + weight**2 / control.users)
        if not 0 < variance < inf:
            continue
        difference = treated.total / treated.users - weight * control.total / control.users
        score += sign * difference / variance
        information += 1 / variance
    return score, information


def evidence(logarithm: float) -> float:
    """A logarithm of an evidence as a number, at most 1e300."""
    return exp(min(logarithm, 690.0))
