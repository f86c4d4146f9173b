"""A release in words: for people, in reasons, mails and the dashboard."""

from collections.abc import Mapping, Sequence
from typing import Any

from flagstaff.metrics.metrics import Kind, Metric
from flagstaff.metrics.request_metrics import Measure
from flagstaff.releases.comparisons import Comparison, comparisons_of
from flagstaff.releases.judging import Blindness, Judgement
from flagstaff.releases.levels import Level, find_levels
from flagstaff.releases.observations import ArmName, Observations
from flagstaff.releases.plans import Counts, Threshold
from flagstaff.releases.releases import Alarm, Release
from flagstaff.releases.statistics.means import BURN_IN, evidence

MEASURE_WORDS = {
    Measure.PER_MINUTE: "the number per minute",
    Measure.MEAN: "the mean",
    Measure.P50: "the median",
    Measure.P90: "the 90th percentile",
    Measure.P95: "the 95th percentile",
    Measure.P99: "the 99th percentile",
}
SPLIT_WRONG = (
    "The users are not split as the step asks, so a guard acts only on what would also be true with the split that was "
    "seen. Usually, evaluations of one group are lost, or some applications cache answers."
)
_WHO_COULD = {
    Counts.ALL: " Anybody who has a browser key can also send evaluations of chosen users: create the release with "
    "`counts` set to `server_keys`, and they do not count.",
    Counts.SERVER_KEYS: " Whoever has a server key can also send evaluations of chosen users.",
}
NOT_JUDGED = "The numbers of this metric cannot be compared, so its guard cannot act. The server's log says why."


_BLIND = {
    Blindness.BUCKETS: "No users of the step in force can be compared, because of their buckets.",
    Blindness.ARMS: "The step in force is not compared: its first variant is not the one of the steps before.",
}


_NOTHING = Comparison(("",), ()), ArmName(is_variant=False, name="")  # words must not keep a guard from acting


def say_split(release: Release) -> str:
    """Say what a wrong split means, and who can have caused it."""
    return SPLIT_WRONG + _WHO_COULD[release.counts]


def say_guard(judgement: Judgement, metric: Metric, release: Release, counted: Observations, place: int) -> str:
    """Say what a guard has found: the metric, the variant, the users, the events, the evidence and its threshold."""
    compared = [(each, arm) for each in comparisons_of(release, counted) for arm in each.others]
    comparison, (_, name) = next((each for each in compared if judgement.strongest in (None, each[1])), _NOTHING)
    levels = find_levels(comparison, counted, place, metric.kind)
    found = _compare(metric, name, levels, comparison.control)
    exposed = users = 0
    for each in comparison.stretches:
        entered, cells = counted.entered[each.place], counted.metrics[place].cells[each.place]
        arms = [0, each.arms.names.index(name)] if name in each.arms.names else []
        exposed += sum(entered[arm] for arm in arms)
        users += sum(cells[arm].users for arm in arms)
    what = "had it" if metric.kind is Kind.BINARY else "have a number" if metric.kind is Kind.VALUE else "had events"
    found += f". Of {exposed:,} users, {users:,} {what}"
    return (
        f"{metric.name}: {found}. The evidence is {say_number(evidence(judgement.log_evidence))}, and the "
        f"threshold is {say_number(evidence(judgement.log_threshold))}."
    )


def _compare(metric: Metric, name: str, levels: Mapping[str, Level], control: str) -> str:
    if name not in levels or control not in levels:
        return "the groups differ"
    treated, other = levels[name], levels[control]
    said = (
        f"{_say_value(metric, treated.value)} {say_arm(name)} and {_say_value(metric, other.value)} {say_arm(control)}"
    )
    if metric.kind is not Kind.BINARY:
        said = f"the mean is {said}"
    elif other.value:
        said += f", {say_number(treated.value / other.value)} times as often"
    if treated.cut is not None and other.cut is not None:
        said += f" (without the largest and smallest numbers {say_number(treated.cut)} and {say_number(other.cut)})"
    return said


def say_result(
    metric: Metric,
    groups: Sequence[Sequence[Any]],
    judgement: Judgement,
    alarm: Alarm | None,
    false_alarm_rate: float,
    *,
    is_split_wrong: bool,
    waits: str | None = None,
) -> str:
    """The result of a guard's metric in one or two sentences, for somebody who knows no statistics.

    `groups` are the arms of each comparison, the control first.
    """
    if is_split_wrong and alarm is None:
        return SPLIT_WRONG
    known = [[each for each in arms if each.rate is not None or each.mean is not None] for arms in groups]
    shown = [each for arms in known if len(arms) > 1 for each in (*arms[1:], arms[0])]
    if not shown:
        return f"{metric.name}: there are no users of both groups to compare yet."
    said = ", ".join(f"{_say_level(metric, each)} {say_arm(each.name)}" for each in shown)
    if alarm is not None or judgement.is_reached:
        chance = f"{100 * false_alarm_rate:.3g} %"
        is_variant = judgement.strongest is not None and judgement.strongest.is_variant
        worse = f"The variant {judgement.variant} is worse" if is_variant else "This is worse"
        return (
            f"{metric.name}: {said}. {worse}: the chance of it if the flag were harmless is below {chance}, even "
            "though you looked often."
        )
    if judgement.is_warning:
        return (
            f"{metric.name}: {said}. This may be worse, but there is not enough evidence yet. No further step begins."
        )
    if waits is not None:
        return f"{metric.name}: {said}. {waits}"
    return f"{metric.name}: {said}. There is no evidence that the flag makes it worse."


def say_wait(
    metric: Metric, arms: Sequence[Any], *, has_limits: bool, blindness: Blindness | None = None
) -> str | None:
    """Say what a guard waits for before it can find anything, also of the step in force; None if it can."""
    if not arms:
        return "No users can be compared yet."
    if blindness in _BLIND:
        return _BLIND[blindness]
    if metric.kind is Kind.BINARY:
        if not any(each.users_with_events for each in arms):
            return "No user had it yet, so nothing can be found."
        return None
    users = sum(each.users_with_events if metric.kind is Kind.VALUE else each.users for each in arms)
    if users < BURN_IN:
        return f"There are not enough users yet: {users:,} of {BURN_IN}."
    if not has_limits:
        return "All numbers are alike so far, or too few users have one, so nothing can be found yet."
    return (
        None
        if blindness is None
        else "A group of the step in force has too few users, so nothing can be found in it yet."
    )


def _say_value(metric: Metric, value: float) -> str:
    if metric.kind is Kind.BINARY:
        return f"{100 * value:.3g} %"
    return f"{say_number(value)}{f' {metric.unit}' if metric.unit else ''}"


def _say_level(metric: Metric, arm: Any) -> str:
    return _say_value(metric, arm.mean if arm.rate is None else arm.rate)


def say_arm(name: str) -> str:
    """The users of an arm: with the flag, without it, or with a variant."""
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
    if number <= -1e6:
        return "less than minus a million"
    return f"{number:,.0f}" if abs(number) >= 100 else f"{number:.3g}"
