"""Parts that SDKs cannot decide are left out of a feature and reported; the flag is never on for more users."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from flagstaff.evaluation.bucketing import bucket, variant_position
from flagstaff.evaluation.compiler import TargetedFlag
from flagstaff.evaluation.conditions import compile_condition
from flagstaff.evaluation.unleash.constraints import identifies
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
from flagstaff.flags.targeting.conditions import Condition
from flagstaff.flags.targeting.operators import Operator
from flagstaff.flags.variants import Variant
from tests.support.builders import AT, make_flag, make_rule
from tests.support.local_sdk import Engine, context_of, translate

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


@pytest.mark.parametrize("value", ["ada?", "?", "a da", "a\\b"])
def test_other_values_are_sent_as_they_are(value: str) -> None:
    translation = translated(make_rule(rule_value=value))
    assert translation.differences == ()
    assert translation.feature["strategies"][0]["constraints"][0]["values"] == [value]


def test_the_opposite_of_a_list_has_an_operator_of_its_own() -> None:
    (strategy,) = translated(attributes_rule(Condition("plan", Operator.NOT_IN, ("free",)))).feature["strategies"]
    (constraint,) = strategy["constraints"]
    assert (constraint["operator"], constraint["values"], constraint["inverted"]) == ("NOT_IN", ["free"], False)


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


@pytest.mark.parametrize("bucketing_key", [None, "group"])
def test_a_share_by_the_environment_is_everyone_or_nobody(bucketing_key: str | None) -> None:
    own = bucket(bucketing_key or "asked", "production")
    values = {"stickiness": "environment", "bucketing_key": bucketing_key, "fallthrough": Fallthrough.ROLLOUT}
    outside, inside = (translated(rollout_percentage=each, **values).feature for each in (own, own + 1))
    assert (outside["enabled"], outside["strategies"]) == (False, [])
    assert inside["strategies"] == [{"name": "default", "parameters": {}, "constraints": []}]


@pytest.mark.parametrize("bucketing_key", [None, *"abcdef"])
def test_a_variant_by_the_environment_is_the_same_for_everyone(bucketing_key: str | None) -> None:
    values = {"stickiness": "environment", "bucketing_key": bucketing_key, "fallthrough": Fallthrough.ROLLOUT}
    variants = (Variant("none", 0, "0"), Variant("red", 1, "1"), Variant("blue", 1, "2"), Variant("green", 1, "3"))
    engine = Engine([translated(variants=variants, **values).feature])
    expected = ("red", "blue", "green")[variant_position(bucketing_key or "asked", "production", 3)]
    assert engine.ask("asked", {"userId": "ada"}).variant == engine.ask("asked", {}).variant == expected


@pytest.mark.parametrize(
    ("value", "payload"),
    [
        ('"blü\\""', {"type": "string", "value": 'blü"'}),
        ("7", {"type": "number", "value": "7"}),
        ("true", {"type": "string", "value": "true"}),
        ("false", {"type": "string", "value": "false"}),
        ('{"a":"b"}', {"type": "json", "value": '{"a":"b"}'}),
    ],
)
def test_a_variants_value_has_its_type(value: str, payload: dict[str, str]) -> None:
    feature = translated(variants=(Variant("a", 1, value),), fallthrough=Fallthrough.ROLLOUT).feature
    assert feature["strategies"][0]["variants"][0]["payload"] == payload


def test_variants_by_weight_name_what_identifies_users_in_both_places() -> None:
    strategies = translated(variants=VARIANTS, stickiness="company", fallthrough=Fallthrough.ROLLOUT).feature[
        "strategies"
    ]
    assert strategies[0]["parameters"] == {"groupId": "asked", "stickiness": "company"}
    assert [each["stickiness"] for each in strategies[0]["variants"]] == ["company", "company"]
    assert strategies[1]["parameters"] == {"groupId": "asked"}


def test_a_variant_for_everyone_divides_nobody() -> None:
    assert translated(variants=VARIANTS[:1], fallthrough=Fallthrough.ROLLOUT).differences == ()


@pytest.mark.parametrize("percentage", [50, 100])
def test_a_rule_for_a_variant_that_is_gone_gives_one_by_its_weight(percentage: int) -> None:
    rule = attributes_rule(variant="gone", rollout_percentage=percentage)
    engine = Engine([translated(rule, variants=VARIANTS).feature])
    answers = [engine.ask("asked", {"userId": f"user-{number}"}) for number in range(50)]
    assert {each.variant for each in answers if each.enabled} == {"red", "blue"}


@pytest.mark.parametrize("negate", [False, True])
@pytest.mark.parametrize(
    ("operator", "value"),
    [
        (Operator.BEFORE, (AT + timedelta(1)).isoformat()),
        (Operator.BEFORE, (AT - timedelta(1)).isoformat()),
        (Operator.AFTER, (AT + timedelta(1)).isoformat()),
        (Operator.AFTER, (AT - timedelta(1)).isoformat()),
        (Operator.AFTER, "2026-11-20t09:00:00z"),
        (Operator.AFTER, "2026-11-20T11:00:00.5+01:30"),
        (Operator.BEFORE, "2026-11-20T10:00:00.124Z"),
        (Operator.BEFORE, "2026-11-20T10:00:00.1229999Z"),
        (Operator.IN, "2026"),
        (Operator.NOT_IN, "2026"),
        (Operator.CONTAINS, "2026"),
        (Operator.GT, "2026"),
    ],
)
def test_the_time_meets_the_same_conditions(operator: Operator, value: str, negate: bool) -> None:
    condition = Condition("current_time", operator, (value,), negate=negate)
    translation = translated(attributes_rule(condition))
    assert translation.is_exact
    is_on = Engine([translation.feature]).ask("asked", context_of(None, None, {}, AT)).enabled
    assert is_on is compile_condition(condition)(AT)


def constraint(operator: str, *values: str, **more: Any) -> dict[str, Any]:
    """Return a constraint on the attribute x."""
    plain = {"contextName": "x", "inverted": False, "caseInsensitive": False}
    return {**plain, "operator": operator, "values": list(values), **more}


def test_a_number_is_compared_if_it_is_written_in_decimals() -> None:
    (strategy,) = translated(attributes_rule(Condition("x", Operator.GT, ("5.0",)))).feature["strategies"]
    assert strategy["constraints"] == [
        constraint("STR_STARTS_WITH", *"0123456789+-."),
        constraint("STR_ENDS_WITH", *"0123456789."),
        constraint("STR_CONTAINS", "x", "o", "b", inverted=True, caseInsensitive=True),
        constraint("NUM_GT", value="5"),
    ]


def test_a_version_is_compared_if_it_has_no_build_metadata() -> None:
    (strategy,) = translated(attributes_rule(Condition("x", Operator.SEMVER_GT, ("1.2.0+5",)))).feature["strategies"]
    assert strategy["constraints"] == [
        constraint("STR_CONTAINS", "+", inverted=True),
        constraint("SEMVER_GT", value="1.2.0"),
    ]


def alternatives(condition: Condition) -> list[list[dict[str, Any]]]:
    """Return the constraints of each strategy for a condition."""
    return [each["constraints"] for each in translated(attributes_rule(condition)).feature["strategies"]]


@pytest.mark.parametrize(
    ("values", "count"), [(tuple(f"a{n}@x.org" for n in range(16)), 16), (tuple(f"a{n}@x.org" for n in range(17)), 1)]
)
def test_each_of_some_addresses_has_a_strategy(values: tuple[str, ...], count: int) -> None:
    assert len(alternatives(Condition("user_email", Operator.IN, values))) == count


@pytest.mark.parametrize("attribute", ["user_id", "user_email"])
def test_who_is_not_in_a_list_needs_an_id_or_email_that_begins_with_a_character(attribute: str) -> None:
    (constraints,) = alternatives(Condition(attribute, Operator.IN, ("5",), negate=True))
    assert constraints[:2] == list(identifies({"user_id": "userId", "user_email": "email"}[attribute]))


def test_the_opposite_of_values_without_case_is_exact_although_case_is_ignored() -> None:
    for values, is_exact in ((("1", "2"), True), (("1", "a"), False)):
        translation = translated(attributes_rule(Condition("x", Operator.NOT_IN, values, case_insensitive=True)))
        assert translation.is_exact is is_exact
        engine = Engine([translation.feature])
        assert not engine.ask("asked", {"properties": {"x": "1"}}).enabled
        assert engine.ask("asked", {"properties": {"x": "3"}}).enabled


def test_short_values_have_all_their_spellings() -> None:
    ((spelled,),) = alternatives(Condition("x", Operator.IN, ("a1c",), case_insensitive=True))
    assert spelled == constraint("IN", "a1c", "a1C", "A1c", "A1C")
    for value, is_exact in (("a1b2c3d4e", True), ("abcdef", False)):
        translation = translated(attributes_rule(Condition("x", Operator.IN, (value,), case_insensitive=True)))
        assert translation.is_exact is is_exact


def test_the_reason_that_a_value_cannot_be_sent_is_named_first() -> None:
    (difference,) = translated(
        attributes_rule(Condition("x", Operator.IN, ("abcdefgh", "x\\"), case_insensitive=True))
    ).differences
    assert "backslash" in difference.message


@pytest.mark.parametrize(
    ("condition", "ending"),
    [
        (Condition("email_domain", Operator.IN, ("x.org",)), "@x.org"),
        (Condition("email_domain", Operator.ENDS_WITH, ("x.org",)), "x.org"),
    ],
)
def test_the_domain_is_what_follows_the_last_at(condition: Condition, ending: str) -> None:
    (constraints,) = alternatives(condition)
    assert constraints[-1]["values"] == [ending]
    engine = Engine([translated(attributes_rule(condition)).feature])
    answers = {
        email: engine.ask("asked", {"properties": {"email": email}}).enabled
        for email in ("a@x.org", "A@X.org", "a@b@x.org", "a@ax.org", "a@x.org@y.org", "x.org", "a@")
    }
    ends = condition.operator is Operator.ENDS_WITH
    assert answers == {
        "a@x.org": True,
        "A@X.org": True,
        "a@b@x.org": True,
        "a@ax.org": ends,
        "a@x.org@y.org": False,
        "x.org": False,
        "a@": False,
    }


@pytest.mark.parametrize(("operator", "is_on"), [(Operator.IN, False), (Operator.NOT_IN, True)])
def test_nobody_has_a_domain_with_an_at(operator: Operator, is_on: bool) -> None:
    (constraints,) = alternatives(Condition("email_domain", operator, ("b@x.org",)))
    assert constraints[-1]["operator"] == operator.upper()
    translation = translated(attributes_rule(Condition("email_domain", operator, ("b@x.org",))))
    assert Engine([translation.feature]).ask("asked", {"properties": {"email": "a@b@x.org"}}).enabled is is_on


def test_an_attribute_with_the_name_email_has_a_case() -> None:
    engine = Engine([translated(attributes_rule(Condition("email", Operator.IN, ("Ada",)))).feature])
    assert engine.ask("asked", {"properties": {"email": "Ada"}}).enabled
    assert not engine.ask("asked", {"properties": {"email": "ada"}}).enabled


def test_up_to_a_hundred_values_have_all_their_spellings() -> None:
    for count in (100, 101):
        values = tuple(f"a{number}b" for number in range(count))
        translation = translated(attributes_rule(Condition("x", Operator.IN, values, case_insensitive=True)))
        engine = Engine([translation.feature])
        assert engine.ask("asked", {"properties": {"x": "a7b"}}).enabled
        assert engine.ask("asked", {"properties": {"x": "A7B"}}).enabled is translation.is_exact is (count == 100)


def test_a_segment_that_does_not_exist_includes_nobody() -> None:
    translation = translated(make_rule(rule_type=RuleType.SEGMENT, rule_value="gone"))
    assert (translation.feature["enabled"], translation.feature["strategies"]) == (False, [])


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
