"""Flagstaff's flags as a person would create them in Unleash's own server.

This module shares no code with the translation for SDKs.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from tests.support.api import Json

_OPERATORS = {
    "in": "IN",
    "not_in": "NOT_IN",
    "starts_with": "STR_STARTS_WITH",
    "ends_with": "STR_ENDS_WITH",
    "contains": "STR_CONTAINS",
    "before": "DATE_BEFORE",
    "after": "DATE_AFTER",
    "matches": "REGEX",
    **{name: f"NUM_{name.upper()}" for name in ("eq", "gt", "gte", "lt", "lte")},
    **{name: name.upper() for name in ("semver_eq", "semver_gt", "semver_gte", "semver_lt", "semver_lte")},
}
_SEVERAL = ("in", "not_in", "starts_with", "ends_with", "contains")
_NAMES = {"user_id": "userId", "current_time": "currentTime"}
STICKINESS = {"default": "userId", "user_id": "userId", "company": "company"}


def constraint(condition: Json) -> Json:
    """Return the constraint that is equivalent to a condition."""
    operator, values = condition["operator"], condition["values"]
    found = {
        "contextName": _NAMES.get(condition["attribute"], condition["attribute"]),
        "operator": _OPERATORS[operator],
        "inverted": condition.get("negate", False),
        "caseInsensitive": condition.get("case_insensitive", False),
    }
    return {**found, "values": values} if operator in _SEVERAL else {**found, "values": [], "value": values[0]}


def strategies(flag: Json, segments: Mapping[str, int]) -> list[Json]:
    """Return the activation strategies of a flag: one for each rule, and one for the rollout.

    `segments` has the ids of its segments.
    """
    found = [
        {
            **_share(flag, rule["rollout_percentage"], rule["variant"]),
            "disabled": not rule["enabled"],
            "constraints": [*_match(rule), *map(constraint, rule["conditions"])],
            "segments": [segments[rule["rule_value"]]] if rule["rule_type"] == "segment" else [],
        }
        for rule in flag["rules"]
    ]
    if flag["fallthrough"] == "rollout":
        found.append(_share(flag, flag["rollout_percentage"] or 100, None))
    return found


def dependencies(flag: Json) -> Iterator[Json]:
    """Yield the dependencies of a feature."""
    for each in flag["prerequisites"]:
        named = {"variants": each["variants"]} if each["variants"] else {}
        yield {"feature": each["flag_key"], "enabled": each["enabled"], **named}


def _share(flag: Json, percentage: int, variant: str | None) -> Json:
    """Return a strategy for a share of the users, who all get one variant or are divided among variants by weight."""
    stickiness, group = STICKINESS[flag["stickiness"]], flag["bucketing_key"] or flag["key"]
    variants = [_variant(each, stickiness) for each in flag["variants"] if variant in (None, each["key"])]
    if variant is not None:
        variants = [{**each, "weight": 1000, "weightType": "variable"} for each in variants]
    if percentage == 100 and not variants:
        return {"name": "default", "variants": []}
    parameters = {"rollout": str(percentage), "stickiness": stickiness, "groupId": group}
    return {"name": "flexibleRollout", "parameters": parameters, "variants": variants}


def _variant(variant: Json, stickiness: str) -> Json:
    # Unleash's server requires one variable variant, which gets the remaining users.
    kind = "variable" if variant["key"] == "c" else "fix"
    own = {"name": variant["key"], "weight": variant["weight"], "weightType": kind, "stickiness": stickiness}
    return {**own, "payload": payload(variant["value"])}


def payload(value: Any) -> Json:
    """A variant's value as a payload."""
    kind = {str: "string", bool: "string", dict: "json"}.get(type(value), "number")
    return {"type": kind, "value": value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))}


def _match(rule: Json) -> Iterator[Json]:
    """Yield the constraint that is equivalent to the type of a rule."""
    ends: list[tuple[str, str]] = []
    match rule["rule_type"]:
        case "user_id":
            yield {"contextName": "userId", "operator": "IN", "values": [rule["rule_value"]]}
        case "user_email":
            ends = [("STR_STARTS_WITH", rule["rule_value"]), ("STR_ENDS_WITH", rule["rule_value"])]
        case "email_domain":
            ends = [("STR_ENDS_WITH", f"@{rule['rule_value']}")]
    for operator, value in ends:
        yield {"contextName": "email", "operator": operator, "values": [value], "caseInsensitive": True}
