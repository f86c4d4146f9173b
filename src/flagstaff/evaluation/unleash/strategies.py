"""Rules and rollouts as Unleash's activation strategies, which are tried in order.

The first strategy that includes the user gives the variant, from its own list.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from flagstaff.conditions.conditions import Condition
from flagstaff.evaluation.bucketing import BUCKETS, bucket, variant_position
from flagstaff.evaluation.compiler import match_key
from flagstaff.evaluation.unleash.conditions import Expression, all_of, express
from flagstaff.evaluation.unleash.constraints import (
    ALWAYS,
    EMAIL,
    NEVER,
    Constraints,
    constraint,
    context_name,
    equals_email,
    identifies,
    lacks_user_id,
    not_empty,
    require_sendable,
)
from flagstaff.evaluation.unleash.differences import InexpressibleError
from flagstaff.flags.flags import DEFAULT_STICKINESS, Flag, Rule, RuleType
from flagstaff.flags.variants import Variant

Strategy = dict[str, Any]
MAX_ALTERNATIVES = 32
_MERGED = ("IN", "STR_STARTS_WITH", "STR_ENDS_WITH", "STR_CONTAINS")


@dataclass(frozen=True, slots=True)
class Setting:
    """The surroundings that a flag's rules refer to: its environment's key, and the conditions of segments by key."""

    environment_key: str
    segments: Mapping[str, Sequence[Condition]]
    _expressed: dict[str, list[Expression]] = field(default_factory=dict)

    def express_segment(self, key: str) -> list[Expression]:
        """The conditions of a segment, which many rules may name; raises InexpressibleError."""
        known = self._expressed.get(key)
        if known is None:
            conditions = self.segments.get(key, ())
            known = self._expressed[key] = [express(each, self.environment_key) for each in conditions]
        return known


@dataclass(frozen=True, slots=True)
class Step:
    """A rule, or what decides if none matches: who is included, the share of them, and the variant they get.

    Without a variant, they get one by its weight.
    """

    included: Expression
    percentage: int
    variant: str | None


def express_rule(rule: Rule, setting: Setting) -> Step:
    """A rule as a step; raises InexpressibleError if SDKs cannot decide it."""
    own, of_segment = Expression(ALWAYS), list[Expression]()
    value = match_key(rule.rule_type, rule.rule_value)
    match rule.rule_type:
        case RuleType.USER_ID:
            own = Expression(((constraint("userId", "IN", [require_sendable(value)]),),))
        case RuleType.USER_EMAIL:
            own = Expression((equals_email(value),))
        case RuleType.EMAIL_DOMAIN:
            ending = require_sendable(f"@{value}")
            own = Expression(((constraint(EMAIL, "STR_ENDS_WITH", [ending], ignore_case=True),),))
        case RuleType.SEGMENT:
            of_segment = setting.express_segment(value)
            own = Expression(ALWAYS if value in setting.segments else NEVER)
    expressed = [express(condition, setting.environment_key) for condition in rule.conditions]
    return Step(all_of([own, *of_segment, *expressed], MAX_ALTERNATIVES), rule.rollout_percentage, rule.variant)


def write_strategies(flag: Flag, step: Step, environment_key: str) -> list[Strategy]:
    """The strategies of a step; raises InexpressibleError if SDKs cannot divide its users as the engine does."""
    percentage = step.percentage
    if percentage < BUCKETS and flag.stickiness == "environment":  # then all users are in one bucket
        is_inside = bucket(flag.hashed_key, environment_key) < percentage
        percentage = BUCKETS if is_inside else 0
    strategies: list[Strategy] = []
    for constraints in step.included.alternatives if percentage else ():
        if percentage == BUCKETS:
            strategies += _with_variants(flag, step, _strategy(constraints), environment_key)
        else:
            strategies += _with_rollout(flag, step, constraints)
    return strategies


def merge(strategies: Sequence[Strategy]) -> list[Strategy]:
    """Neighbours that differ only in the values of their one constraint, as one strategy."""
    runs: list[list[Strategy]] = []
    for strategy in strategies:
        if runs and _are_alike(runs[-1][0], strategy):
            runs[-1].append(strategy)
        else:
            runs.append([strategy])
    return [_merge(run) if len(run) > 1 else run[0] for run in runs]


def _merge(alike: Sequence[Strategy]) -> Strategy:
    values = dict.fromkeys(value for each in alike for value in each["constraints"][0]["values"])
    first = alike[0]
    return {**first, "constraints": [{**first["constraints"][0], "values": list(values)}]}


def _are_alike(first: Strategy, second: Strategy) -> bool:
    if len(first["constraints"]) != 1 or len(second["constraints"]) != 1:
        return False
    one, other = first["constraints"][0], second["constraints"][0]
    if one["operator"] not in _MERGED or one["inverted"] or {**one, "values": ()} != {**other, "values": ()}:
        return False
    return {**first, "constraints": ()} == {**second, "constraints": ()}


def _strategy(constraints: Constraints, **parameters: str) -> Strategy:
    name = "flexibleRollout" if "rollout" in parameters else "default"
    return {"name": name, "parameters": parameters, "constraints": list(constraints)}


def _with_rollout(flag: Flag, step: Step, constraints: Constraints) -> list[Strategy]:
    """A share of the users, by what identifies them. Nobody without an identifier is included."""
    key = flag.hashed_key
    if '"' in key or key.endswith("\\"):
        raise InexpressibleError("SDKs cannot read the bucketing key")
    strategies = []
    for name, its_constraints in _identities(flag.stickiness):
        rollout = {"rollout": str(step.percentage), "stickiness": name, "groupId": key}
        strategy = _strategy((*constraints, *its_constraints), **rollout)
        if flag.variants:
            strategy["variants"] = _variants(flag, _given_variant(flag, step), name)
        strategies.append(strategy)
    return strategies


def _with_variants(flag: Flag, step: Step, strategy: Strategy, environment_key: str) -> list[Strategy]:
    """The strategies for users who get variants by different identifiers, and for those without any."""
    if not flag.variants:
        return [strategy]
    live = [variant for variant in flag.variants if variant.weight]
    key = flag.hashed_key
    forced = _given_variant(flag, step)
    if forced is None and len(live) == 1:
        forced = live[0].key
    elif forced is None and flag.stickiness == "environment":
        forced = _at(live, variant_position(key, environment_key, sum(each.weight for each in live))).key
    divided = []
    if forced is None:
        for name in _identifiers(flag.stickiness):
            constraints = [*strategy["constraints"], *identifies(name)]
            # Some engines read the stickiness here, others at the variants.
            parameters = {"groupId": key, "stickiness": name}
            variants = _variants(flag, None, name)
            divided.append({**strategy, "parameters": parameters, "constraints": constraints, "variants": variants})
    # The SDK for Go turns a strategy with variants off if it has no groupId.
    given = {"parameters": {"groupId": flag.key}, "variants": _variants(flag, forced or live[0].key, "default")}
    return [*divided, {**strategy, **given}]


def _given_variant(flag: Flag, step: Step) -> str | None:
    return step.variant if step.variant in {variant.key for variant in flag.variants} else None


def _identifiers(stickiness: str) -> tuple[str, ...]:
    """The fields of the context of which the first that is there identifies the user."""
    match stickiness:
        case "default":
            return "userId", EMAIL
        case "email_domain":
            raise InexpressibleError("SDKs cannot divide users by the domain of their email")
        case "random":
            raise InexpressibleError("SDKs divide users by the attribute random at random")
    return (context_name(stickiness),)


def _identities(stickiness: str) -> list[tuple[str, Constraints]]:
    """Each field of the context that can identify a user, and the constraints that such a user meets."""
    names = _identifiers(stickiness)
    found: list[tuple[str, Constraints]] = [(names[0], (not_empty(names[0]),))]
    if stickiness == DEFAULT_STICKINESS:
        found += [(EMAIL, (*lacks, not_empty(EMAIL))) for lacks in lacks_user_id()]
    return found


def _variants(flag: Flag, forced: str | None, stickiness: str) -> list[dict[str, Any]]:
    """The variants of a strategy: one for all, or each by its weight."""
    return [
        {
            "name": variant.key,
            "weight": 1000 if forced else variant.weight,
            "stickiness": stickiness,
            "payload": _payload(variant.value),
        }
        for variant in flag.variants
        if (variant.weight if forced is None else variant.key == forced)
    ]


def _payload(encoded: str) -> dict[str, str]:
    """A variant's value. Unleash has no booleans."""
    match encoded[0]:
        case '"':
            return {"type": "string", "value": json.loads(encoded)}
        case "{":
            return {"type": "json", "value": encoded}
        case "t" | "f":
            return {"type": "string", "value": encoded}
    return {"type": "number", "value": encoded}


def _at(variants: Sequence[Variant], position: int) -> Variant:
    for variant in variants:
        if position < variant.weight:
            return variant
        position -= variant.weight
    raise AssertionError("the position is below the sum of the weights")
