"""How long guards take, in words."""

from flagstaff.metrics.metrics import Better, Kind, Metric
from flagstaff.releases.outlook import Basis, Find, GuardOutlook, Missing, Outlook, StepOutlook
from flagstaff.releases.wording import say_number

_SECONDS_A_DAY = 86_400
_SPANS = ((86_400, "day"), (3_600, "hour"), (60, "minute"))
_MISSING = {
    Missing.USERS: "the flag was not evaluated in the last day",
    Missing.EVENTS: "too few of its users had an event in the last day",
}
_NOT_KNOWN = "it is not known how long its guard takes"


def say_guard_outlook(outlook: GuardOutlook, found: Outlook) -> str:
    """Say what a guard finds in its first step that divides users; a sentence of what is missing if it is not known."""
    metric, basis = outlook.metric, outlook.basis
    if isinstance(basis, Missing) or not basis.is_enough_for(metric.kind):
        return f"{metric.name}: {_say_missing(basis)}"
    if not outlook.steps:
        return f"{metric.name}: no step that is still to come divides users."
    return f"{metric.name}: {say_step_outlook(outlook, outlook.steps[0], found)}"


def say_step_outlook(outlook: GuardOutlook, step: StepOutlook, found: Outlook) -> str:
    """Say what a guard finds in a step, and what it cannot find."""
    metric, basis = outlook.metric, outlook.basis
    if step.arm is None or isinstance(basis, Missing):
        return "nobody can be compared in this step, because a rule or a prerequisite looks at the same buckets."
    if not step.finds:
        return "all users have it without the flag already, so no harm can be found."
    arm = "" if step.arm == "on" else f" with {step.arm}"
    at = f"at {_percent(step.share)} of the users{arm} and {_say_basis(metric, basis)}"
    first = step.finds[0]
    harm = _say_effect(metric, basis, first.effect)
    if first.users is None:
        why = "because the guard tolerates it" if first.is_tolerated else "because it would take too many users"
        return f"{at}, {harm} is never found, {why}."
    said = f"{at}, {harm} is found after about {_about(first.users)} users{_say_days(first, found)}."
    return f"{said} {_say_least(metric, basis, step)}".strip()


def _say_days(find: Find, found: Outlook) -> str:
    if found.traffic is None:
        return ""
    if find.days is None:
        return ", which is more than a year at today's traffic"
    by = "at the given traffic" if found.traffic.is_given else "at today's traffic"
    return f": {say_span(find.days)} {by}"


def _say_least(metric: Metric, basis: Basis, step: StepOutlook) -> str:
    if not step.has_traffic:
        return "The flag was not evaluated in the last seven days, so it is not known how long that takes."
    span = say_span(step.days)
    if step.least is None:
        return f"In the {span} of this step, no harm can be found."
    return f"In the {span} of this step, less than {_say_effect(metric, basis, step.least)} is not found."


def _say_missing(basis: Basis | Missing) -> str:
    if isinstance(basis, Missing):
        return f"nothing is known of users without the flag yet, because {_MISSING[basis]}, so {_NOT_KNOWN}."
    return f"all numbers are alike so far, so {_NOT_KNOWN}."


def _say_basis(metric: Metric, basis: Basis) -> str:
    if metric.kind is Kind.BINARY:
        return f"a rate of {_percent(basis.rate or 0)}"
    return f"a mean of {_with_unit(metric, basis.mean or 0)}"


def _say_effect(metric: Metric, basis: Basis, effect: float) -> str:
    """A harm: a ratio of rates, or a difference of means."""
    if metric.kind is Kind.BINARY:
        if metric.better is Better.DOWN:
            return "doubling" if effect == 2 else f"{say_number(effect)} times the rate"
        return "halving" if effect == 0.5 else f"a decrease by {_percent(1 - effect)}"
    side = "an increase" if effect > 0 else "a decrease"
    mean = abs(basis.mean or 0)
    share = f" ({_percent(abs(effect) / mean)})" if mean > (basis.deviation or 0) / 100 else ""
    return f"{side} by {_with_unit(metric, abs(effect))}{share}"


def _with_unit(metric: Metric, number: float) -> str:
    return f"{say_number(number)}{f' {metric.unit}' if metric.unit else ''}"


def _percent(share: float) -> str:
    return f"{say_number(100 * share)} %"


def _about(users: int) -> str:
    """A number of users with two digits that count."""
    digits = len(str(users)) - 2
    return f"{round(users, -digits) if digits > 0 else users:,}"


def say_span(days: float) -> str:
    """A time with its largest unit: 90 minutes, 3 hours, 2.5 days."""
    seconds = days * _SECONDS_A_DAY
    size, unit = next((each for each in _SPANS if seconds >= 2 * each[0]), _SPANS[-1])
    count = seconds / size
    said = say_number(round(count)) if count >= 10 or unit != "day" else f"{count:.2g}"
    return f"{said} {unit}{'' if said == '1' else 's'}" if count >= 1 else "less than a minute"
