"""The dialect of OFREP, the OpenFeature Remote Evaluation Protocol, version 0.3.

A flag's value is that of the user's variant; a flag without variants is a boolean. docs/decisions/0023 says why.
"""

import json

from flagstaff.evaluation.fragments import SEPARATOR
from flagstaff.evaluation.history.layout import Decision
from flagstaff.evaluation.outcomes import RULE_OUTCOMES, Outcome
from flagstaff.evaluation.snapshot import Dialect
from flagstaff.evaluation.targets import Values

_RULES = frozenset(RULE_OUTCOMES.values())
_BOOLEANS = ("true", "false")


def _write(decision: Decision, values: Values) -> bytes:
    flag = decision.flag
    # JSON escapes no character of a flag's key.
    written = f'{{"key":"{flag.key}"{_value(decision, values)},"reason":"{_reason(decision)}","metadata":{{}}}}'
    return written.encode() + SEPARATOR


def _value(decision: Decision, values: Values) -> str:
    if decision.variant is not None:
        return f',"value":{values[decision.variant]},"variant":{json.dumps(decision.variant)}'
    if decision.outcome.enabled:
        return ',"value":true,"variant":"on"'
    if all(value in _BOOLEANS for value in values.values()):
        return ',"value":false,"variant":"off"'
    # Without a value, the application uses its default. `false` would be 0 where a number is expected in Python.
    return ',"variant":"off"'


def _reason(decision: Decision) -> str:
    """`DISABLED` is never used: with it, the provider for Go returns the application's default for a flag that is off.

    A flag that is on for everyone splits them if it has several variants.
    """
    outcome = decision.outcome
    if outcome in _RULES:
        return "TARGETING_MATCH"
    is_partial = outcome.is_rollout and decision.flag.default is Outcome.NOT_IN_ROLLOUT
    return "SPLIT" if is_partial or (outcome.enabled and len(decision.flag.variants) > 1) else "STATIC"


OFREP = Dialect(head=b'{"flags":[', tail=b"]}", write=_write)
"""The dialect of `POST /ofrep/v1/evaluate/flags`."""
