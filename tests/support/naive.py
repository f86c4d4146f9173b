"""The evaluation as the specification describes it, one flag and one rule at a time. Shares no code with the engine."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, TypedDict

from flagstaff.domain.conditions import COMPARES_TEXT, Condition
from flagstaff.domain.flags import Flag, Rule
from tests.support.naive_conditions import _text, meets_naively

_MASK = 0xFFFFFFFF


class Answer(TypedDict):
    """The result of one flag as it appears in the response."""

    enabled: bool
    reason: str


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

    def bucket(self, flag: Flag) -> int:
        """The user's bucket for a flag; 100 for a user without an identifier."""
        if flag.stickiness == "default":
            identifier = self.user_id or self.email
        else:
            value = self.attributes.get(flag.stickiness)
            identifier = "" if isinstance(value, bool) else _text(value) or ""
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
    return {flag.key: _answer(flag, rules, context) for flag, rules in flags}


def _answer(flag: Flag, rules: Iterable[Rule], context: Context) -> Answer:
    if not flag.enabled:
        return {"enabled": False, "reason": "Flag is globally disabled"}
    rule = deciding_rule(flag, rules, context)
    if rule:
        return {"enabled": True, "reason": f"Matched {rule.rule_type.value} targeting rule"}
    if flag.fallthrough == "off":
        return {"enabled": False, "reason": "No targeting rule matched"}
    percentage = flag.rollout_percentage
    if percentage == 0:
        return {"enabled": True, "reason": "Flag enabled globally"}
    inside = context.bucket(flag) < percentage or percentage == 100
    return {"enabled": inside, "reason": f"User {'in' if inside else 'not in'} {percentage}% rollout"}


def deciding_rule(flag: Flag, rules: Iterable[Rule], context: Context) -> Rule | None:
    """The first rule that matches, if there is one."""
    for rule in sorted(rules, key=lambda rule: (-rule.priority, rule.created_at, rule.id)):
        in_share = rule.rollout_percentage == 100 or context.bucket(flag) < rule.rollout_percentage
        if rule.enabled and _matches(rule, context) and _meets_all(rule.conditions, context) and in_share:
            return rule
    return None


def _meets_all(conditions: Iterable[Condition], context: Context) -> bool:
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
            return _meets_all(context.segments[value], context)
        case "user_id":
            return context.user_id == value
        case "user_email":
            return context.email == value.lower()
        case _:
            return "@" in context.email and context.email.split("@")[-1] == value.lower().removeprefix("@")


def naive_bucket(flag_key: str, identifier: str) -> int:
    """The bucket, computed with MurmurHash3 x86 32 as publicly described by Austin Appleby, with seed 0."""
    data = f"{flag_key}:{identifier}".encode()
    state = 0
    whole = len(data) - len(data) % 4
    for start in range(0, whole, 4):
        state ^= _scramble(int.from_bytes(data[start : start + 4], "little"))
        state = (_rotate(state, 13) * 5 + 0xE6546B64) & _MASK
    if whole < len(data):
        state ^= _scramble(int.from_bytes(data[whole:], "little"))
    state ^= len(data)
    state = ((state ^ state >> 16) * 0x85EBCA6B) & _MASK
    state = ((state ^ state >> 13) * 0xC2B2AE35) & _MASK
    return (state ^ state >> 16) % 100


def _scramble(block: int) -> int:
    return (_rotate((block * 0xCC9E2D51) & _MASK, 15) * 0x1B873593) & _MASK


def _rotate(value: int, bits: int) -> int:
    return (value << bits | value >> (32 - bits)) & _MASK
