"""The evaluation as the specification describes it, one flag and one rule at a time. Shares no code with the engine."""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any, TypedDict

from flagstaff.domain.flags import Flag, Rule

_MASK = 0xFFFFFFFF


class Answer(TypedDict):
    """The result of one flag as it appears in the response."""

    enabled: bool
    reason: str


class Context:
    """A user and the custom attributes, in an environment."""

    def __init__(
        self, user_id: str | None, user_email: str | None, attributes: Mapping[str, Any], environment_key: str
    ) -> None:
        email = (user_email or "").lower()
        self.user_id = user_id
        self.user_email = user_email
        self.attributes = {
            **attributes,
            "user_id": user_id,
            "user_email": email,
            "email_domain": email.split("@")[-1] if "@" in email else None,
            "environment": environment_key,
        }

    def identifier(self, flag: Flag) -> str:
        """What the flag's buckets are computed from; empty if there is nothing."""
        if flag.stickiness == "default":
            return self.user_id or (self.user_email or "").lower()
        value = self.attributes.get(flag.stickiness)
        if type(value) is float:
            return _write_number(value)
        return str(value) if type(value) in (str, int) else ""


def evaluate_naively(
    flags: Iterable[tuple[Flag, Iterable[Rule]]],
    user_id: str | None,
    user_email: str | None,
    attributes: Mapping[str, Any] | None = None,
    environment_key: str = "production",
) -> dict[str, Answer]:
    """The results of all flags by key."""
    context = Context(user_id, user_email, attributes or {}, environment_key)
    return {flag.key: _answer(flag, rules, context) for flag, rules in flags}


def _answer(flag: Flag, rules: Iterable[Rule], context: Context) -> Answer:
    if not flag.enabled:
        return {"enabled": False, "reason": "Flag is globally disabled"}
    for rule in sorted(rules, key=lambda rule: (-rule.priority, rule.created_at, rule.id)):
        if rule.enabled and _matches(rule, context.user_id, context.user_email):
            return {"enabled": True, "reason": f"Matched {rule.rule_type.value} targeting rule"}
    if flag.fallthrough == "off":
        return {"enabled": False, "reason": "No targeting rule matched"}
    percentage = flag.rollout_percentage
    if percentage == 0:
        return {"enabled": True, "reason": "Flag enabled globally"}
    identifier = context.identifier(flag)
    bucket = naive_bucket(flag.bucketing_key or flag.key, identifier) if identifier else 100
    inside = bucket < percentage or percentage == 100
    return {"enabled": inside, "reason": f"User {'in' if inside else 'not in'} {percentage}% rollout"}


def _matches(rule: Rule, user_id: str | None, user_email: str | None) -> bool:
    if rule.rule_type == "user_id":
        return user_id == rule.rule_value
    email, value = (user_email or "").lower(), rule.rule_value.lower()
    if rule.rule_type == "user_email":
        return email == value
    return "@" in email and email.split("@")[-1] == value.removeprefix("@")


def _write_number(number: float) -> str:
    """A number as JavaScript writes it, by the rules of ECMAScript's Number::toString."""
    sign, digits, exponent = Decimal(repr(number)).normalize().as_tuple()
    text, point = "".join(map(str, digits)), len(digits) + int(exponent)
    if text == "0":
        return "0"
    if 0 < point <= 21:
        written = text[:point].ljust(point, "0") + ("." + text[point:] if len(text) > point else "")
    elif -6 < point <= 0:
        written = "0." + "0" * -point + text
    else:
        written = f"{text[0]}{'.' + text[1:] if len(text) > 1 else ''}e{point - 1:+}"
    return "-" * sign + written


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
