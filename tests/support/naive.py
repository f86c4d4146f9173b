"""The evaluation as the specification describes it, one flag and one rule at a time. Shares no code with the engine."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NotRequired, TypedDict

from flagstaff.conditions.conditions import Condition
from flagstaff.conditions.operators import COMPARES_TEXT
from flagstaff.flags.flags import Flag, Rule
from flagstaff.flags.variants import Variant
from tests.support.naive_conditions import _text, meets_naively

_MASK = 0xFFFFFFFF


class Answer(TypedDict):
    """The result of one flag as it appears in the response."""

    enabled: bool
    reason: str
    variant: NotRequired[str | None]
    value: NotRequired[Any]


class Context:
    """A user and the custom attributes, in an environment."""

    def __init__(
        self,
        user_id: str | None,
        user_email: str | None,
        attributes: Mapping[str, Any],
        environment_key: str,
        segments: Mapping[str, Iterable[Condition]] = MappingProxyType({}),
    ) -> None:
        self.segments = segments
        email = (user_email or "").lower()
        self.user_id = user_id
        self.email = email
        self.attributes = {
            **attributes,
            "user_id": user_id or None,
            "user_email": email or None,
            "email_domain": email.split("@")[-1] or None if "@" in email else None,
            "environment": environment_key,
        }

    def identifier(self, flag: Flag) -> str:
        """The value that identifies the user for a flag; empty if nothing does."""
        if flag.stickiness == "default":
            return self.user_id or self.email
        value = self.attributes.get(flag.stickiness)
        return "" if isinstance(value, bool) else _text(value) or ""

    def bucket(self, flag: Flag) -> int:
        """The user's bucket for a flag; 100 for a user without an identifier."""
        identifier = self.identifier(flag)
        return naive_bucket(flag.bucketing_key or flag.key, identifier) if identifier else 100


def evaluate_naively(
    flags: Iterable[tuple[Flag, Iterable[Rule]]],
    user_id: str | None,
    user_email: str | None,
    attributes: Mapping[str, Any] | None = None,
    environment_key: str = "production",
    segments: Mapping[str, Iterable[Condition]] = MappingProxyType({}),
) -> dict[str, Answer]:
    """The results of all flags by key; `segments` are conditions by key."""
    context = Context(user_id, user_email, attributes or {}, environment_key, segments)
    by_key = {flag.key: (flag, list(rules)) for flag, rules in flags}
    return {key: _answer(key, by_key, context) for key in by_key}


def _answer(key: str, flags: Mapping[str, tuple[Flag, list[Rule]]], context: Context) -> Answer:
    flag, rules = flags[key]
    enabled, reason, rule = _result(flag, rules, flags, context)
    answer: Answer = {"enabled": enabled, "reason": reason}
    if flag.variants:
        variant = _variant(flag, rule, context) if enabled else None
        answer["variant"] = variant.key if variant else None
        answer["value"] = json.loads(variant.value) if variant else None
    return answer


def _result(
    flag: Flag, rules: Iterable[Rule], flags: Mapping[str, tuple[Flag, list[Rule]]], context: Context
) -> tuple[bool, str, Rule | None]:
    if not flag.enabled:
        return False, "Flag is globally disabled", None
    for needed in flag.prerequisites:
        found = _answer(needed.flag_key, flags, context) if needed.flag_key in flags else None
        if found is None or found["enabled"] is not needed.enabled:
            return False, f"Prerequisite {needed.flag_key} is not met", None
        if needed.variants and found.get("variant") not in needed.variants:
            return False, f"Prerequisite {needed.flag_key} is not met", None
    rule = deciding_rule(flag, rules, context)
    if rule:
        return True, f"Matched {rule.rule_type.value} targeting rule", rule
    if flag.fallthrough == "off":
        return False, "No targeting rule matched", None
    percentage = flag.rollout_percentage
    if percentage == 0:
        return True, "Flag enabled globally", None
    inside = context.bucket(flag) < percentage or percentage == 100
    return inside, f"User {'in' if inside else 'not in'} {percentage}% rollout", None


def _variant(flag: Flag, rule: Rule | None, context: Context) -> Variant:
    by_key = {variant.key: variant for variant in flag.variants}
    if rule and rule.variant in by_key:
        return by_key[rule.variant]
    live = [variant for variant in flag.variants if variant.weight]
    identifier = context.identifier(flag)
    if not identifier:
        return live[0]
    place = naive_murmur(flag.bucketing_key or flag.key, identifier, 86028157) % sum(each.weight for each in live)
    for variant in live:
        if place < variant.weight:
            return variant
        place -= variant.weight
    raise AssertionError


def deciding_rule(flag: Flag, rules: Iterable[Rule], context: Context) -> Rule | None:
    """Return the first rule that matches, if there is one."""
    for rule in sorted(rules, key=lambda rule: (-rule.priority, rule.created_at, rule.id)):
        in_share = rule.rollout_percentage == 100 or context.bucket(flag) < rule.rollout_percentage
        if rule.enabled and _matches(rule, context) and meets_all(rule.conditions, context) and in_share:
            return rule
    return None


def meets_all(conditions: Iterable[Condition], context: Context) -> bool:
    """Return whether the user meets all conditions."""
    for condition in conditions:
        value = context.attributes.get(condition.attribute)
        given = condition
        if condition.attribute in ("user_email", "email_domain") and condition.operator in COMPARES_TEXT:
            given = replace(condition, case_insensitive=True)
        if not meets_naively(given, value):
            return False
    return True


def _matches(rule: Rule, context: Context) -> bool:
    value = rule.rule_value or ""
    match rule.rule_type.value:
        case "attributes":
            return True
        case "segment":
            return meets_all(context.segments[value], context)
        case "user_id":
            return context.user_id == value
        case "user_email":
            return context.email == value.lower()
        case _:
            return "@" in context.email and context.email.split("@")[-1] == value.lower().removeprefix("@")


def naive_bucket(flag_key: str, identifier: str) -> int:
    """The bucket of a user."""
    return naive_murmur(flag_key, identifier, 0) % 100


def naive_murmur(key: str, identifier: str, seed: int) -> int:
    """MurmurHash3 x86 32 as publicly described by Austin Appleby."""
    data = f"{key}:{identifier}".encode()
    state = seed
    whole = len(data) - len(data) % 4
    for start in range(0, whole, 4):
        state ^= _scramble(int.from_bytes(data[start : start + 4], "little"))
        state = (_rotate(state, 13) * 5 + 0xE6546B64) & _MASK
    if whole < len(data):
        state ^= _scramble(int.from_bytes(data[whole:], "little"))
    state ^= len(data)
    state = ((state ^ state >> 16) * 0x85EBCA6B) & _MASK
    state = ((state ^ state >> 13) * 0xC2B2AE35) & _MASK
    return state ^ state >> 16


def _scramble(block: int) -> int:
    return (_rotate((block * 0xCC9E2D51) & _MASK, 15) * 0x1B873593) & _MASK


def _rotate(value: int, bits: int) -> int:
    return (value << bits | value >> (32 - bits)) & _MASK
