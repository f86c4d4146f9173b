"""The reasons of outcomes, as the specification words them."""

import pytest

from flagstaff.evaluation.outcomes import Outcome


@pytest.mark.parametrize(
    ("outcome", "enabled", "reason"),
    [
        (Outcome.OFF, False, "Flag is globally disabled"),
        (Outcome.USER_ID_RULE, True, "Matched user_id targeting rule"),
        (Outcome.USER_EMAIL_RULE, True, "Matched user_email targeting rule"),
        (Outcome.EMAIL_DOMAIN_RULE, True, "Matched email_domain targeting rule"),
        (Outcome.IN_ROLLOUT, True, "User in 25% rollout"),
        (Outcome.NOT_IN_ROLLOUT, False, "User not in 25% rollout"),
        (Outcome.ON, True, "Flag enabled globally"),
        (Outcome.NO_RULE, False, "No targeting rule matched"),
        (Outcome.ATTRIBUTES_RULE, True, "Matched attributes targeting rule"),
        (Outcome.SEGMENT_RULE, True, "Matched segment targeting rule"),
        (Outcome.PREREQUISITE, False, "Prerequisite other is not met"),
    ],
)
def test_each_outcome_has_its_reason(outcome: Outcome, enabled: bool, reason: str) -> None:
    assert outcome.enabled is enabled
    assert outcome.reason(25, "other") == reason


def test_the_stored_numbers_of_outcomes_never_change() -> None:
    assert [(outcome.name, outcome.value) for outcome in Outcome] == [
        ("OFF", 0),
        ("USER_ID_RULE", 1),
        ("USER_EMAIL_RULE", 2),
        ("EMAIL_DOMAIN_RULE", 3),
        ("IN_ROLLOUT", 4),
        ("NOT_IN_ROLLOUT", 5),
        ("ON", 6),
        ("NO_RULE", 7),
        ("ATTRIBUTES_RULE", 8),
        ("SEGMENT_RULE", 9),
        ("PREREQUISITE", 10),
    ]
