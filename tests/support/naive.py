"""The evaluation as the specification describes it, one flag and one rule at a time. Shares no code with the engine."""

from collections.abc import Iterable
from typing import TypedDict

from flagstaff.domain.flags import Flag, Rule

_MASK = 0xFFFFFFFF


class Answer(TypedDict):
    """The result of one flag as it appears in the response."""

    enabled: bool
    reason: str


def evaluate_naively(
    flags: Iterable[tuple[Flag, Iterable[Rule]]], user_id: str | None, user_email: str | None
) -> dict[str, Answer]:
    """The results of all flags by key."""
    return {flag.key: _answer(flag, rules, user_id, user_email) for flag, rules in flags}


def _answer(flag: Flag, rules: Iterable[Rule], user_id: str | None, user_email: str | None) -> Answer:
    if not flag.enabled:
        return {"enabled": False, "reason": "Flag is globally disabled"}
    for rule in sorted(rules, key=lambda rule: (-rule.priority, rule.created_at, rule.id)):
        if rule.enabled and _matches(rule, user_id, user_email):
            return {"enabled": True, "reason": f"Matched {rule.rule_type.value} targeting rule"}
    percentage = flag.rollout_percentage
    if percentage == 0:
        return {"enabled": True, "reason": "Flag enabled globally"}
    identifier = user_id or (user_email or "").lower()
    inside = percentage == 100 or (bool(identifier) and naive_bucket(flag.key, identifier) < percentage)
    return {"enabled": inside, "reason": f"User {'in' if inside else 'not in'} {percentage}% rollout"}


def _matches(rule: Rule, user_id: str | None, user_email: str | None) -> bool:
    if rule.rule_type == "user_id":
        return user_id == rule.rule_value
    email, value = (user_email or "").lower(), rule.rule_value.lower()
    if rule.rule_type == "user_email":
        return email == value
    return "@" in email and email.split("@")[-1] == value.removeprefix("@")


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
