"""Judges a release by what was counted: the evidence of each guard, and whether the split is as was asked. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, StrEnum, auto
from math import exp, log
from typing import NamedTuple

from flagstaff.metrics.metrics import Better, Kind, Metric
from flagstaff.releases.comparisons import RESERVE, Comparison, comparisons_of, weigh_arms
from flagstaff.releases.observations import ArmName, Cell, Compared, MetricCounts, Observations
from flagstaff.releases.plans import Guard
from flagstaff.releases.plans import Step as PlannedStep
from flagstaff.releases.releases import Release
from flagstaff.releases.statistics import binary, means, split
from flagstaff.releases.statistics.binary import EventSplit
from flagstaff.releases.statistics.means import Block, Moments, Step
from flagstaff.releases.statistics.split import ArmSplit

COUNTED_LEAST = 20
"""The users with an event of a count that are expected in the smaller group of a step from which the step counts."""
WARNING = 0.5
"""The share of the threshold, on the log scale, from which no step begins."""


class Hold(StrEnum):
    """The reason why a step waits."""

    SPLIT = "split"
    """The users are not split as asked, so little is known of what the step before does."""

    USERS = "users"
    """The step before has not exposed enough new users."""
    EVIDENCE = "evidence"
    """The evidence of a guard is above its warning line."""
    COUNTING = "counting"
    """Not all evaluations and events are counted yet, or they cannot be, so that guards know too little."""
    THRESHOLD = "threshold"
    """A request metric is beyond its threshold, which is about to act."""
    UNREADABLE_THRESHOLD = "unreadable_threshold"
    """The values of a request metric cannot be read."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """The evidence of a guard and its threshold, both as natural logarithms.

    With a `failure`, the evidence could not be computed, and the guard cannot act.
    """

    guard: Guard
    log_evidence: float
    log_threshold: float
    strongest: ArmName | None = None
    """The arm with the strongest evidence, if several are compared."""
    failure: Exception | None = None

    @property
    def variant(self) -> str | None:
        """The name of that arm."""
        return None if self.strongest is None else self.strongest.name

    @property
    def is_reached(self) -> bool:
        """True if the guard is to act."""
        return self.log_evidence >= self.log_threshold

    @property
    def is_warning(self) -> bool:
        """True if no further step may begin."""
        return self.log_evidence >= WARNING * self.log_threshold


class Verdict(NamedTuple):
    """The evidence of each guard, in their order, and whether the split is far from what was asked, or was."""

    judgements: Sequence[Judgement]
    is_split_wrong: bool
    counted: Observations


def conclude(release: Release, counted: Observations, metrics: Mapping[str, Metric]) -> Verdict:
    """Draw the conclusions from the counts.

    A guard whose metric was deleted has no evidence, and one whose evidence cannot be computed keeps no other from
    acting.

    With K guards, each acts when its evidence reaches K/alpha: the chance that any of them ever acts on a harmless flag
    is at most alpha, the release's false alarm rate (the sum of K chances of alpha/K each).

    If users are not split as asked, the shares are not known. Then the evidence is the smaller one of two: with the
    planned shares, and with the shares of the users who were seen. Otherwise, whoever can send evaluations could
    silence it.
    """
    threshold = log(len(release.guards) / release.false_alarm_rate) if release.guards else 0.0
    is_wrong = None in release.alarmed or log_split_evidence(release, counted) >= -log(split.ALPHA)
    weights = weigh_arms(comparisons_of(release, counted))
    found = []
    for place, guard in enumerate(release.guards):
        metric = metrics.get(guard.metric)
        try:
            by_arm = log_evidence_by_arm(release, guard, metric, counted, place)
            if is_wrong:
                observed = log_evidence_by_arm(release, guard, metric, counted, place, with_observed=True)
                by_arm = {arm: min(by_arm[arm], observed[arm]) for arm in by_arm}
            strongest = max(by_arm, key=lambda arm: by_arm[arm]) if len(by_arm) > 1 else None
            found.append(Judgement(guard, _log_mean(by_arm, weights), threshold, strongest))
        except Exception as failure:  # noqa: BLE001 - the observer tells of it
            found.append(Judgement(guard, 0.0, threshold, failure=failure))
    return Verdict(found, is_wrong, counted)


def log_evidence_by_arm(
    release: Release,
    guard: Guard,
    metric: Metric | None,
    counted: Observations,
    place: int,
    *,
    with_observed: bool = False,
) -> dict[ArmName, float]:
    """The evidence against each arm but the controls, as a natural logarithm. The guard's is the mean of it.

    The mean of e-values is an e-value: Vovk and Wang, "E-values: calibration, combination and applications" (2021).
    """
    if metric is None or place >= len(counted.metrics):
        return {}
    harm_is_more = metric.better is Better.DOWN
    found = {}
    for comparison, arm in ((each, arm) for each in comparisons_of(release, counted) for arm in each.others):
        if metric.kind is Kind.BINARY:
            splits = event_splits(comparison, counted, place, arm.name, with_observed=with_observed)
            found[arm] = binary.log_evidence(splits, harm_is_more=harm_is_more, tolerates=guard.tolerates)
        else:
            found[arm] = means.log_evidence(
                mean_steps(release, comparison, counted, place, metric.kind, arm.name),
                harm_is_more=harm_is_more,
                tolerates=guard.tolerates,
                tolerates_amount=guard.tolerates_amount,
            )
    return found


def _log_mean(by_arm: Mapping[ArmName, float], weights: Mapping[ArmName, float]) -> float:
    if len(by_arm) < 2:
        return next(iter(by_arm.values()), 0.0)
    most = max(by_arm.values())
    return most + log(sum(weights[arm] * exp(each - most) for arm, each in by_arm.items()))


def find_hold(release: Release, verdict: Verdict) -> Hold | None:
    """Return why the next step does not begin although its time may have come; None if nothing holds it back."""
    step, counted = release.next_step, verdict.counted
    if step is None or not release.segments:
        return None
    if verdict.is_split_wrong:
        return Hold.SPLIT
    if counted.is_behind or counted.failing_since:
        return Hold.COUNTING
    wanted = release.steps[step].least_users
    if wanted and count_in_step(release, counted) < wanted:
        return Hold.USERS
    if any(each.failure for each in verdict.judgements):
        return Hold.COUNTING
    is_warned = any(each.is_warning and each.guard.metric not in release.alarmed for each in verdict.judgements)
    return Hold.EVIDENCE if is_warned else None


def count_in_step(release: Release, counted: Observations) -> int:
    """The users whom the step in force has exposed, also before a pause, and also those seen in an earlier step."""
    step = release.segments[-1].step
    found = zip(counted.stretches, counted.of_step, strict=False)
    return sum(sum(users) for stretch, users in found if release.segments[stretch.segment].step == step)


def log_split_evidence(release: Release, counted: Observations) -> float:
    """The evidence that the newly exposed users are not split as asked, as a natural logarithm."""
    return split.log_evidence(
        [ArmSplit(tuple(counted.new[each.place]), each.arms.shares) for each in counted.compared(release.segments)]
    )


def event_splits(
    comparison: Comparison, counted: Observations, metric: int, name: str, *, with_observed: bool = False
) -> list[EventSplit]:
    """The users with events of a metric by stretch, of an arm and of the control.

    With the share that the arm should have, or the one that it has among those who were exposed.
    """
    found = []
    for each, arm, cells in _cells_of(comparison, counted, metric, name):
        shares: Sequence[float] = each.arms.shares
        if with_observed:
            shares = [users + 1 for users in counted.exposed[each.place]]  # none is 0
        found.append(EventSplit(cells[arm].users, cells[0].users, shares[arm] / (shares[arm] + shares[0])))
    return found


def mean_steps(
    release: Release,
    comparison: Comparison,
    counted: Observations,
    metric: int,
    kind: Kind,
    name: str,
    *,
    only: int | None = None,
) -> list[Step]:
    """The numbers of a metric by stretch, cut off, of an arm and of the control, with the weights of the stretches.

    Of all stretches, or `only` of one.
    """
    counts, weights = counted.metrics[metric], weigh(release, counted)
    found = []
    for each, arm, cells in _cells_of(comparison, counted, metric, name):
        if only is not None and each.place != only:
            continue
        if kind is Kind.COUNT:
            least = min(each.arms.shares[arm], each.arms.shares[0])
            pair = (cells[arm], cells[0])
            many = sum(cell.users for cell in pair) * least / (each.arms.shares[arm] + each.arms.shares[0])
            if many < COUNTED_LEAST:
                continue
        exposed = counted.exposed[each.place]
        blocks = _blocks(counts, cells[arm], cells[0], kind, exposed[arm], exposed[0])
        found.append(Step(blocks, weights[each.place]))
    return found


class Blindness(Enum):
    """The reason why the evidence of a guard has nothing of the step in force."""

    BUCKETS = auto()
    """Nobody's bucket lets the user be compared."""
    ARMS = auto()
    """The groups are not those of the steps before."""
    USERS = auto()
    """A group has too few users."""


