"""Evidence that the mean of a number, such as a latency, is higher or lower for users with a flag.

It is asymptotic: the bound on false alarms holds the better, the more users there are, and not for few. So there is no
evidence before `BURN_IN` users, and a step counts when each arm has `USERS_LEAST` users. Each step has evidence of its
own, over all of its users, also those who were in an earlier step, and the guard's is their mean: the mean of e-values
is one under any dependence (Vovk and Wang, "E-values: calibration, combination and applications", 2021).

Numbers are cut off (winsorised): one user of a heavy tail would otherwise decide. The limits come from the users before
those who are cut, and are found anew as more come. The users that share limits are a block.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import erfc, exp, inf, log, log1p, pi, sqrt
from typing import NamedTuple

BURN_IN = 500
"""The number of users, in both arms together, after which the limit for large numbers and the scale are found."""
USERS_LEAST = 50
"""The number of users in each arm of a step from which the step counts."""
_FAR = 25.0  # erfc is a normal number up to here
_LOG_MAX = 1e6
_EFFECT = 0.1
"""The effect that is found soonest, in standard deviations."""
_VARIANCE_LEAST = 1e-100  # of rounding errors; the squares of what is divided by it are still numbers
_HALVINGS = 40
_STEPS_OUT = 60


@dataclass(frozen=True, slots=True)
class Moments:
    """Some users of an arm, the sum of their numbers and of the squares of these.

    Expected users are no whole number.
    """

    users: float = 0
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
class Block:
    """Users of a step whose numbers were cut off alike, and the standard deviation of the users before them."""

    treated: Moments
    control: Moments
    deviation: float


@dataclass(frozen=True, slots=True)
class Step:
    """The blocks of a step, and the weight of its evidence among the steps'. The weights of all are at most 1."""

    blocks: Sequence[Block]
    weight: float = 1.0


def log_evidence(
    steps: Sequence[Step], *, harm_is_more: bool, tolerates: float = 0.0, tolerates_amount: float = 0.0
) -> float:
    """The natural logarithm of the evidence that the flag moves the mean to the harmful side; 0 without enough users.

    The harm is the difference of the means, beyond what is tolerated: `tolerates_amount`, and the share `tolerates` of
    the size of the control's mean. The latter is the larger of two bounds, one for each sign of that mean, so in each
    block harm must be shown against both: with one variance for both, the smaller sum has the smaller evidence.

    The blocks of a step are combined by the inverse of their variances, in the standard deviations of the users before
    them. With this information I, the weighted sum S is asymptotically a Brownian motion at the time I if the flag is
    harmless (Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas, "Time-uniform central limit theory and asymptotic
    confidence sequences"). The mixture over positive effects with the prior |N(0, τ²)| is 2 Φ(Sτ/√(1 + Iτ²))
    exp(S²τ²/(2(1 + Iτ²)))/√(1 + Iτ²): Robbins (1970); the one-sided normal mixture of Howard, Ramdas, McAuliffe and
    Sekhon (2021), proposition 6. τ is a tenth of a standard deviation.
    """
    sign = 1 if harm_is_more else -1
    are_alike = not tolerates and not tolerates_amount
    weighted = []
    for step in steps:
        score = information = 0.0
        for treated, control, variance, deviation in _compare(step.blocks, tolerates, are_alike=are_alike):
            harm = sign * (treated - control) - tolerates * abs(control) - tolerates_amount
            score += deviation * harm / variance
            information += deviation**2 / variance
        weighted.append((step.weight, _log_harm(score, information)))
    return _log_mean(weighted)


def says_something(steps: Sequence[Step]) -> bool:
    """Return whether any of the steps has enough users, whose numbers differ, to be part of the evidence."""
    return any(_compare(step.blocks, are_alike=True) for step in steps)


def _log_harm(score: float, information: float) -> float:
    if not information:
        return 0.0
    spread = 1 + information * _EFFECT**2
    return _log_mixture(score * _EFFECT / sqrt(spread)) - log(spread) / 2


def _log_mixture(standing: float) -> float:
    """The logarithm of 2 Φ(z) exp(z²/2), at most 1e6: finite for each z, also where Φ(z) is less than any number.

    There it is the first terms of the asymptotic expansion (Abramowitz and Stegun, 7.1.23), within 1e-8.
    """
    far = -standing / sqrt(2)
    if far < _FAR:
        return min(log(erfc(far)) + far * far, _LOG_MAX)
    return log1p(3 / (4 * far**4) - 1 / (2 * far**2)) - log(far * sqrt(pi))


