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
    ],
)
def test_each_outcome_has_its_reason(outcome: Outcome, enabled: bool, reason: str) -> None:
    assert outcome.enabled is enabled
    assert outcome.reason(25) == reason
