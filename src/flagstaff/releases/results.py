"""The results of a release, from what was counted: rates and means by arm and step, and intervals. Pure."""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from math import exp

from flagstaff.metrics.metrics import Kind, Metric
from flagstaff.releases.judging import Hold, Judgement, find_hold, judge, log_split_evidence, moments_of
from flagstaff.releases.observations import Cell, Observations
from flagstaff.releases.releases import Alarm, Applied, Release
from flagstaff.releases.statistics import binary, means, split
from flagstaff.releases.statistics.binary import EventSplit
from flagstaff.releases.statistics.means import MeanSplit, Moments, Scale
from flagstaff.releases.wording import say_result

_LOG_MAX = 690.0


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with the ends of its always-valid interval."""

    estimate: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class ArmResult:
    """An arm: its users, those with events, their events, and the rate or the mean; None without users."""

    name: str
    users: int
    users_with_events: int
    events: int
    rate: float | None
    mean: float | None
    ratio: Interval | None = None
    """The rate compared with the control's, with all steps together."""
    difference: Interval | None = None
    """The mean compared with the control's, with all steps together."""


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


@dataclass(frozen=True, slots=True)
class Results:
    """The results of a release."""

    release: Release
    counted: Observations
    metrics: Sequence[MetricResult]
    split_evidence: float
    is_split_wrong: bool
    hold: Hold | None


def finding_results(
    release: Release, counted: Observations, metrics: Mapping[str, Metric]
) -> Generator[None, None, Results]:
    """The results of a release, in small steps; of metrics that were deleted there are none."""
    arms = [each.arms for each in release.segments]
    if not counted.fits(arms):
        counted = Observations()
    counted.prepare(arms, len(release.guards))
    log_evidence = log_split_evidence(release, counted)
    is_wrong = None in release.alarmed or exp(min(log_evidence, _LOG_MAX)) >= 1 / split.ALPHA
    alarms = {alarm.metric: alarm for alarm in release.alarms}
    found = []
    for place, each in enumerate(judge(release, counted, metrics)):
        yield
        if each.guard.metric in metrics:
            metric, alarm = metrics[each.guard.metric], alarms.get(each.guard.metric)
            found.append((yield from _metric(release, counted, place, each, metric, alarm, is_split_wrong=is_wrong)))
    hold = find_hold(release, counted, metrics) if release.is_open else None
    return Results(release, counted, found, exp(min(log_evidence, _LOG_MAX)), is_wrong, hold)


def _metric(
    release: Release,
    counted: Observations,
    place: int,
    judgement: Judgement,
    metric: Metric,
    alarm: Alarm | None,
    *,
    is_split_wrong: bool,
) -> Generator[None, None, MetricResult]:
    alpha = release.false_alarm_rate / len(release.guards)
    segments = release.segments
    steps = [
        StepResult(
            applied.step,
            [
                _arm(name, counted.exposed[at][arm], counted.new[at][arm], cells[arm], metric.kind)
                for arm, name in enumerate(applied.arms.names)
            ],
        )
        for at, (applied, cells) in enumerate(zip(segments, counted.metrics[place].cells, strict=False))
        if applied.arms
    ]
    yield
    arms = yield from _arms_together(segments, counted, place, metric.kind, alpha)
    words = say_result(metric, arms, judgement, alarm, release.false_alarm_rate, is_split_wrong=is_split_wrong)
    return MetricResult(metric, judgement, alarm, arms, steps, words)


def _arm(name: str, exposed: int, new: int, cell: Cell, kind: Kind) -> ArmResult:
    moments = moments_of(cell, new, kind)
    is_binary = kind is Kind.BINARY
    return ArmResult(
        name,
        exposed,
        cell.users,
        cell.events,
        cell.users / exposed if is_binary and exposed else None,
        None if is_binary else moments.mean,
    )


def _arms_together(
    segments: Sequence[Applied], counted: Observations, place: int, kind: Kind, alpha: float
) -> Generator[None, None, list[ArmResult]]:
    """Each arm in all steps that have it, by name, compared with the control of the same steps."""
    names = list(dict.fromkeys(name for applied in segments if applied.arms for name in applied.arms.names))
    found = []
    for name in names:
        yield
        users = with_events = events = 0
        moments = Moments()
        splits: list[EventSplit] = []
        mean_splits: list[MeanSplit] = []
        for at, (applied, cells) in enumerate(zip(segments, counted.metrics[place].cells, strict=False)):
            if applied.arms is None or name not in applied.arms.names:
                continue
            arm = applied.arms.names.index(name)
            cell, new = cells[arm], counted.new[at]
            users += counted.entered[at][arm]
            with_events += cell.users
            events += cell.events
            here = moments_of(cell, new[arm], kind)
            moments = Moments(moments.users + here.users, moments.total + here.total, moments.squares + here.squares)
            if arm:
                shares = applied.arms.shares
                splits.append(EventSplit(cell.users, cells[0].users, shares[arm] / (shares[arm] + shares[0])))
                mean_splits.append(MeanSplit(here, moments_of(cells[0], new[0], kind)))
        is_binary = kind is Kind.BINARY
        found.append(
            ArmResult(
                name,
                users,
                with_events,
                events,
                with_events / users if is_binary and users else None,
                None if is_binary else moments.mean,
                _ratio(splits, alpha) if is_binary else None,
                None if is_binary else _difference(mean_splits, counted.metrics[place].scale, alpha),
            )
        )
    return found


def _ratio(splits: Sequence[EventSplit], alpha: float) -> Interval | None:
    estimate = binary.most_likely_ratio(splits)
    if estimate is None:
        return None
    interval = binary.ratio_interval(splits, alpha)
    return None if interval is None else Interval(estimate, *interval)


def _difference(splits: Sequence[MeanSplit], scale: Scale | None, alpha: float) -> Interval | None:
    found = means.difference_interval(splits, deviation=scale.deviation, alpha=alpha) if scale else None
    return Interval(*found) if found else None
