"""The arms that are compared in a release: arms with their control, in the stretches in which it is the control. Pure.

A flag whose rollout grows to 100 % divides its users by the rollout first, and then, if it has variants, by their
weights. These are two comparisons, each with a control of its own. They stand everywhere in one order: the rollout's
before the variants'.
"""

from collections.abc import Sequence
from typing import NamedTuple

from flagstaff.releases.observations import ArmName, Compared, Observations
from flagstaff.releases.releases import Release

RESERVE = 0.1
"""The weight of the evidence that comes after what was planned: of further stretches, or of the second comparison."""


class Comparison(NamedTuple):
    """The arms of some stretches, the control first. The control is the first variant of the first stretch, or `off`.

    Where another variant comes first, the arms are not compared.
    """

    names: Sequence[str]
    stretches: Sequence[Compared]

    @property
    def control(self) -> str:
        """The arm with which the others are compared."""
        return self.names[0]

    @property
    def others(self) -> Sequence[ArmName]:
        """The arms that are compared with the control."""
        return [ArmName(self.stretches[0].arms.by_variant, name) for name in self.names[1:]]


def comparisons_of(release: Release, counted: Observations) -> list[Comparison]:
    """The comparisons of a release: the rollout's before the variants'."""
    found: dict[bool, list[Compared]] = {}
    for each in counted.compared(release.segments):
        alike = found.setdefault(each.arms.by_variant, [])
        if not alike or each.arms.names[0] == alike[0].arms.names[0]:
            alike.append(each)
    return [
        Comparison(list(dict.fromkeys(name for each in stretches for name in each.arms.names)), stretches)
        for _, stretches in sorted(found.items())
    ]


def weigh_arms(comparisons: Sequence[Comparison]) -> dict[ArmName, float]:
    """The weights of the evidence against each arm: alike within a comparison, and `RESERVE` for the later one.

    That one is not known before it begins, so the chance of a false alarm is up to 1 + `RESERVE` times the
    release's rate if there are two.
    """
    first = min((each.stretches[0].place for each in comparisons), default=0)
    weights: dict[ArmName, float] = {}
    for each in comparisons:
        of_comparison = 1.0
        if len(comparisons) > 1:
            of_comparison = 1 - RESERVE if each.stretches[0].place == first else RESERVE
        weights |= dict.fromkeys(each.others, of_comparison / max(1, len(each.others)))
    return weights
