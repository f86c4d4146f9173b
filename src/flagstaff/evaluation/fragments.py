"""A flag's part of a response, prepared for each of its possible results, in any dialect; and evaluate's dialect."""

import json

from flagstaff.evaluation.history.layout import Decision, LayoutFlag
from flagstaff.evaluation.loops import Fragment
from flagstaff.evaluation.outcomes import Outcome
from flagstaff.evaluation.snapshot import Dialect, EnvironmentSnapshot
from flagstaff.evaluation.targets import NO_CONTENTS, Contents, Write

SEPARATOR = b","  # follows each fragment except those of a response's last flag


def make_fragment(
    write: Write, flag: LayoutFlag, contents: Contents, outcome: Outcome, prerequisite: str = ""
) -> Fragment:
    """The fragment for an outcome; for a flag that is enabled and has variants, one for each variant."""
    decision = Decision(flag, outcome, prerequisite=prerequisite)
    if not flag.variants:
        return write(decision, contents)
    if not outcome.enabled:
        return (write(decision, contents),) * len(flag.variants)
    return tuple(write(decision._replace(variant=variant), contents) for variant in flag.variants)


def render_decision(snapshot: EnvironmentSnapshot, decision: Decision) -> bytes:
    """The response to an evaluation of one flag."""
    return _result(decision, snapshot.contents.get(decision.flag.key, NO_CONTENTS)).encode()


def without_separator(fragment: Fragment) -> Fragment:
    """The same fragment for a response's last flag."""
    if isinstance(fragment, bytes):
        return fragment.removesuffix(SEPARATOR)
    return tuple(each.removesuffix(SEPARATOR) for each in fragment)


def _write(decision: Decision, contents: Contents) -> bytes:
    # Neither a flag's key nor a reason contains a character that JSON escapes.
    return f'"{decision.flag.key}":{_result(decision, contents)}'.encode() + SEPARATOR


def _result(decision: Decision, contents: Contents) -> str:
    enabled = "true" if decision.outcome.enabled else "false"
    result = f'{{"enabled":{enabled},"reason":"{decision.reason}"'
    if contents.values and decision.variant is None:
        result += ',"variant":null,"value":null'
    elif decision.variant is not None:
        result += f',"variant":{json.dumps(decision.variant)},"value":{contents.values[decision.variant]}'
    return f"{result}}}"


EVALUATE = Dialect(head=b'{"flags":{', tail=b"}}", write=_write)
"""The dialect of `POST /sdk/v1/evaluate`."""
