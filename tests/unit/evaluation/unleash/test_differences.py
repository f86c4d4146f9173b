"""Parts that SDKs cannot decide are left out of a feature and reported; the flag is never on for more users."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from flagstaff.conditions.conditions import Condition
from flagstaff.conditions.operators import Operator
from flagstaff.evaluation.compiler import TargetedFlag
from flagstaff.evaluation.unleash.differences import (
    ADDRESS_TWICE,
    BUILD_METADATA,
    EMAIL_CASE,
    EMPTY_TEXT,
    NON_ASCII,
    Difference,
    Effect,
)
from flagstaff.evaluation.unleash.features import Translation
from flagstaff.flags.flags import Fallthrough, Rule, RuleType
from flagstaff.flags.prerequisites import Prerequisite
from flagstaff.flags.variants import Variant
from tests.support.builders import AT, make_flag, make_rule
from tests.support.conditions import TYPICAL
from tests.support.local_sdk import Engine, translate

VARIANTS = (Variant("red", 1, '"r"'), Variant("blue", 1, '"b"'))
UNDECIDABLE = Condition("plan", Operator.MATCHES, ("^g",))


def attributes_rule(*conditions: Condition, **values: Any) -> Rule:
    return make_rule(rule_type=RuleType.ATTRIBUTES, rule_value=None, conditions=conditions, **values)


def translated(*rules: Rule, **values: Any) -> Translation:
    """Translate a flag with these rules, in this order."""
    ordered = [replace(rule, created_at=AT + timedelta(place)) for place, rule in enumerate(rules)]
    flag = make_flag(key="asked", **{"fallthrough": Fallthrough.OFF, **values})
    return translate([TargetedFlag(flag, ordered)], {}, "production")["asked"]


def is_left_out(translation: Translation, reason: str) -> bool:
    """Return whether the only rule is left out for this reason, and the feature is off and reports why."""
    (difference,) = translation.differences
    assert difference.effect is Effect.OFF
    assert difference.rule_id is not None
    assert difference.message in translation.feature["description"]
    assert translation.feature["enabled"] is False
    assert translation.feature["strategies"] == []
    return reason in difference.message


@pytest.mark.parametrize(
    ("condition", "reason"),
    [
        (UNDECIDABLE, "regular expressions"),
        (Condition("born", Operator.BEFORE, ("2026-11-20T10:00:00Z",)), "the current time instead"),
        (Condition("address", Operator.IN_NETWORK, ("10.0.0.0/8",)), "not all SDKs know networks"),
        (Condition('a"b', Operator.IN, ("x",)), "cannot read an attribute"),
        (Condition("a\\", Operator.IN, ("x",)), "cannot read an attribute"),
        (Condition("currentTime", Operator.IN, ("x",)), "cannot read an attribute"),
        (Condition("toString", Operator.NOT_IN, ("x",)), "cannot read an attribute"),
        (Condition("plan", Operator.NOT_IN, ("x", "y\\")), "backslash"),
        (Condition("email_domain", Operator.CONTAINS, ("x",)), "no attribute for the domain"),
        (Condition("user_email", Operator.EQ, ("1",)), "cannot read an email"),
        (Condition("email_domain", Operator.EQ, ("1",)), "cannot read an email"),
    ],
)
def test_a_rule_with_a_condition_that_sdks_cannot_decide_is_left_out(condition: Condition, reason: str) -> None:
    assert is_left_out(translated(attributes_rule(condition)), reason)


@pytest.mark.parametrize(
    ("rule_type", "value", "reason"),
    [
        (RuleType.USER_ID, " ada", "space"),
        (RuleType.USER_ID, "ada\ufeff", "space"),
        (RuleType.USER_ID, "ada\\", "backslash"),
        (RuleType.USER_EMAIL, "ada@example\\", "backslash"),
    ],
)
def test_a_rule_with_a_value_that_an_engine_would_change_is_left_out(
    rule_type: RuleType, value: str, reason: str
) -> None:
    assert is_left_out(translated(make_rule(rule_type=rule_type, rule_value=value)), reason)


@pytest.mark.parametrize("attribute", ["plan", "user_id", "user_email", "email_domain"])
@pytest.mark.parametrize("operator", Operator)
def test_a_condition_with_any_operator_is_sent_or_left_out_with_a_reason(operator: Operator, attribute: str) -> None:
    translation = translated(attributes_rule(Condition(attribute, operator, TYPICAL[operator])))
    assert translation.feature["strategies"] or translation.differences


def test_a_rule_that_takes_too_many_strategies_is_left_out() -> None:
    unequal = [Condition(name, Operator.EQ, ("1",), negate=True) for name in "abcdef"]  # 2 to the power of 6
    assert is_left_out(translated(attributes_rule(*unequal)), "more than 32")
    assert len(translated(attributes_rule(*unequal[:5])).feature["strategies"]) == 32


@pytest.mark.parametrize(
    ("stickiness", "reason"), [("email_domain", "domain"), ("random", "at random"), ('x"', "cannot read an attribute")]
)
def test_a_share_of_users_that_sdks_cannot_identify_is_left_out(stickiness: str, reason: str) -> None:
    assert is_left_out(translated(attributes_rule(rollout_percentage=50), stickiness=stickiness), reason)


@pytest.mark.parametrize("bucketing_key", ['a"b', "a\\"])
def test_a_share_by_a_bucketing_key_that_breaks_an_engine_is_left_out(bucketing_key: str) -> None:
    assert is_left_out(translated(attributes_rule(rollout_percentage=50), bucketing_key=bucketing_key), "bucketing key")


@pytest.mark.parametrize(
    ("condition", "reason"),
    [
        (
            Condition("plan", Operator.IN, ("professional",), case_insensitive=True),
            "some upper- and lower-case spellings",
        ),
        (Condition("plan", Operator.NOT_IN, ("gold",), case_insensitive=True), "begin with one of the values"),
        (Condition("plan", Operator.IN, ("gold", "x\\")), "backslash"),
    ],
)
def test_a_rule_that_includes_fewer_users_is_sent_and_named(condition: Condition, reason: str) -> None:
    translation = translated(attributes_rule(condition))
    (difference,) = translation.differences
    assert difference.effect is Effect.OFF
    assert reason in difference.message
    assert translation.feature["enabled"] is True


def test_the_rollout_and_other_rules_stay_when_a_rule_is_left_out() -> None:
    translation = translated(
        attributes_rule(UNDECIDABLE, name="Gold"), make_rule(), rollout_percentage=50, fallthrough=Fallthrough.ROLLOUT
    )
    assert [each.effect for each in translation.differences] == [Effect.OFF, Effect.UNUSUAL, Effect.UNUSUAL]
    assert translation.differences[0].message.startswith("The rule Gold is left out: ")
    assert [each["name"] for each in translation.feature["strategies"]] == ["default", *["flexibleRollout"] * 3]


def test_nobody_gets_another_variant_because_a_rule_is_left_out() -> None:
    translation = translated(
        attributes_rule(UNDECIDABLE, variant="red"),
        make_rule(rule_value="ada", variant="red"),
        make_rule(rule_value="bob", variant="blue"),
        variants=VARIANTS,
        fallthrough=Fallthrough.ROLLOUT,
    )
    engine = Engine([translation.feature])
    assert engine.ask("asked", {"userId": "ada"}).variant == "red"
    assert not engine.ask("asked", {"userId": "bob"}).enabled
    assert not engine.ask("asked", {"userId": "eve"}).enabled
    assert len([each for each in translation.differences if each.effect is Effect.OFF]) == 3


def test_a_prerequisite_with_prerequisites_turns_a_flag_off() -> None:
    flags = [
        make_flag(key="first"),
        make_flag(key="second", prerequisites=(Prerequisite("first"),)),
        make_flag(key="third", prerequisites=(Prerequisite("second", enabled=False),)),
    ]
    features = translate(map(TargetedFlag, flags), {}, "production")
    assert features["second"].is_exact
    assert features["third"].feature["enabled"] is False
    assert "has prerequisites itself" in features["third"].differences[0].message


@pytest.mark.parametrize(("enabled", "is_sent"), [(True, True), (False, False)])
def test_a_flag_that_needs_an_inexact_one_to_be_off_is_off(enabled: bool, is_sent: bool) -> None:
    inexact = TargetedFlag(make_flag(key="inexact", fallthrough=Fallthrough.OFF), [attributes_rule(UNDECIDABLE)])
    needing = TargetedFlag(make_flag(key="needing", prerequisites=(Prerequisite("inexact", enabled=enabled),)))
    translation = translate([needing, inexact], {}, "production")["needing"]
    assert translation.feature["enabled"] is is_sent
    assert not translation.is_exact
    assert translation.feature["dependencies"] == [{"feature": "inexact", "enabled": enabled}]


def test_a_feature_has_the_fields_that_sdks_read() -> None:
    flag = make_flag(key="asked")
    feature = translate([TargetedFlag(flag)], {}, "production")["asked"].feature
    assert feature == {
        "name": "asked",
        "type": "release",
        "project": flag.project_id.hex,
        "enabled": True,
        "stale": False,
        "impressionData": False,
        "strategies": [{"name": "default", "parameters": {}, "constraints": []}],
        "variants": [],
    }


@pytest.mark.parametrize("first", [Prerequisite("other"), Prerequisite("other", variants=("red",))])
def test_a_flag_that_needs_a_variant_that_another_does_not_have_is_off(first: Prerequisite) -> None:
    other = TargetedFlag(make_flag(key="other", variants=VARIANTS))
    another = TargetedFlag(make_flag(key="another", variants=VARIANTS))
    needs = (first, Prerequisite("another", variants=("gone",)))
    needing = TargetedFlag(make_flag(key="needing", prerequisites=needs))
    translation = translate([needing, other, another], {}, "production")["needing"]
    assert (translation.feature["enabled"], translation.feature["strategies"]) == (False, [])
    assert translation.is_exact


def test_a_flag_has_the_unusual_differences_of_those_that_it_needs() -> None:
    other = TargetedFlag(make_flag(key="other", rollout_percentage=50, stickiness="company"))
    needing = TargetedFlag(make_flag(key="needing", prerequisites=(Prerequisite("other"), Prerequisite("gone"))))
    translated_flags = translate([needing, other], {}, "production")
    assert translated_flags["needing"].differences == translated_flags["other"].differences == (NON_ASCII,)


def test_a_flag_that_is_off_is_sent_without_its_prerequisites() -> None:
    flags = [
        make_flag(key="first"),
        make_flag(key="off", enabled=False, prerequisites=(Prerequisite("first"),)),
        make_flag(key="third", prerequisites=(Prerequisite("off", enabled=False),)),
    ]
    features = translate(map(TargetedFlag, flags), {}, "production")
    assert "dependencies" not in features["first"].feature
    assert "dependencies" not in features["off"].feature
    assert features["third"].is_exact
    assert Engine(each.feature for each in features.values()).ask("third", {}).enabled


def test_the_variant_of_a_rule_means_nothing_to_a_flag_without_variants() -> None:
    translation = translated(attributes_rule(UNDECIDABLE), make_rule(rule_value="ada", variant="gone"))
    assert len(translation.differences) == 1
    assert Engine([translation.feature]).ask("asked", {"userId": "ada"}).enabled
    everyone = translated(make_rule(variant="gone"), fallthrough=Fallthrough.ROLLOUT)
    assert everyone.feature["strategies"] == [{"name": "default", "parameters": {}, "constraints": []}]


def test_a_flag_for_everyone_with_variants_is_sent_without_rules_that_give_none() -> None:
    plain, ruled, giving = (
        translated(*rules, variants=VARIANTS, fallthrough=Fallthrough.ROLLOUT).feature["strategies"]
        for rules in ((), (make_rule(),), (make_rule(variant="red"),))
    )
    assert ruled == plain
    assert giving[1:] == plain


@pytest.mark.parametrize("percentage", [0, 100])
def test_a_flag_for_everyone_is_sent_without_its_rules(percentage: int) -> None:
    translation = translated(make_rule(), rollout_percentage=percentage, fallthrough=Fallthrough.ROLLOUT)
    assert translation.feature["strategies"] == [{"name": "default", "parameters": {}, "constraints": []}]
    assert translation.differences == ()
    assert "description" not in translation.feature


def test_a_flag_that_is_off_is_sent_without_strategies() -> None:
    translation = translated(make_rule(), enabled=False, rollout_percentage=50, fallthrough=Fallthrough.ROLLOUT)
    assert (translation.feature["enabled"], translation.feature["strategies"]) == (False, [])


def test_a_condition_on_the_environment_is_decided_beforehand() -> None:
    here = attributes_rule(Condition("environment", Operator.IN, ("production",)))
    there = attributes_rule(Condition("environment", Operator.IN, ("staging",)))
    assert translated(here).feature["strategies"] == [{"name": "default", "parameters": {}, "constraints": []}]
    assert translated(there).feature["enabled"] is False
    assert translated(there).is_exact


def test_neighbouring_lists_become_one() -> None:
    translation = translated(make_rule(rule_value="ada"), make_rule(rule_value="bob"))
    (strategy,) = translation.feature["strategies"]
    assert strategy["constraints"][0]["values"] == ["ada", "bob"]


def test_a_long_list_that_ignores_case_has_at_most_two_spellings_of_each_value() -> None:
    values = tuple(f"Plan-{number}" for number in range(1000))
    translation = translated(attributes_rule(Condition("plan", Operator.IN, values, case_insensitive=True)))
    (strategy,) = translation.feature["strategies"]
    assert set(strategy["constraints"][0]["values"]) == {*values, *(each.lower() for each in values)}
    assert not translation.is_exact


def test_unusual_differences_are_named_too() -> None:
    rule = make_rule(rule_type=RuleType.USER_EMAIL, rule_value="ada@example.com")
    translation = translated(rule, rollout_percentage=50, fallthrough=Fallthrough.ROLLOUT)
    assert set(translation.differences) == {EMAIL_CASE, NON_ASCII, ADDRESS_TWICE}
    assert translation.is_exact


@pytest.mark.parametrize(("stickiness", "is_by_email"), [("user_email", True), ("user_id", False), ("email", False)])
def test_a_share_by_the_email_depends_on_its_case(stickiness: str, is_by_email: bool) -> None:
    translation = translated(rollout_percentage=50, stickiness=stickiness, fallthrough=Fallthrough.ROLLOUT)
    assert translation.differences == ((NON_ASCII, EMAIL_CASE) if is_by_email else (NON_ASCII,))


@pytest.mark.parametrize(
    ("condition", "matching", "unusual", "difference"),
    [
        (Condition("x", Operator.CONTAINS, ("b",), negate=True), "a", "", EMPTY_TEXT),
        (Condition("x", Operator.IN, ("b",), negate=True), "a", "", EMPTY_TEXT),
        (Condition("x", Operator.SEMVER_GTE, ("1.2.0",)), "1.2.0", "1.2.0+5", BUILD_METADATA),
        (Condition("x", Operator.SEMVER_LT, ("1.2.0",), negate=True), "1.2.0", "1.2.0+5", BUILD_METADATA),
    ],
)
def test_a_value_that_engines_disagree_on_meets_no_condition(
    condition: Condition, matching: str, unusual: str, difference: Difference
) -> None:
    translation = translated(attributes_rule(condition))
    engine = Engine([translation.feature])
    assert engine.ask("asked", {"properties": {"x": matching}}).enabled
    assert not engine.ask("asked", {"properties": {"x": unusual}}).enabled
    assert not engine.ask("asked", {"properties": {}}).enabled
    assert translation.differences == (difference,)
    assert translation.is_exact