def find_blindness(release: Release, counted: Observations, metric: int, kind: Kind) -> Blindness | None:
    """Return why a guard sees nothing of the step in force; None if it does, or if users are not divided."""
    last = len(counted.stretches) - 1
    if last < 0 or release.segments[counted.stretches[last].segment].arms is None:
        return None
    compared = [each for each in counted.compared(release.segments) if each.place == last]
    if not compared:
        return Blindness.BUCKETS
    comparison = next((each for each in comparisons_of(release, counted) if compared[0] in each.stretches), None)
    if comparison is None:
        return Blindness.ARMS
    names = [arm.name for arm in comparison.others if arm.name in compared[0].arms.names]
    if kind is Kind.BINARY:
        return None
    steps = (mean_steps(release, comparison, counted, metric, kind, name, only=last) for name in names)
    return None if any(means.says_something(each) for each in steps) else Blindness.USERS


def weigh(release: Release, counted: Observations) -> dict[int, float]:
    """The weights of the stretches: alike for the first one of each step, and half of what is left for each other.

    Others are those that were not planned, such as after a pause.

    They are fixed by the plan, before what they weigh is known.
    """
    planned = _count_dividing(release.steps)
    weights: dict[int, float] = {}
    steps, left = set[int](), RESERVE
    for each in counted.compared(release.segments):
        if each.step in steps or len(steps) == planned:
            left /= 2
            weights[each.place] = left
        else:
            weights[each.place] = weigh_step(release.steps)
            steps.add(each.step)
    return weights


