"""The engine of Unleash's SDKs and ours give the same results, except for the translation's listed differences."""

import json
from collections.abc import Mapping
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from flagstaff.conditions.conditions import Condition
from flagstaff.conditions.operators import Operator
from flagstaff.evaluation.compiler import TargetedFlag
from flagstaff.evaluation.evaluator import evaluate
from flagstaff.evaluation.snapshot_assembly import compile_environment
from flagstaff.evaluation.targets import CURRENT_TIME
from flagstaff.evaluation.unleash.differences import EMAIL_CASE
from flagstaff.flags.flags import Flag, Rule, RuleType
from flagstaff.flags.variants import Variant
from tests.support.builders import AT, make_flag, make_rule, make_segment
from tests.support.local_sdk import Engine, Result, context_of, is_unusual, translate, written
from tests.support.strategies import (
    ENVIRONMENT,
    addresses,
    anything,
    attribute_names,
    ids,
    plans,
    some_segments,
    targeted_flags,
    users,
)

# Applications pass text to SDKs.
texts = st.dictionaries(st.sampled_from(attribute_names), ids | plans | anything)


def answer(
    flags: list[TargetedFlag],
    segments: Mapping[str, tuple[Condition, ...]],
    user: tuple[str | None, str | None],
    attributes: Mapping[str, str],
) -> dict[str, Result]:
    snapshot = compile_environment(
        ENVIRONMENT, flags, [make_segment(key=key, conditions=conditions) for key, conditions in segments.items()]
    )
    body, _ = evaluate(snapshot, *user, {**attributes, CURRENT_TIME: AT})
    found: dict[str, Any] = json.loads(body)["flags"]
    return {
        key: Result(each["enabled"], each.get("variant"), written(each.get("value"))) for key, each in found.items()
    }


_AB = (Variant("a", 0, '"a"'), Variant("b", 1, '"b"'))


def test_users_of_a_rule_that_is_left_out_do_not_get_the_variant_of_a_later_step() -> None:
    flag = make_flag(ENVIRONMENT, enabled=True, rollout_percentage=0, variants=_AB)
    inexact = Condition("user_email", Operator.NOT_IN, ("production",))
    plan = [Condition("plan", Operator.IN, (name,)) for name in ("gold", "silver")]
    rules = [
        make_rule(flag, rule_type=RuleType.ATTRIBUTES, rule_value=None, conditions=(plan[0], inexact), priority=2),
        make_rule(flag, rule_type=RuleType.ATTRIBUTES, rule_value=None, conditions=(plan[1],), variant="a", priority=1),
    ]
    translated = translate([TargetedFlag(flag, rules)], {}, ENVIRONMENT.key)
    engine = Engine(each.feature for each in translated.values())
    assert not engine.ask(flag.key, context_of(None, None, {"plan": "silver"}, AT)).enabled


@given(targeted_flags(), some_segments, users, addresses, texts)
def test_an_sdk_gives_the_same_results_and_never_turns_on_more(
    pairs: list[tuple[Flag, list[Rule]]],
    segments: dict[str, tuple[Condition, ...]],
    user_id: str | None,
    email: str | None,
    attributes: dict[str, str],
) -> None:
    flags = [TargetedFlag(*pair) for pair in pairs]
    translated = translate(flags, segments, ENVIRONMENT.key)
    engine = Engine(each.feature for each in translated.values())
    ours = answer(flags, segments, (user_id, email), attributes)
    context = context_of(user_id, email, attributes, AT)
    for key, translation in translated.items():
        for strategy in translation.feature["strategies"]:
            assert "variants" not in strategy or strategy["parameters"]["groupId"], "off in the SDK for Go"
        theirs = engine.ask(key, context)
        if EMAIL_CASE in translation.differences and email != (email or "").lower():
            continue
        if is_unusual(translation.differences, attributes):
            continue
        if theirs.enabled or translation.is_exact:
            assert theirs == ours[key], (translation, context)
