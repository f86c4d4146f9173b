"""The results of a release, from what was counted: rates and means by arm and step, and intervals. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp

from flagstaff.metrics.metrics import Kind, Metric
from flagstaff.releases.arm_results import ArmResult, Interval
from flagstaff.releases.comparisons import Comparison, comparisons_of
from flagstaff.releases.judging import (
    Blindness,
    Hold,
    Judgement,
    conclude,
    event_splits,
    find_blindness,
    find_hold,
    log_split_evidence,
    mean_steps,
    moments_of,
)
from flagstaff.releases.levels import Level, find_levels
from flagstaff.releases.observations import Cell, Observations
from flagstaff.releases.releases import Alarm, Release
from flagstaff.releases.statistics import binary, means
from flagstaff.releases.verdicts import Verdict, judge_arms
from flagstaff.releases.wording import NOT_JUDGED, say_result, say_wait

_LOG_MAX = 690.0


@dataclass(frozen=True, slots=True)
class StepResult:
    """The arms in a step."""

    step: int
    arms: Sequence[ArmResult]


@dataclass(frozen=True, slots=True)
class MetricResult:
    """The results of a guard's metric."""

    metric: Metric
    judgement: Judgement
    alarm: Alarm | None
    arms: Sequence[ArmResult]
    steps: Sequence[StepResult]
    words: str
    waits: str | None
    """What the guard waits for before it can find anything; None if it can."""
    verdicts: Sequence[Verdict] = ()
    """On all arms but the control."""


@dataclass(frozen=True, slots=True)
class Results:
    """The results of a release."""

    release: Release
    counted: Observations
    metrics: Sequence[MetricResult]
    split_evidence: float
    is_split_wrong: bool
    hold: Hold | None


def find_results(release: Release, counted: Observations, metrics: Mapping[str, Metric]) -> Results:
    """The results of a release; of metrics that were deleted there are none."""
    if not counted.fits(release.segments):
        counted = Observations()
    counted.prepare(release.segments, len(release.guards))
    log_evidence = log_split_evidence(release, counted)
    verdict = conclude(release, counted, metrics)
    alarms = {alarm.metric: alarm for alarm in release.alarms}
    found = []
    for place, each in enumerate(verdict.judgements):
        if each.guard.metric not in metrics:
            continue
        metric, alarm = metrics[each.guard.metric], alarms.get(each.guard.metric)
        failure = each.failure
        if failure is None:
            try:
                shown = _metric(release, counted, place, each, metric, alarm, is_split_wrong=verdict.is_split_wrong)
                found.append(shown)
                continue
            except (ArithmeticError, ValueError, LookupError) as error:  # the others are shown
                failure = error
        unknown = replace(each, failure=failure)
        found.append(MetricResult(metric, unknown, alarm, [], [], NOT_JUDGED, waits=NOT_JUDGED))
    hold = find_hold(release, verdict) if release.is_open else None
    return Results(release, counted, found, exp(min(log_evidence, _LOG_MAX)), verdict.is_split_wrong, hold)


def _metric(
    release: Release,
    counted: Observations,
    place: int,
    judgement: Judgement,
    metric: Metric,
    alarm: Alarm | None,
    *,
    is_split_wrong: bool,
) -> MetricResult:
    comparisons = comparisons_of(release, counted)
    # Of several variants, each interval is at a level that holds for all of them together.
    alpha = release.false_alarm_rate / len(release.guards) / max(1, sum(len(each.others) for each in comparisons))
    steps = []
    for each in counted.compared(release.segments):
        cells, exposed = counted.metrics[place].cells[each.place], counted.exposed[each.place]
        arms = [_arm(name, exposed[arm], cells[arm], metric.kind) for arm, name in enumerate(each.arms.names)]
        steps.append(StepResult(each.step, arms))
    groups: list[list[ArmResult]] = []
    for comparison in comparisons:
        groups.append([])
        levels = find_levels(comparison, counted, place, metric.kind)
        for name in comparison.names:
            level = levels.get(name)
            groups[-1].append(_arm_together(release, counted, place, metric.kind, name, comparison, level, alpha))
    together = [arm for group in groups for arm in group]
    blindness = find_blindness(release, counted, place, metric.kind)
    waits = say_wait(metric, together, has_limits=bool(counted.metrics[place].limits), blindness=blindness)
    words = say_result(
        metric,
        groups,
        judgement,
        alarm,
        release.false_alarm_rate,
        is_split_wrong=is_split_wrong,
        waits=waits,
    )
    is_blind = blindness in (Blindness.BUCKETS, Blindness.ARMS)
    verdicts = [
        verdict
        for group in groups
        for verdict in judge_arms(metric, group, is_blind=is_blind, is_split_wrong=is_split_wrong)
    ]
    return MetricResult(metric, judgement, alarm, together, steps, words, waits, verdicts)


def _arm(name: str, exposed: int, cell: Cell, kind: Kind) -> ArmResult:
    at_risk = exposed - cell.before
    is_binary = kind is Kind.BINARY
    rate = cell.users / at_risk if is_binary and at_risk else None
    mean = None if is_binary else moments_of(cell, exposed, kind).mean
    return ArmResult(name, exposed, cell.users, cell.events, rate, mean)


def _arm_together(
    release: Release,
    counted: Observations,
    place: int,
    kind: Kind,
    name: str,
    comparison: Comparison,
    level: Level | None,
    alpha: float,
) -> ArmResult:
    """An arm in all steps of a comparison that have it, compared with the control of the same steps."""
    users = with_events = events = 0
    for each in comparison.stretches:
        if name in each.arms.names:
            arm = each.arms.names.index(name)
            cell = counted.metrics[place].cells[each.place][arm]
            users += counted.entered[each.place][arm]
            with_events += cell.users
            events += cell.events
    ratio = difference = None
    is_compared = name != comparison.control
    if kind is Kind.BINARY:
        splits = event_splits(comparison, counted, place, name) if is_compared else []
        estimate, ends = binary.most_likely_ratio(splits), binary.ratio_interval(splits, alpha) if splits else None
        ratio = Interval(estimate, *ends) if estimate is not None and ends else None
    else:
        steps = mean_steps(release, comparison, counted, place, kind, name) if is_compared else []
        found = means.difference_interval(steps, alpha=alpha)
        difference = Interval(*found) if found else None
    is_binary = kind is Kind.BINARY
    return ArmResult(
        name,
        users,
        with_events,
        events,
        level.value if level and is_binary else None,
        level.value if level and not is_binary else None,
        level.cut if level else None,
        ratio,
        difference,
    )
