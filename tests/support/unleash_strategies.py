"""Translates the activation strategies of Unleash's features to rules, and their constraints to conditions."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from flagstaff.conditions.compiled_conditions import check_conditions
from flagstaff.conditions.conditions import Condition, InvalidConditionError
from flagstaff.conditions.operators import TAKES_A_LIST, Operator
from flagstaff.flags.flags import Rule, RuleType
from flagstaff.flags.targeting.segments import Segment
from tests.support.builders import make_rule

Json = Mapping[str, Any]

_ATTRIBUTES = {"userId": "user_id", "currentTime": "current_time"}  # the others have the same name
_OPERATORS = {"in_cidr": "in_network", "regex": "matches"}  # the others have the same name, after a prefix
_ROLLOUTS = {  # of a strategy: the parameter with the percentage, and the stickiness unless a parameter has it
    "flexibleRollout": ("rollout", None),
    "gradualRolloutUserId": ("percentage", "userId"),
    "gradualRolloutSessionId": ("percentage", "sessionId"),
    "gradualRolloutRandom": ("percentage", "random"),
}
_LISTS = {  # of a strategy: the parameter with the list, and the condition on it
    "userWithId": ("userIds", "user_id", Operator.IN),
    "remoteAddress": ("IPs", "remoteAddress", Operator.IN_NETWORK),
}


class LeftOutError(Exception):
    """A feature, or a question about it, that has no equivalent; the message says why."""


class Hashed(NamedTuple):
    """The group and the attribute that are hashed for a rollout or for variants."""

    group: str
    stickiness: str


def percentage_of(strategy: Json) -> int:
    """The percentage of the users whom a strategy includes."""
    name = strategy["name"]
    return int(strategy["parameters"][_ROLLOUTS[name][0]]) if name in _ROLLOUTS else 100


def hashed_by(strategy: Json) -> Hashed:
    """Return what a strategy with a percentage hashes."""
    parameters = strategy["parameters"]
    return Hashed(parameters.get("groupId", ""), _ROLLOUTS[strategy["name"]][1] or parameters["stickiness"])


def rule_of(strategy: Json, segments: Mapping[str, Segment]) -> Rule:
    """A strategy as a rule for one segment; the conditions of the others become its own."""
    conditions = [*conditions_of(strategy.get("constraints", ())), *_own_conditions(strategy)]
    keys = [f"segment-{each}" for each in strategy.get("segments", ())]
    if not segments.keys() >= set(keys):
        raise LeftOutError("A rule for a segment that does not exist is refused.")
    for key in keys[1:]:
        conditions += segments[key].conditions
    return make_rule(
        rule_type=RuleType.SEGMENT if keys else RuleType.ATTRIBUTES,
        rule_value=keys[0] if keys else None,
        conditions=tuple(conditions),
        rollout_percentage=percentage_of(strategy),
    )


def _own_conditions(strategy: Json) -> Iterator[Condition]:
    """Yield the conditions that a strategy's name and parameters represent."""
    name = strategy["name"]
    if name in _LISTS:
        parameter, attribute, operator = _LISTS[name]
        values = tuple(strategy["parameters"][parameter].split(","))
        yield from _checked([Condition(attribute, operator, values)])
    elif name in _ROLLOUTS:
        stickiness = hashed_by(strategy).stickiness
        if percentage_of(strategy) == 100 and stickiness not in ("default", "random"):  # both include everyone
            yield Condition(attribute_of(stickiness), Operator.MATCHES, ("^",))
    else:
        assert name == "default", f"there is no equivalent of the strategy {name}"


def conditions_of(constraints: Iterable[Json]) -> tuple[Condition, ...]:
    """Constraints as conditions."""
    return _checked([_condition(each) for each in constraints])


def _checked(conditions: Sequence[Condition]) -> tuple[Condition, ...]:
    try:
        return check_conditions(conditions)
    except InvalidConditionError as error:
        raise LeftOutError(f"A value of a condition is refused: it {error}.") from None


def _condition(constraint: Json) -> Condition:
    name = re.sub("^(str|num|date)_", "", constraint["operator"].lower())
    try:
        operator = Operator(_OPERATORS.get(name, name))
    except ValueError:
        raise LeftOutError("An operator that does not exist is refused.") from None
    return Condition(
        attribute=attribute_of(constraint["contextName"]),
        operator=operator,
        values=tuple(constraint["values"] if operator in TAKES_A_LIST else [constraint["value"]]),
        case_insensitive=constraint.get("caseInsensitive", False),
        negate=constraint.get("inverted", False),
    )


def attribute_of(name: str) -> str:
    """The name of the attribute for a field of a context."""
    return _ATTRIBUTES.get(name, name)
