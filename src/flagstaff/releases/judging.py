"""Judges a release by what was counted: the evidence of each guard, and whether the split is as was asked. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import log
from typing import NamedTuple

from flagstaff.metrics.metrics import Better, Kind, Metric
from flagstaff.releases.observations import Cell, Observations
from flagstaff.releases.plans import Guard
from flagstaff.releases.releases import Applied, Release
from flagstaff.releases.statistics import binary, means, split
from flagstaff.releases.statistics.binary import EventSplit
from flagstaff.releases.statistics.means import MeanSplit, Moments
from flagstaff.releases.statistics.split import ArmSplit

COUNTED_LEAST = 20
"""The users with an event of a count that are expected in the smaller group of a step from which the step counts."""
WARNING = 0.5
"""The share of the threshold, on the log scale, from which no step begins."""


class Hold(StrEnum):
    """The reason why a step waits."""

    SPLIT = "split"
    """The users are not split as asked, so nothing is known of what the step before does."""

    USERS = "users"
    """The step before has not exposed enough new users."""
    EVIDENCE = "evidence"
    """The evidence of a guard is above its warning line."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """The evidence of a guard and its threshold, both as natural logarithms."""

    guard: Guard
    log_evidence: float
    log_threshold: float

    @property
    def is_reached(self) -> bool:
        """True if the guard is to act."""
        return self.log_evidence >= self.log_threshold

    @property
    def is_warning(self) -> bool:
        """True if no further step may begin."""
        return self.log_evidence >= WARNING * self.log_threshold


class Verdict(NamedTuple):
    """The evidence of each guard, in their order, and whether the split is not as asked."""

    judgements: Sequence[Judgement]
    is_split_wrong: bool
    counted: Observations


def conclude(release: Release, counted: Observations, metrics: Mapping[str, Metric]) -> Verdict:
    """Draw the conclusions from the counts."""
    return Verdict(judge(release, counted, metrics), is_split_wrong(release, counted), counted)


def judge(release: Release, counted: Observations, metrics: Mapping[str, Metric]) -> list[Judgement]:
    """The evidence of each guard, in their order. A guard whose metric was deleted has none.

    With K guards, each acts when its evidence reaches K/alpha: the chance that any of them ever acts on a harmless flag
    is at most alpha, the release's false alarm rate (the sum of K chances of alpha/K each).
    """
    threshold = log(len(release.guards) / release.false_alarm_rate) if release.guards else 0.0
    return [
        Judgement(guard, _evidence(release.segments, guard, metrics.get(guard.metric), counted, place), threshold)
        for place, guard in enumerate(release.guards)
    ]


def find_hold(release: Release, counted: Observations, metrics: Mapping[str, Metric]) -> Hold | None:
    """Return why the next step does not begin although its time may have come; None if nothing holds it back."""
    step = release.next_step
    if step is None or not release.segments:
        return None
    if is_split_wrong(release, counted):
        return Hold.SPLIT
    wanted = release.steps[step].least_users
    if wanted and count_new(release, counted) < wanted:
        return Hold.USERS
    judgements = judge(release, counted, metrics)
    is_warned = any(each.is_warning and each.guard.metric not in release.alarmed for each in judgements)
    return Hold.EVIDENCE if is_warned else None


def count_new(release: Release, counted: Observations) -> int:
    """The users whom the step in force has exposed for the first time, also before a pause."""
    step = release.segments[-1].step
    new = zip(release.segments, counted.new, strict=False)
    return sum(sum(users) for applied, users in new if applied.step == step)


def log_split_evidence(release: Release, counted: Observations) -> float:
    """The evidence that the newly exposed users are not split as asked, as a natural logarithm."""
    steps = [
        ArmSplit(tuple(counted.new[place]), applied.arms.shares)
        for place, applied in enumerate(release.segments)
        if applied.arms and place < len(counted.new)
    ]
    return split.log_evidence(steps)


def is_split_wrong(release: Release, counted: Observations) -> bool:
    """Return whether the split is so far from what was asked that nothing may be concluded."""
    return log_split_evidence(release, counted) >= -log(split.ALPHA)


def event_splits(segments: Sequence[Applied], counted: Observations, metric: int) -> list[EventSplit]:
    """The users with events of a metric by step: all arms but the control together."""
    found = []
    for applied, cells in zip(segments, counted.metrics[metric].cells, strict=False):
        if applied.arms:
            treated = sum(cell.users for cell in cells[1:])
            found.append(EventSplit(treated, cells[0].users, applied.arms.treated_share))
    return found


def mean_splits(segments: Sequence[Applied], counted: Observations, metric: int, kind: Kind) -> list[MeanSplit]:
    """The numbers of a metric by step: all arms but the control together."""
    found = []
    for place, (applied, cells) in enumerate(zip(segments, counted.metrics[metric].cells, strict=False)):
        if applied.arms and (kind is not Kind.COUNT or _has_many(cells, applied.arms.treated_share)):
            new = counted.new[place]
            of_arms = [moments_of(cell, users, kind) for cell, users in zip(cells, new, strict=True)]
            found.append(MeanSplit(_together(of_arms[1:]), of_arms[0]))
    return found


def _has_many(cells: Sequence[Cell], share: float) -> bool:
    """Return whether so many users had an event that each group expects several: for fewer, a mean is not normal."""
    return sum(cell.users for cell in cells) * min(share, 1 - share) >= COUNTED_LEAST


def moments_of(cell: Cell, users: int, kind: Kind) -> Moments:
    """The numbers of an arm in a step. Users without an event count as 0 if events are counted, and else not at all."""
    return Moments(users if kind is Kind.COUNT else cell.users, cell.total, cell.squares)


def _together(several: Sequence[Moments]) -> Moments:
    return Moments(
        sum(each.users for each in several), sum(each.total for each in several), sum(each.squares for each in several)
    )


def _evidence(
    segments: Sequence[Applied], guard: Guard, metric: Metric | None, counted: Observations, place: int
) -> float:
    if metric is None or place >= len(counted.metrics):
        return 0.0
    harm_is_more = metric.better is Better.DOWN
    if metric.kind is Kind.BINARY:
        steps = event_splits(segments, counted, place)
        return binary.log_evidence(steps, harm_is_more=harm_is_more, tolerates=guard.tolerates)
    scale = counted.metrics[place].scale
    if scale is None:
        return 0.0
    return means.log_evidence(
        mean_splits(segments, counted, place, metric.kind),
        deviation=scale.deviation,
        harm_is_more=harm_is_more,
        tolerates=guard.tolerates,
    )
