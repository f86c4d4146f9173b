"""The cases of spec/evaluation, decided by the engine of Unleash's SDKs from the features that we send.

A case that an SDK cannot decide is off there, and its flag reports it.
"""

import json
from typing import Any

import pytest

from flagstaff.conditions.compiled_conditions import check_conditions
from flagstaff.evaluation.unleash.differences import EMAIL_CASE
from flagstaff.evaluation.unleash.features import Translation
from tests.spec.test_evaluation_cases import CASES, ENVIRONMENT, FILES, NAMED_CASES, read_condition, targeted
from tests.support.builders import AT
from tests.support.local_sdk import Engine, Result, as_texts, can_be_passed, context_of, is_unusual, translate, written


def translated(document: dict[str, Any]) -> dict[str, Translation]:
    segments = {
        key: check_conditions(list(map(read_condition, conditions)))
        for key, conditions in document.get("segments", {}).items()
    }
    return translate(list(map(targeted, document["flags"])), segments, ENVIRONMENT.key)


def asked(case: dict[str, Any]) -> dict[str, Any] | None:
    """Return the case's user as an application passes it to an SDK, or None if it cannot be passed."""
    user = case["context"] or {}
    attributes = user.get("custom_attributes", {})
    if not can_be_passed(attributes):
        return None
    return context_of(user.get("user_id"), user.get("user_email"), as_texts(attributes), AT)


@pytest.mark.parametrize(("document", "case"), CASES)
def test_the_engine_of_the_sdks_answers_as_the_case_says(document: dict[str, Any], case: dict[str, Any]) -> None:
    context = asked(case)
    if context is None:
        return
    features = translated(document)
    engine = Engine(each.feature for each in features.values())
    email = context["properties"].get("email", "")
    for key, expected in case["expected"].items():
        theirs, differences = engine.ask(key, context), features[key].differences
        if EMAIL_CASE in differences and email != email.lower() and "userId" not in context:
            continue
        if is_unusual(differences, context["properties"]):
            assert not theirs.enabled
            continue
        ours = Result(expected["enabled"], expected.get("variant"), written(expected.get("value")))
        if theirs.enabled or features[key].is_exact:
            assert theirs == ours, (features[key], context)


def test_most_cases_can_be_asked() -> None:
    possible = [asked(case) is not None for _, _, case in NAMED_CASES]
    assert sum(possible) > 0.8 * len(possible)


INEXACT = {
    "attributes-awkward": {"inherited"},
    "built-in-attributes": {"email-in-negated", "email-not-in"},
    "combined": {"receipts", "legacy-payments"},
    "operators-ignoring-case": {"in", "not-in", "matches", "sharp-s"},
    "operators-moment": {"before", "after", "not-before"},
    "operators-negated": {"not-matches", "not-before", "not-after", "not-in-network"},
    "operators-network": {"private", "not-private"},
    "operators-text": {"in-lower", "matches", "matches-lower"},
    "prerequisites": {"needs-two", "needs-three"},
    "stickiness": {"by-domain"},
}
"""The flags of each file that SDKs do not decide for all users."""


def test_all_other_flags_are_exact() -> None:
    found = {}
    for file in FILES:
        features = translated(json.loads(file.read_text()))
        if inexact := {key for key, each in features.items() if not each.is_exact}:
            found[file.stem] = inexact
    assert found == INEXACT
