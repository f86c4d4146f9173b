"""A flag's part of the response to evaluate, prepared for each of its possible results."""

import json

from flagstaff.domain.flags import Flag
from flagstaff.evaluation.history.layout import Decision
from flagstaff.evaluation.outcomes import Outcome
from flagstaff.evaluation.snapshot import EnvironmentSnapshot
from flagstaff.evaluation.targets import Fragment

SEPARATOR = b","  # follows each fragment except those of a response's last flag
_NO_VARIANT = ',"variant":null,"value":null'


def make_fragment(flag: Flag, outcome: Outcome, prerequisite: str = "") -> Fragment:
    """The fragment for an outcome; for a flag with variants, one for each variant."""
    # Neither a flag's key nor a reason contains a character that JSON escapes.
    enabled = "true" if outcome.enabled else "false"
    reason = outcome.reason(flag.rollout_percentage, prerequisite)
    start = f'"{flag.key}":{{"enabled":{enabled},"reason":"{reason}"'
    if not flag.variants:
        return _encode(start)
    if not flag.enabled:
        return _encode(start + _NO_VARIANT)
    if not outcome.enabled:
        return (_encode(start + _NO_VARIANT),) * len(flag.variants)
    return tuple(
        _encode(f'{start},"variant":{json.dumps(variant.key)},"value":{variant.value}') for variant in flag.variants
    )


def render_decision(snapshot: EnvironmentSnapshot, decision: Decision) -> bytes:
    """The response to an evaluation of one flag."""
    enabled = "true" if decision.outcome.enabled else "false"
    response = f'{{"enabled":{enabled},"reason":"{decision.reason}"'
    values = snapshot.values.get(decision.flag.key)
    if values and decision.variant is None:
        response += _NO_VARIANT
    elif values and decision.variant is not None:
        response += f',"variant":{json.dumps(decision.variant)},"value":{values[decision.variant]}'
    return f"{response}}}".encode()


def without_separator(fragment: Fragment) -> Fragment:
    """The same fragment for a response's last flag."""
    if isinstance(fragment, bytes):
        return fragment.removesuffix(SEPARATOR)
    return tuple(each.removesuffix(SEPARATOR) for each in fragment)


def _encode(start: str) -> bytes:
    return f"{start}}}".encode() + SEPARATOR
