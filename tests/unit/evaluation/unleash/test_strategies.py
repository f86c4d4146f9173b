"""The activation strategies that express shares of users and variants."""

import pytest

from flagstaff.evaluation.bucketing import bucket, variant_position
from flagstaff.flags.flags import Fallthrough, RuleType
from flagstaff.flags.variants import Variant
from tests.support.builders import make_rule
from tests.support.local_sdk import Engine
from tests.unit.evaluation.unleash.test_differences import VARIANTS, attributes_rule, translated


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


def test_a_segment_that_does_not_exist_includes_nobody() -> None:
    translation = translated(make_rule(rule_type=RuleType.SEGMENT, rule_value="gone"))
    assert (translation.feature["enabled"], translation.feature["strategies"]) == (False, [])
