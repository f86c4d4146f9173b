"""Translates states of Unleash's client specification to flags and segments, and its contexts to users.

An activation strategy becomes a rule of a flag that is off otherwise, because a feature is on if any of its strategies
is. Features without strategies are on for everyone.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from flagstaff.evaluation.compiler import TargetedFlag
from flagstaff.evaluation.evaluator import evaluate
from flagstaff.evaluation.snapshot_assembly import compile_environment
from flagstaff.evaluation.targets import CURRENT_TIME
from flagstaff.flags.flags import DEFAULT_STICKINESS, Fallthrough, Rule, RuleType
from flagstaff.flags.prerequisites import Prerequisite, check_prerequisites, find_cycle
from flagstaff.flags.targeting.segments import Segment
from flagstaff.flags.variants import Variant, check_variants, check_weight, encode_value
from flagstaff.serving.context import read_attributes
from flagstaff.values.keys import check_flag_key
from tests.support.builders import AT, make_environment, make_flag, make_rule, make_segment
from tests.support.unleash_strategies import (
    Hashed,
    Json,
    LeftOutError,
    attribute_of,
    conditions_of,
    hashed_by,
    percentage_of,
    rule_of,
)


def flag_key(name: str) -> str:
    """Return the key of the flag for a feature: a key has no capitals and no dots."""
    try:
        return check_flag_key(name.lower().replace(".", "-"))
    except ValueError:
        raise LeftOutError("The key of a flag consists of ASCII letters, digits, `_` and `-`.") from None


def translate_state(state: Json) -> dict[str, TargetedFlag | LeftOutError]:
    """Return the flag of each feature by the feature's name, or why there is none.

    Raises:
        LeftOutError: for a state that has no features.
    """
    if "features" not in state:
        raise LeftOutError("The state is a stream of changes, which a client applies.")
    features = {each["name"]: each for each in state["features"]}
    segments = {segment.key: segment for segment in translate_segments(state)}
    found: dict[str, TargetedFlag | LeftOutError] = {}
    for name in features:
        try:
            found[name] = _translate_feature(name, features, segments)
        except LeftOutError as reason:
            found[name] = reason
    keys = [each.flag.key for each in found.values() if isinstance(each, TargetedFlag)]
    assert len(set(keys)) == len(keys), "two features have the same key"
    return found


def translate_segments(state: Json) -> list[Segment]:
    """The segments of a state."""
    return [
        make_segment(key=f"segment-{each['id']}", conditions=conditions_of(each["constraints"]))
        for each in state.get("segments", ())
    ]


def _translate_feature(name: str, features: Mapping[str, Json], segments: Mapping[str, Segment]) -> TargetedFlag:
    feature = features[name]
    strategies = [each for each in feature.get("strategies", ()) if percentage_of(each)]
    hashed = {hashed_by(each) for each in strategies if percentage_of(each) < 100}
    variants, hashed_for_variants = _variants(feature, strategies)
    if variants:
        hashed.add(hashed_for_variants)
    assert len(hashed) < 2, "a flag has one bucketing key and one stickiness"
    group, stickiness = next(iter(hashed), Hashed(name, "default"))
    assert stickiness != "random", "a flag never decides at random"
    flag = make_flag(
        key=flag_key(name),
        enabled=feature["enabled"],
        fallthrough=Fallthrough.OFF if feature.get("strategies") else Fallthrough.ROLLOUT,
        bucketing_key=group,
        stickiness=attribute_of(stickiness),
        variants=check_variants([_variant(each) for each in variants]),
        prerequisites=_prerequisites(name, features),
    )
    rules: list[Rule] = []
    for rule in [rule_of(each, segments) for each in strategies]:
        rules += [*_overrides(variants, rule), rule]
    if not feature.get("strategies"):
        rules += _overrides(variants, make_rule(rule_type=RuleType.ATTRIBUTES, rule_value=None))
    return TargetedFlag(flag, [replace(rule, priority=-place) for place, rule in enumerate(rules)])


def with_rollout(targeted: TargetedFlag) -> TargetedFlag:
    """The same flag, with its last rule as its rollout if the rule has nothing but a percentage."""
    *others, last = targeted.rules or [make_rule()]
    if last.rule_type is not RuleType.ATTRIBUTES or last.conditions:
        return targeted
    flag = replace(targeted.flag, rollout_percentage=last.rollout_percentage, fallthrough=Fallthrough.ROLLOUT)
    return TargetedFlag(flag, others)


class User(NamedTuple):
    """A context as an application sends it."""

    user_id: str | None
    environment: str
    custom_attributes: Json
    now: datetime


def translate_context(context: Json, asked: TargetedFlag | None) -> User:
    """Return the user of a context; `asked` is the flag in question, if it exists."""
    is_visitor = "sessionId" in context and "userId" not in context
    if asked and is_visitor and asked.flag.stickiness == DEFAULT_STICKINESS and _hashes(asked):
        raise LeftOutError("The stickiness `default` does not use the session's id.")
    named = {name: context[name] for name in ("sessionId", "remoteAddress", "appName") if name in context}
    now = context.get("currentTime")
    return User(
        context.get("userId"),
        context.get("environment", "production"),
        {**named, **context.get("properties", {})},
        datetime.fromisoformat(now) if now else AT,
    )


def evaluate_all(flags: Iterable[TargetedFlag], segments: Iterable[Segment], user: User) -> dict[str, Any]:
    """Return the results of all flags by key, from our compiler and evaluator."""
    snapshot = compile_environment(make_environment(key=user.environment), flags, segments)
    given = {name: msgspec.Raw(msgspec.json.encode(value)) for name, value in user.custom_attributes.items()}
    wanted = snapshot.targeting.attributes if snapshot.targeting else ()
    body, _ = evaluate(snapshot, user.user_id, None, {**read_attributes(given, wanted), CURRENT_TIME: user.now})
    found: dict[str, Any] = json.loads(body)["flags"]
    return found


def _hashes(targeted: TargetedFlag) -> bool:
    return bool(targeted.flag.variants) or any(rule.rollout_percentage < 100 for rule in targeted.rules)


def _variants(feature: Json, strategies: Sequence[Json]) -> tuple[Sequence[Json], Hashed]:
    """Return the variants of a feature, and what is hashed for them; a strategy's variants replace the feature's."""
    if any(each.get("variants") for each in strategies):
        assert len(strategies) == 1, "the variants of a flag are the same for all of its rules"
        own = strategies[0]["variants"]
        hashed = hashed_by(strategies[0])
        return own, hashed._replace(stickiness=own[0].get("stickiness", hashed.stickiness))
    variants = feature.get("variants", ())
    return variants, Hashed(feature["name"], variants[0].get("stickiness", "default") if variants else "default")


def read_payload(payload: Json) -> Any:
    """Return the value that represents the payload of a variant."""
    return payload["value"] if payload["type"] in ("string", "csv") else json.loads(payload["value"])


def _variant(variant: Json) -> Variant:
    return Variant(variant["name"], check_weight(variant["weight"]), encode_value(read_payload(variant["payload"])))


def _overrides(variants: Iterable[Json], rule: Rule) -> Iterator[Rule]:
    """The rules that precede another one to give some of its users a certain variant."""
    for variant in variants:
        for override in variant.get("overrides", ()):
            chosen = conditions_of([{**override, "operator": "IN"}])
            yield replace(rule, conditions=rule.conditions + chosen, variant=variant["name"])


def _prerequisites(name: str, features: Mapping[str, Json]) -> tuple[Prerequisite, ...]:
    needs = {key: [each["feature"] for each in feature.get("dependencies", ())] for key, feature in features.items()}
    if find_cycle(needs, name):
        raise LeftOutError("Prerequisites that form a cycle are refused.")
    found = [
        Prerequisite(flag_key(each["feature"]), each.get("enabled", True), tuple(each.get("variants", ())))
        for each in features[name].get("dependencies", ())
    ]
    if any("disabled" in each.variants for each in found):
        raise LeftOutError("A flag without variants has no variant `disabled` that a prerequisite could name.")
    return check_prerequisites(found)
