"""Flags as Unleash's features, with the differences that remain.

What SDKs cannot decide is left out, so that the flag is off for those users. Nothing turns a flag on for more of them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from flagstaff.conditions.conditions import Condition
from flagstaff.evaluation.bucketing import BUCKETS
from flagstaff.evaluation.compiler import TargetedFlag, tried_in_order
from flagstaff.evaluation.unleash.conditions import Expression
from flagstaff.evaluation.unleash.constraints import ALWAYS, ANY_TEXT
from flagstaff.evaluation.unleash.differences import (
    ADDRESS_TWICE,
    BUILD_METADATA,
    EMAIL_CASE,
    EMPTY_TEXT,
    NON_ASCII,
    Difference,
    Effect,
    InexpressibleError,
)
from flagstaff.evaluation.unleash.strategies import Setting, Step, Strategy, express_rule, merge, write_strategies
from flagstaff.flags.flags import DEFAULT_STICKINESS, Fallthrough, Flag, Rule, RuleType
from flagstaff.flags.prerequisites import Prerequisite, in_order


@dataclass(frozen=True, slots=True)
class Translation:
    """A flag as a feature, ready for JSON, and what SDKs that evaluate it answer differently."""

    feature: dict[str, Any]
    differences: tuple[Difference, ...] = ()

    @property
    def is_exact(self) -> bool:
        """True if the feature is on for all usual users for whom the flag is on."""
        return all(each.effect is not Effect.OFF for each in self.differences)


class _Problem(NamedTuple):
    """A prerequisite that SDKs decide differently, and whether the flag must be off for everyone because of that."""

    prevents: bool
    message: str


def translate(
    environment_key: str, flags: Mapping[str, TargetedFlag], segments: Mapping[str, Sequence[Condition]]
) -> dict[str, Translation]:
    """All flags of an environment by key; `segments` are the conditions of the project's, by key."""
    setting = Setting(environment_key, segments)
    translated = {}
    for key, targeted in flags.items():
        translated[key] = _translate_flag(targeted, setting)
    needs = {}
    for key, targeted in flags.items():
        if targeted.flag.enabled and targeted.flag.prerequisites:
            needs[key] = [each.flag_key for each in targeted.flag.prerequisites]
    for key in in_order(needs):
        translated[key] = _with_dependencies(flags[key].flag, flags, translated)
    for key, each in translated.items():
        translated[key] = _described(each)
    return translated


def _translate_flag(targeted: TargetedFlag, setting: Setting) -> Translation:
    """A flag regardless of its prerequisites."""
    flag, strategies, differences = targeted.flag, list[Strategy](), list[Difference]()
    lost: set[str | None] = set()  # the variants of users whom an earlier step cannot include
    for rule, step in _steps(targeted, setting):
        variant = (rule.variant if rule else None) if flag.variants else None
        if lost - {variant}:
            message = "is left out: an earlier rule that gives another variant is not exact in SDKs"
            differences.append(_left_out(rule, message))
            lost.add(variant)
            continue
        try:
            if isinstance(step, InexpressibleError):
                raise step
            strategies += write_strategies(flag, step, setting.environment_key)
        except InexpressibleError as error:
            lost.add(variant)
            differences.append(_left_out(rule, f"is left out: {error}"))
        else:
            if step.included.narrower:
                lost.add(variant)
                differences.append(_left_out(rule, f"includes fewer users: {step.included.narrower}"))
    merged = merge(strategies)
    differences += _unusual(targeted, merged)
    return Translation(_feature(flag, merged), tuple(differences))


def _steps(targeted: TargetedFlag, setting: Setting) -> Iterator[tuple[Rule | None, Step | InexpressibleError]]:
    """The rules in the order in which they are tried, and then the rollout. A rule without any effect is left out."""
    flag = targeted.flag
    if not flag.enabled:
        return
    rules = [rule for rule in tried_in_order(targeted.rules) if rule.enabled]
    if flag.fallthrough is Fallthrough.ROLLOUT:
        percentage = flag.rollout_percentage or BUCKETS
        rest: Step | None = Step(Expression(ALWAYS), percentage, None)
        gives_variants = flag.variants and any(rule.variant is not None for rule in rules)
        if percentage == BUCKETS and not gives_variants:
            rules = []
    else:
        rest = None
    for rule in rules:
        try:
            yield rule, express_rule(rule, setting)
        except InexpressibleError as error:
            yield rule, error
    if rest is not None:
        yield None, rest


