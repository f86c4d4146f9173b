"""A release in words: for people, in reasons, mails and the dashboard."""

from collections.abc import Sequence
from math import exp
from typing import Any

from flagstaff.metrics.metrics import Kind, Metric
from flagstaff.metrics.request_metrics import Measure
from flagstaff.releases.judging import Judgement, event_splits, mean_splits
from flagstaff.releases.observations import Observations
from flagstaff.releases.plans import Threshold
from flagstaff.releases.releases import Alarm, Applied
from flagstaff.releases.statistics.means import Moments

MEASURE_WORDS = {
    Measure.PER_MINUTE: "the number per minute",
    Measure.MEAN: "the mean",
    Measure.P50: "the median",
    Measure.P90: "the 90th percentile",
    Measure.P95: "the 95th percentile",
    Measure.P99: "the 99th percentile",
}
SPLIT_WRONG = (
    "The users are not split as the step asks, so nothing can be concluded. Usually, events of one group are lost, "
    "some applications cache answers, or another rule decides for some users before the rollout does."
)


def say_guard(
    judgement: Judgement, metric: Metric, segments: Sequence[Applied], counted: Observations, place: int
) -> str:
    """Say what a guard has found: the metric, the users, the events, the evidence and its threshold."""
    if metric.kind is Kind.BINARY:
        splits = event_splits(segments, counted, place)
        exposed = [users for users in counted.entered if users]
        treated, control = sum(each.treated for each in splits), sum(each.control for each in splits)
        found = (
            f"{treated:,} of {sum(sum(each[1:]) for each in exposed):,} users with the flag and {control:,} of "
            f"{sum(each[0] for each in exposed):,} without it had it"
        )
    else:
        steps = mean_splits(segments, counted, place, metric.kind)
        unit = f" {metric.unit}" if metric.unit else ""
        treated_mean, control_mean = (_mean([getattr(each, name) for each in steps]) for name in ("treated", "control"))
        users = sum(each.treated.users + each.control.users for each in steps)
        found = (
            f"the mean is {treated_mean}{unit} with the flag and {control_mean}{unit} without it, of {users:,} users"
        )
    return (
        f"{metric.name}: {found}. The evidence is {say_number(exp(min(judgement.log_evidence, 690)))}, and the "
        f"threshold is {say_number(exp(judgement.log_threshold))}."
    )


def say_result(
    metric: Metric,
    arms: Sequence[Any],
    judgement: Judgement,
    alarm: Alarm | None,
    false_alarm_rate: float,
    *,
    is_split_wrong: bool,
) -> str:
    """The result of a guard's metric in one or two sentences, for somebody who knows no statistics."""
    if is_split_wrong:
        return SPLIT_WRONG
    shown = [each for each in arms if each.rate is not None or each.mean is not None]
    if len(shown) < 2:
        return f"{metric.name}: there are no users of both groups to compare yet."
    said = ", ".join(f"{_say_level(metric, each)} {_say_arm(each.name)}" for each in reversed(shown))
    if alarm is not None or judgement.is_reached:
        chance = f"{100 * false_alarm_rate:.3g} %"
        return (
            f"{metric.name}: {said}. This is worse: the chance of it if the flag were harmless is below {chance}, even "
            "though you looked often."
        )
    if judgement.is_warning:
        return (
            f"{metric.name}: {said}. This may be worse, but there is not enough evidence yet. No further step begins."
        )
    return f"{metric.name}: {said}. There is no evidence that the flag makes it worse."


def _say_level(metric: Metric, arm: Any) -> str:
    if arm.rate is not None:
        return f"{100 * arm.rate:.3g} %"
    return f"{say_number(arm.mean)}{f' {metric.unit}' if metric.unit else ''}"


def _say_arm(name: str) -> str:
    return {"on": "with the flag", "off": "without it"}.get(name, f"with {name}")


def say_threshold(threshold: Threshold, value: float) -> str:
    """Say what a threshold has found: the request metric, its value, and the limit."""
    labels = ", ".join(f"{label}: {given}" for label, given in threshold.labels)
    of_series = f" ({labels})" if labels else ""
    side = "below" if threshold.above is None else "above"
    over = "the last minute" if threshold.minutes == 1 else f"the last {threshold.minutes} minutes"
    measure = MEASURE_WORDS[threshold.measure]
    return (
        f"{threshold.request_metric}{of_series}: {measure} was {say_number(value)} over {over}, {side} "
        f"the threshold of {say_number(threshold.limit)}."
    )


def say_number(number: float) -> str:
    """A number with three digits that count."""
    if number >= 1e6:
        return "more than a million"
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def _mean(several: Sequence[Moments]) -> str:
    users = sum(each.users for each in several)
    return say_number(sum(each.total for each in several) / users) if users else "unknown"
