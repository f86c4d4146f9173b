"""The engine of Unleash's SDKs and ours give the same results, but for the differences that the translation names."""

import json
from collections.abc import Mapping
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from flagstaff.evaluation.assembly import compile_environment
from flagstaff.evaluation.compiler import TargetedFlag
from flagstaff.evaluation.evaluator import evaluate
from flagstaff.evaluation.targets import CURRENT_TIME
from flagstaff.evaluation.unleash.differences import EMAIL_CASE
from flagstaff.flags.flags import Flag, Rule
from flagstaff.flags.targeting.conditions import Condition
from tests.support.builders import AT, make_segment
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