def _feature(flag: Flag, strategies: Sequence[Strategy]) -> dict[str, Any]:
    """A feature without strategies, such as a flag that is off, would be on for everyone if it were enabled."""
    return {
        "name": flag.key,
        "type": "release",
        "project": flag.project_id.hex,
        "enabled": bool(strategies),
        "stale": False,
        "impressionData": False,
        "strategies": strategies,
        "variants": [],
    }


def _with_dependencies(
    flag: Flag, flags: Mapping[str, TargetedFlag], translated: Mapping[str, Translation]
) -> Translation:
    own = translated[flag.key]
    problems = list(filter(None, (_problem(each, translated) for each in flag.prerequisites)))
    feature = {**own.feature, "dependencies": [_dependency(each) for each in flag.prerequisites]}
    if any(each.prevents for each in problems) or not all(_can_hold(each, flags) for each in flag.prerequisites):
        feature |= {"enabled": False, "strategies": []}
    own_differences = (*own.differences, *(Difference(Effect.OFF, each.message) for each in problems))
    theirs = (each for needed in flag.prerequisites for each in _unusual_of(translated.get(needed.flag_key)))
    return Translation(feature, tuple(dict.fromkeys((*own_differences, *theirs))))


def _unusual_of(parent: Translation | None) -> Iterator[Difference]:
    return (each for each in (parent.differences if parent else ()) if each.effect is Effect.UNUSUAL)


def _can_hold(prerequisite: Prerequisite, flags: Mapping[str, TargetedFlag]) -> bool:
    """Return whether the other flag has one of the variants, if any is asked for; Yggdrasil does not check it."""
    parent = flags.get(prerequisite.flag_key)
    given = {each.key for each in parent.flag.variants} if parent else set()
    return not prerequisite.variants or not given.isdisjoint(prerequisite.variants)


def _problem(prerequisite: Prerequisite, translated: Mapping[str, Translation]) -> _Problem | None:
    parent = translated.get(prerequisite.flag_key)
    if parent is None:
        return None  # SDKs do not find it either
    named = f"its prerequisite {prerequisite.flag_key}"
    if parent.feature.get("dependencies"):
        return _Problem(True, f"The flag is off: {named} has prerequisites itself, which SDKs do not support.")
    if parent.is_exact:
        return None
    if prerequisite.enabled:
        return _Problem(False, f"The flag is off for more users: {named} is on for fewer users in SDKs.")
    return _Problem(True, f"The flag is off: {named} must be off, but is on for fewer users in SDKs.")


def _dependency(prerequisite: Prerequisite) -> dict[str, Any]:
    dependency: dict[str, Any] = {"feature": prerequisite.flag_key, "enabled": prerequisite.enabled}
    return {**dependency, "variants": list(prerequisite.variants)} if prerequisite.variants else dependency


def _left_out(rule: Rule | None, message: str) -> Difference:
    what = f"The rule {rule.name or rule.rule_type.value}" if rule else "The rollout"
    return Difference(Effect.OFF, f"{what} {message}.", rule.id if rule else None)


def _unusual(targeted: TargetedFlag, strategies: Sequence[Strategy]) -> Iterator[Difference]:
    flag = targeted.flag
    variants = [variant for strategy in strategies for variant in strategy.get("variants", ())]
    divides = {each["stickiness"] for each in variants} - {"default"}
    divides |= {each["parameters"]["stickiness"] for each in strategies if each["name"] == "flexibleRollout"}
    if divides:
        yield NON_ASCII
    if "email" in divides and flag.stickiness in (DEFAULT_STICKINESS, "user_email"):
        yield EMAIL_CASE
    if strategies and any(rule.enabled and rule.rule_type is RuleType.USER_EMAIL for rule in targeted.rules):
        yield ADDRESS_TWICE
    constraints = [each for strategy in strategies for each in strategy["constraints"]]
    if any(each == ANY_TEXT | {"contextName": each["contextName"]} for each in constraints):
        yield EMPTY_TEXT
    if any(each["operator"].startswith("SEMVER_") for each in constraints):
        yield BUILD_METADATA


def _described(translation: Translation) -> Translation:
    if translation.is_exact:
        return translation
    told = " ".join(each.message for each in translation.differences if each.effect is Effect.OFF)
    feature = {**translation.feature, "description": f"Differs from Flagstaff's own answers in SDKs. {told}"}
    return replace(translation, feature=feature)
