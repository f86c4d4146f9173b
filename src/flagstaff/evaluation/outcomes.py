"""The possible outcomes of a flag for a user, and their reasons as the specification words them."""

from enum import IntEnum

from flagstaff.flags.flags import RuleType


class Outcome(IntEnum):
    """The way in which a flag's result was decided. The numbers are stored, so new outcomes are added at the end."""

    OFF = 0
    USER_ID_RULE = 1
    USER_EMAIL_RULE = 2
    EMAIL_DOMAIN_RULE = 3
    IN_ROLLOUT = 4
    NOT_IN_ROLLOUT = 5
    ON = 6
    NO_RULE = 7
    ATTRIBUTES_RULE = 8
    SEGMENT_RULE = 9
    PREREQUISITE = 10

    @property
    def enabled(self) -> bool:
        """True if the flag is on for the user."""
        return self not in _OFF

    @property
    def is_rollout(self) -> bool:
        """True if the rollout decided, so that its percentage belongs to the reason."""
        return self in (Outcome.IN_ROLLOUT, Outcome.NOT_IN_ROLLOUT)

    def reason(self, rollout_percentage: int, prerequisite: str = "") -> str:
        """The reason as the specification words it.

        Only the reasons of a rollout contain the percentage, and one contains the key of another flag.
        """
        return _REASONS[self].format(rollout_percentage, prerequisite)


RULE_OUTCOMES = {
    RuleType.USER_ID: Outcome.USER_ID_RULE,
    RuleType.USER_EMAIL: Outcome.USER_EMAIL_RULE,
    RuleType.EMAIL_DOMAIN: Outcome.EMAIL_DOMAIN_RULE,
    RuleType.ATTRIBUTES: Outcome.ATTRIBUTES_RULE,
    RuleType.SEGMENT: Outcome.SEGMENT_RULE,
}

_OFF = frozenset({Outcome.OFF, Outcome.NOT_IN_ROLLOUT, Outcome.NO_RULE, Outcome.PREREQUISITE})

_REASONS = {
    Outcome.OFF: "Flag is globally disabled",
    Outcome.USER_ID_RULE: "Matched user_id targeting rule",
    Outcome.USER_EMAIL_RULE: "Matched user_email targeting rule",
    Outcome.EMAIL_DOMAIN_RULE: "Matched email_domain targeting rule",
    Outcome.IN_ROLLOUT: "User in {0}% rollout",
    Outcome.NOT_IN_ROLLOUT: "User not in {0}% rollout",
    Outcome.ON: "Flag enabled globally",
    Outcome.NO_RULE: "No targeting rule matched",
    Outcome.ATTRIBUTES_RULE: "Matched attributes targeting rule",
    Outcome.SEGMENT_RULE: "Matched segment targeting rule",
    Outcome.PREREQUISITE: "Prerequisite {1} is not met",
}