def _log_mean(weighted: Sequence[tuple[float, float]]) -> float:
    """The logarithm of the weighted mean of evidence. What is left of the weights is for steps to come, with 1."""
    left = max(0.0, 1 - sum(weight for weight, _ in weighted))
    terms = [(weight, logarithm) for weight, logarithm in (*weighted, (left, 0.0)) if weight > 0]
    most = max(logarithm for _, logarithm in terms)
    return most + log(sum(weight * exp(logarithm - most) for weight, logarithm in terms))


def difference_interval(steps: Sequence[Step], *, alpha: float) -> tuple[float, float, float] | None:
    """The difference of the means, with the ends of its interval at the level `alpha`, at this look and all others.

    None without enough users. The interval has the differences that are not refuted: those for which the weighted mean
    of the steps' evidence, with effects on both sides, is below 1/alpha. Of one step alone these are S/I ± √((1 +
    Iτ²)/(I²τ²) log((1 + Iτ²)/alpha²)), as in Howard and others (2021), equation 14.
    """
    found = [(step, _compare(step.blocks, are_alike=False)) for step in steps]
    counting = [(step, blocks) for step, blocks in found if blocks]
    weights = [(each.treated - each.control, 1 / each.variance) for _, blocks in counting for each in blocks]
    information = sum(weight for _, weight in weights)
    if not information:
        return None
    centre = sum(difference * weight for difference, weight in weights) / information
    limit = -log(alpha)

    def is_refuted(at: float) -> bool:
        logs = []
        for step, blocks in counting:
            score = sum(each.deviation * (each.treated - each.control - at) / each.variance for each in blocks)
            spread = 1 + sum(each.deviation**2 / each.variance for each in blocks) * _EFFECT**2
            logs.append((step.weight, score**2 * _EFFECT**2 / (2 * spread) - log(spread) / 2))
        return _log_mean(logs) >= limit

    def find_end(side: int) -> float:
        inside, step = centre, sqrt(1 / information)
        outside = centre + side * step
        for _ in range(_STEPS_OUT):
            if is_refuted(outside):
                break
            inside, step = outside, 2 * step
            outside = centre + side * step
        for _ in range(_HALVINGS):
            middle = (inside + outside) / 2
            inside, outside = (inside, middle) if is_refuted(middle) else (middle, outside)
        return outside

    return centre, find_end(-1), find_end(1)


class _Compared(NamedTuple):
    """The means of the arms of a block, the variance of their difference, and the block's standard deviation."""

    treated: float
    control: float
    variance: float
    deviation: float


def _compare(blocks: Sequence[Block], tolerates: float = 0.0, *, are_alike: bool) -> list[_Compared]:
    """Compare the arms in each block of a step; in none if there are few users.

    The arms have the same variance if they `are_alike`, as with a flag that does not matter. Else, the variance of the
    difference is the larger one of two: with one variance for both arms, and with one for each.

    With `tolerates`, the variance is the variance of the difference from the control's mean and this share of it. With
    the share on the other side of the mean, it would be smaller.
    """
    if min(sum(each.treated.users for each in blocks), sum(each.control.users for each in blocks)) < USERS_LEAST:
        return []
    found = []
    for block in blocks:
        treated, control = block.treated, block.control
        freedom = treated.users + control.users - 2
        if not treated.users or not control.users or freedom < USERS_LEAST or not block.deviation:
            continue
        # Both arms have one variance if the flag does not matter. Of a small arm alone it may be 0 by chance.
        pooled = ((treated.users - 1) * treated.variance + (control.users - 1) * control.variance) / freedom
        share = (1 + tolerates) ** 2
        variance = pooled * (1 / treated.users + share / control.users)
        if not are_alike:
            variance = max(variance, treated.variance / treated.users + share * control.variance / control.users)
        if 0 < variance < inf:
            variance = max(variance, _VARIANCE_LEAST)
            means = treated.total / treated.users, control.total / control.users
            found.append(_Compared(*means, variance, block.deviation))
    return found


def evidence(logarithm: float) -> float:
    """A logarithm of an evidence as a number, at most 1e300."""
    return exp(min(logarithm, 690.0))
