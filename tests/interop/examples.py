"""Random flags in the form of Flagstaff's API, and random users, the same in each run."""

from collections.abc import Sequence
from random import Random
from typing import Any

from tests.support.api import Json

PLANS = ("gold", "Gold", "silver", "free-2024", "")
VERSIONS = ("1.2.3", "1.10.0", "2.0.0-rc.1", "2.0.0")
EMAILS = ("ada@example.com", "ADA@Example.com", "grace@sub.example.com", "eve@evil-example.com", "kim@example.org")
MOMENTS = ("2026-01-01T00:00:00Z", "2026-06-01T12:00:00Z", "2027-01-01T00:00:00Z")
IDS = ("ada", "Ada", "grace", "42", "ada@example.com")
SEGMENTS = ("beta", "staff", "paying")
_VALUES: Sequence[Sequence[Any]] = (
    ("red", "green", "blue"),
    (1, 2.5, 3),
    (True, False, True),
    ({"a": 1}, {}, {"a": 2}),
)


def make_condition(random: Random) -> Json:
    """Return a condition that Unleash's server can express, or one with a regular expression."""
    match random.randrange(9):
        case 0:
            return _condition("plan", random.choice(("in", "not_in")), random.sample(PLANS[:4], 2))
        case 1:
            ignores_case = random.random() < 0.5
            operator = random.choice(("starts_with", "ends_with", "contains"))
            return _condition("plan", operator, ["go", "LD"], case_insensitive=ignores_case)
        case 2:  # every user has a plan: Unleash's server decides differently for users without the attribute
            return _condition("plan", "contains", ["ol", "-"], negate=True)
        case 3:
            operator = random.choice(("eq", "gt", "gte", "lt", "lte"))
            return _condition("level", operator, [random.choice(("1", "2.5", "-3", "10"))])
        case 4:
            operator = random.choice(("semver_eq", "semver_gt", "semver_lt", "semver_gte", "semver_lte"))
            return _condition("version", operator, [random.choice(VERSIONS)])
        case 5:
            return _condition("current_time", random.choice(("before", "after")), [random.choice(MOMENTS)])
        case 6:
            return _condition("user_id", random.choice(("in", "not_in")), random.sample(IDS, 2))
        case 7:
            return _condition("company", "in", ["acme", "Umbrella, Inc."])
        case _:
            return _condition("company", "matches", ["^a.*e$"])


def make_flag(random: Random, key: str, parents: Sequence[Json]) -> Json:
    """Return a flag whose rules, which cannot be created with it, are under `rules`, first rule first."""
    values = random.choice(_VALUES)
    weights = random.choice(((1000, 0, 0), (500, 250, 250), (333, 333, 334), (1, 0, 999)))
    has_variants = random.random() < 0.5
    keys = ("a", "b", "c")
    rules = [_rule(random, keys if has_variants else ()) for _ in range(random.randrange(4))]
    return {
        "key": key,
        "name": key,
        "enabled": random.random() < 0.9,
        "rollout_percentage": random.choice((0, 100, 1, 30, 50, 99)),
        "fallthrough": random.choice(("rollout", "off")) if any(rule["enabled"] for rule in rules) else "rollout",
        "bucketing_key": random.choice((None, None, "Group one")),
        "stickiness": random.choice(("default", "default", "user_id", "company")),
        "variants": [
            {"key": name, "weight": weight, "value": value}
            for name, weight, value in zip(keys, weights, values, strict=True)
        ]
        if has_variants
        else [],
        "prerequisites": [_prerequisite(random, random.choice(parents))] if parents and random.random() < 0.4 else [],
        "rules": rules,
    }


def make_context(random: Random) -> Json:
    """Return a user as an application passes it to Unleash's SDKs."""
    user_id = random.choice((*IDS, "zoë", *(str(random.randrange(10_000)) for _ in range(14))))
    properties = {
        "plan": random.choice(PLANS),
        "company": random.choice(("acme", "Umbrella, Inc.", "a", None, str(random.randrange(100)))),
        "level": random.choice(("1", "2.5", "-3", "007", "many", None, str(random.randrange(20)))),
        "version": random.choice((*VERSIONS, "1.2", "many", None)),
        "email": random.choice((*EMAILS, None)),
    }
    context: Json = {
        "properties": {name: value for name, value in properties.items() if value is not None},
        "currentTime": random.choice(("2025-12-31T23:59:59Z", "2026-06-01T12:00:00Z", "2026-09-01T00:00:00+02:00")),
    }
    return context if random.random() < 0.05 else {**context, "userId": user_id}


def hashes(flag: Json) -> bool:
    """Return whether a flag divides its users."""
    shares = [flag["rollout_percentage"], *(rule["rollout_percentage"] for rule in flag["rules"])]
    return bool(flag["variants"]) or any(share not in (0, 100) for share in shares)


def _rule(random: Random, variants: Sequence[str]) -> Json:
    kinds = {
        "user_id": random.choice(IDS),
        "user_email": random.choice(EMAILS).lower(),
        "email_domain": random.choice(("example.com", "sub.example.com", "org")),
        "segment": random.choice(SEGMENTS),
        "attributes": None,
    }
    kind = random.choice(tuple(kinds))
    return {
        "rule_type": kind,
        "rule_value": kinds[kind],
        "enabled": random.random() < 0.9,
        "conditions": [make_condition(random) for _ in range(random.choice((0, 0, 1, 2)))],
        "rollout_percentage": random.choice((100, 100, 100, 50, 10)),
        "variant": random.choice((None, *variants)),
    }


def _prerequisite(random: Random, parent: Json) -> Json:
    names = [each["key"] for each in parent["variants"]]
    wanted = random.choice(((True, []), (False, []), (True, random.sample(names, 2) if names else [])))
    return {"flag_key": parent["key"], "enabled": wanted[0], "variants": wanted[1]}


def _condition(attribute: str, operator: str, values: list[str], **more: bool) -> Json:
    return {"attribute": attribute, "operator": operator, "values": values, **more}