def weigh_step(steps: Sequence[PlannedStep]) -> float:
    """The weight of the first stretch of each step that divides users."""
    return (1 - RESERVE) / _count_dividing(steps)


def _count_dividing(steps: Sequence[PlannedStep]) -> int:
    return max(1, sum(_may_divide(step) for step in steps))


def _may_divide(step: PlannedStep) -> bool:
    """Return whether users may be divided by a step: not if the flag is then off, or on for everyone."""
    changes = step.changes
    return changes.get("enabled") is not False and changes.get("rollout_percentage") not in (0, 100)


def _blocks(
    counts: MetricCounts, treated: Cell, control: Cell, kind: Kind, exposed_treated: int, exposed_control: int
) -> list[Block]:
    found = []
    for place in sorted({*treated.blocks, *control.blocks}):
        sums = [cell.blocks.get(place) for cell in (treated, control)]
        users = (
            (exposed_treated, exposed_control)
            if kind is Kind.COUNT
            else tuple(each.users if each else 0 for each in sums)
        )
        moments = [
            Moments(many, each.total, each.squares) if each else Moments(many)
            for many, each in zip(users, sums, strict=True)
        ]
        found.append(Block(moments[0], moments[1], counts.limits[place].deviation))
    return found


def _cells_of(
    comparison: Comparison, counted: Observations, metric: int, name: str
) -> Iterator[tuple[Compared, int, Sequence[Cell]]]:
    for each in comparison.stretches:
        if name in each.arms.names:
            yield each, each.arms.names.index(name), counted.metrics[metric].cells[each.place]


def moments_of(cell: Cell, users: int, kind: Kind) -> Moments:
    """The numbers of an arm in a stretch. Users without an event count as 0 if events are counted, else not at all."""
    return Moments(users if kind is Kind.COUNT else cell.users, cell.total, cell.squares)
