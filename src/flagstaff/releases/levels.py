"""The rates and means of arms over several steps, such that they can be compared. Pure.

Totals are never pooled over steps: an arm that has more of its users in a step with a higher rate would look worse.
Each step's rate, among its users who had no event before it, is weighted by the users of all arms in the step.
"""

from collections.abc import Mapping
from typing import NamedTuple

from flagstaff.metrics.metrics import Kind
from flagstaff.releases.comparisons import Comparison
from flagstaff.releases.judging import moments_of
from flagstaff.releases.observations import Cell, Observations


class Level(NamedTuple):
    """The rate or the mean of an arm, and the mean of the numbers as they are cut off, if any are."""

    value: float
    cut: float | None = None


def find_levels(comparison: Comparison, counted: Observations, metric: int, kind: Kind) -> Mapping[str, Level]:
    """The standardised rates or means of the arms of a comparison, by name, over the steps in which each has users."""
    names = comparison.names
    weighted = []
    for each in comparison.stretches:
        if set(each.arms.names) != set(names):
            continue
        cells, exposed = counted.metrics[metric].cells[each.place], counted.exposed[each.place]
        of_arms = {name: _level(cells[arm], exposed[arm], kind) for arm, name in enumerate(each.arms.names)}
        if all(users for users, _ in of_arms.values()):
            weighted.append((sum(users for users, _ in of_arms.values()), of_arms))
    total = sum(weight for weight, _ in weighted)
    if not total:
        return {}
    found = {}
    for name in names:
        value = sum(weight * of_arms[name][1].value for weight, of_arms in weighted) / total
        cuts = [(weight, of_arms[name][1].cut) for weight, of_arms in weighted]
        known = [(weight, cut) for weight, cut in cuts if cut is not None]
        cut = sum(weight * each for weight, each in known) / total if len(known) == len(cuts) else None
        found[name] = Level(value, None if cut is None or abs(cut - value) <= 1e-9 * abs(value) else cut)
    return found


def _level(cell: Cell, exposed: int, kind: Kind) -> tuple[float, Level]:
    """The users of an arm in a step who are at risk, and their rate or mean."""
    if kind is Kind.BINARY:
        at_risk = exposed - cell.before
        return at_risk, Level(cell.users / at_risk if at_risk else 0.0)
    moments = moments_of(cell, exposed, kind)
    users = moments.users if kind is Kind.COUNT else sum(each.users for each in cell.blocks.values())
    total = sum(each.total for each in cell.blocks.values())
    return moments.users, Level(moments.mean or 0.0, total / users if users and cell.blocks else None)
