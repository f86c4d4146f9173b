"""The differences from Unleash in the guide: the same features, decided by the engine of its SDKs and by ours.

Yggdrasil is the engine of Unleash's SDKs for Python, Java, .NET, Ruby and Rust.
"""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from yggdrasil_engine.engine import UnleashEngine

from flagstaff.evaluation.compiler import TargetedFlag
from flagstaff.flags.variants import Variant
from tests.support.builders import AT, make_flag
from tests.support.unleash import User, evaluate_all, flag_key, translate_state

Json = Mapping[str, Any]

TEXTS = ("IN", "STR_STARTS_WITH", "STR_ENDS_WITH", "STR_CONTAINS")
OTHERS = {
    **dict.fromkeys(("NUM_EQ", "NUM_GT", "NUM_GTE", "NUM_LT", "NUM_LTE"), "5"),
    **dict.fromkeys(("SEMVER_EQ", "SEMVER_GT", "SEMVER_GTE", "SEMVER_LT", "SEMVER_LTE"), "1.2.3"),
    **dict.fromkeys(("DATE_BEFORE", "DATE_AFTER"), "2026-11-20T10:00:00Z"),
    "IN_CIDR": "10.0.0.0/8",
}
REPEATS = 200  # a random answer is the same that often once in 10 to the power of 60


def feature(name: str = "asked", **values: Any) -> Json:
    return {"name": name, "type": "release", "enabled": True, "strategies": [{"name": "default"}], **values}


def with_constraint(operator: str, value: str, **values: Any) -> Json:
    """A feature that is on for users whose attribute meets a constraint."""
    constraint = {"contextName": "attribute", "operator": operator, "values": [value], "value": value, **values}
    return feature(strategies=[{"name": "default", "parameters": {}, "constraints": [constraint]}])


def with_rollout(percentage: int, stickiness: str) -> Json:
    parameters = {"rollout": str(percentage), "stickiness": stickiness, "groupId": "asked"}
    return feature(strategies=[{"name": "flexibleRollout", "parameters": parameters}])


def unleash(context: Json, *features: Json) -> bool:
    """Return whether the last feature is on for Unleash's engine."""
    engine = UnleashEngine()
    engine.take_state(json.dumps({"version": 2, "features": features}))
    return bool(engine.is_enabled(features[-1]["name"], context).is_enabled)


def flagstaff(properties: Json, *features: Json) -> bool:
    """Return whether the flag of the last feature is on for ours."""
    flags = [each for each in translate_state({"features": features}).values() if isinstance(each, TargetedFlag)]
    return is_on(flag_key(features[-1]["name"]), properties, *flags)


def is_on(key: str, properties: Json, *flags: TargetedFlag) -> bool:
    return bool(evaluate_all(flags, [], User(None, "production", properties, AT))[key]["enabled"])


@pytest.mark.parametrize("operator", [*TEXTS, *OTHERS])
def test_a_negated_condition_on_a_missing_attribute_is_met_only_in_unleash(operator: str) -> None:
    negated = with_constraint(operator, OTHERS.get(operator, "a"), inverted=True)
    assert unleash({"properties": {}}, negated) is True
    assert flagstaff({}, negated) is False


@pytest.mark.parametrize("operator", OTHERS)
def test_a_negated_condition_on_an_unreadable_attribute_is_met_only_in_unleash(operator: str) -> None:
    negated = with_constraint(operator, OTHERS[operator], inverted=True)
    assert unleash({"properties": {"attribute": "?"}}, negated) is True
    assert flagstaff({"attribute": "?"}, negated) is False


@pytest.mark.parametrize("inverted", [False, True])
def test_not_in_and_a_missing_attribute_agree(inverted: bool) -> None:
    constrained = with_constraint("NOT_IN", "a", inverted=inverted)
    assert unleash({"properties": {}}, constrained) is flagstaff({}, constrained) is not inverted


@pytest.mark.parametrize(("operator", "is_met"), [("IN", True), ("NOT_IN", False)])
def test_only_flagstaff_ignores_case_in_lists(operator: str, is_met: bool) -> None:
    constrained = with_constraint(operator, "PT", caseInsensitive=True)
    assert unleash({"properties": {"attribute": "pt"}}, constrained) is not is_met
    assert flagstaff({"attribute": "pt"}, constrained) is is_met


def test_only_flagstaff_compares_the_elements_of_an_attribute() -> None:
    constrained = with_constraint("IN", "a")
    assert unleash({"properties": {"attribute": ["a", "b"]}}, constrained) is False
    assert flagstaff({"attribute": ["a", "b"]}, constrained) is True


def test_a_prerequisite_with_prerequisites_holds_only_in_flagstaff() -> None:
    features = (
        feature("first"),
        feature("second", dependencies=[{"feature": "first"}]),
        feature("third", dependencies=[{"feature": "second"}]),
    )
    assert unleash({}, *features) is False
    assert flagstaff({}, *features) is True


def test_a_rollout_of_0_is_on_for_everyone_only_in_flagstaff() -> None:
    assert unleash({"userId": "ada"}, with_rollout(0, "default")) is False
    assert is_on("asked", {}, TargetedFlag(make_flag(key="asked", rollout_percentage=0))) is True


def test_a_rollout_of_100_by_an_attribute_includes_users_without_it_only_in_flagstaff() -> None:
    assert unleash({"properties": {}}, with_rollout(100, "company")) is False
    everyone = make_flag(key="asked", rollout_percentage=100, stickiness="company")
    assert is_on("asked", {}, TargetedFlag(everyone)) is True


def test_a_rollout_includes_users_without_an_identifier_at_random_only_in_unleash() -> None:
    half = with_rollout(50, "default")
    assert {unleash({}, half) for _ in range(REPEATS)} == {True, False}
    assert flagstaff({}, half) is False


def test_the_session_identifies_a_visitor_only_in_unleash() -> None:
    visitor = {"sessionId": "visitor-1"}
    half = with_rollout(50, "default")
    assert len({unleash(visitor, half) for _ in range(REPEATS)}) == 1
    assert unleash({"userId": "visitor-1"}, half) is unleash(visitor, half) is True
    assert flagstaff({"sessionId": "visitor-1"}, half) is False


def test_users_without_an_identifier_get_a_random_variant_only_in_unleash() -> None:
    payload = {"type": "string", "value": "x"}
    variants = [{"name": name, "weight": 500, "payload": payload} for name in ("red", "blue")]
    engine = UnleashEngine()
    engine.take_state(json.dumps({"version": 2, "features": [feature(variants=variants)]}))
    assert {engine.get_variant("asked", {}).variant.name for _ in range(REPEATS)} == {"red", "blue"}
    ours = make_flag(key="asked", variants=tuple(Variant(name, 500, '"x"') for name in ("red", "blue")))
    asked = evaluate_all([TargetedFlag(ours)], [], User(None, "production", {}, AT))
    assert asked["asked"]["variant"] == "red"
