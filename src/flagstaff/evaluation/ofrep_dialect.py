"""The dialect of OFREP, the OpenFeature Remote Evaluation Protocol, version 0.3.

A flag's value is the value of the user's variant; a flag without variants is a boolean. docs/decisions/0007 says why.
"""

import json

from flagstaff.evaluation.fragments import SEPARATOR
from flagstaff.evaluation.history.layout import Decision
from flagstaff.evaluation.outcomes import RULE_OUTCOMES, Outcome
from flagstaff.evaluation.snapshot import Dialect, EnvironmentSnapshot
from flagstaff.evaluation.targets import NO_CONTENTS, Contents

_RULES = frozenset(RULE_OUTCOMES.values())
_BOOLEANS = ("true", "false")


def write_alone(snapshot: EnvironmentSnapshot, decision: Decision, *, with_details: bool) -> bytes:
    """The answer about one flag that was decided alone, with the metadata of the environment and the flag's details."""
    contents = snapshot.contents.get(decision.flag.key, NO_CONTENTS)
    return _flag(decision, contents, snapshot.metadata + (contents.details if with_details else "")).encode()


def flag_set_member(snapshot: EnvironmentSnapshot) -> bytes:
    """The metadata of the environment, as a member of an answer about all flags, after a comma."""
    return f',"metadata":{{{snapshot.metadata}}}'.encode()


def _write(decision: Decision, contents: Contents) -> bytes:
    return _flag(decision, contents, "").encode() + SEPARATOR


def _flag(decision: Decision, contents: Contents, metadata: str) -> str:
    flag, is_on = decision.flag, decision.outcome.enabled
    value = _value(decision, contents)
    # Without a value, the application uses its default. `false` would be 0 where a number is expected in Python.
    given = "" if value is None else f',"value":{value}'
    variant = decision.variant or ("on" if is_on else "off")
    reason = "DISABLED" if value is None else _reason(decision, contents)
    # JSON escapes no character of a flag's key.
    decided = f'"key":"{flag.key}"{given},"variant":{json.dumps(variant)},"reason":"{reason}"'
    return f'{{{decided},"metadata":{{{metadata}}}}}'


def _value(decision: Decision, contents: Contents) -> str | None:
    if decision.variant is not None:
        return contents.values[decision.variant]
    if decision.outcome.enabled:
        return "true"
    return "false" if all(value in _BOOLEANS for value in contents.values.values()) else None


def _reason(decision: Decision, contents: Contents) -> str:
    """The reason for an answer with a value.

    `DISABLED` is only for answers without: with it, the provider for Go returns the application's default, so a boolean
    flag that is off would be on wherever that is its default.
    """
    outcome = decision.outcome
    if outcome in _RULES:
        return "TARGETING_MATCH"
    is_partial = outcome.is_rollout and decision.flag.default is Outcome.NOT_IN_ROLLOUT
    return "SPLIT" if is_partial or (outcome.enabled and contents.is_divided) else "STATIC"


OFREP = Dialect(head=b'{"flags":[', tail=b"]}", write=_write)
"""The dialect of `POST /ofrep/v1/evaluate/flags`."""
