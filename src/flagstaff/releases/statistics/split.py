"""Tests whether users are split into arms as asked. If not, the arms differ in more than the flag."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import lgamma, log

ALPHA = 0.01
"""The chance of ever raising the alarm although the split is as asked."""
_CONCENTRATION = 1000.0
_SHARE_LEAST = 1e-9


@dataclass(frozen=True, slots=True)
class ArmSplit:
    """The newly exposed users of a step by arm, and the share that each arm should have; both in the same order.

    The shares add up to 1.
    """

    users: tuple[int, ...]
    shares: tuple[float, ...]


def log_evidence(steps: Sequence[ArmSplit]) -> float:
    """The natural logarithm of the evidence that the split is not as asked; 0 without users.

    For each step, the ratio of the probability of the users' arms under a Dirichlet prior around the shares to that
    under the shares: Γ(c)/Γ(c + n) ∏ Γ(cθ + n_θ)/Γ(cθ) / ∏ θ^n_θ, with the concentration c = 1000. It is a martingale
    if users fall into the arms by the shares: Lindon and Malek (2022).
    """
    return sum(_log_ratio(step) for step in steps)


def _log_ratio(step: ArmSplit) -> float:
    total = sum(step.users)
    ratio = lgamma(_CONCENTRATION) - lgamma(_CONCENTRATION + total)
    for users, given in zip(step.users, step.shares, strict=True):
        share = max(given, _SHARE_LEAST)
        ratio += lgamma(_CONCENTRATION * share + users) - lgamma(_CONCENTRATION * share) - users * log(share)
    return ratio
