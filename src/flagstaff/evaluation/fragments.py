"""A flag's part of a response, prepared for each of its possible results, in any dialect; and evaluate's dialect."""

import json
from collections.abc import Mapping

from flagstaff.evaluation.history.layout import Decision, LayoutFlag
from flagstaff.evaluation.loops import Fragment
from flagstaff.evaluation.outcomes import Outcome
from flagstaff.evaluation.snapshot import Dialect, EnvironmentSnapshot
from flagstaff.evaluation.targets import Values, Write

SEPARATOR = b","  # follows each fragment except those of a response's last flag


def make_fragment(write: Write, flag: LayoutFlag, values: Values, outcome: Outcome, prerequisite: str = "") -> Fragment:
    """The fragment for an outcome; for a flag that is enabled and has variants, one for each variant."""
    decision = Decision(flag, outcome, prerequisite=prerequisite)
    if not flag.variants:
        return write(decision, values)
    if not outcome.enabled:
        return (write(decision, values),) * len(flag.variants)
    return tuple(write(decision._replace(variant=variant), values) for variant in flag.variants)


def render_decision(snapshot: EnvironmentSnapshot, decision: Decision) -> bytes:
    """The response to an evaluation of one flag."""
    return _result(decision, snapshot.values.get(decision.flag.key, {})).encode()


def without_separator(fragment: Fragment) -> Fragment:
    """The same fragment for a response's last flag."""
    if isinstance(fragment, bytes):
        return fragment.removesuffix(SEPARATOR)
    return tuple(each.removesuffix(SEPARATOR) for each in fragment)


def _write(decision: Decision, values: Values) -> bytes:
    # Neither a flag's key nor a reason contains a character that JSON escapes.
    return f'"{decision.flag.key}":{_result(decision, values)}'.encode() + SEPARATOR


def _result(decision: Decision, values: Mapping[str, str]) -> str:
    enabled = "true" if decision.outcome.enabled else "false"
    result = f'{{"enabled":{enabled},"reason":"{decision.reason}"'
    if values and decision.variant is None:
        result += ',"variant":null,"value":null'
    elif decision.variant is not None:
        result += f',"variant":{json.dumps(decision.variant)},"value":{values[decision.variant]}'
    return f"{result}}}"


EVALUATE = Dialect(head=b'{"flags":{', tail=b"}}", write=_write)
"""The dialect of `POST /sdk/v1/evaluate`."""
