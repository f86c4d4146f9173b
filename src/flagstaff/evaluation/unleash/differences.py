"""Differences of SDKs that evaluate in the application, and their reasons."""

from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID


class Effect(StrEnum):
    """The extent of a difference."""

    OFF = "off"
    """The flag is off in SDKs for some users for whom it is on here."""
    UNUSUAL = "unusual"
    """The results differ only for unusual values, such as an email with capital letters, in some SDKs."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference of a flag: a sentence for people, and the rule that causes it, if one does."""

    effect: Effect
    message: str
    rule_id: UUID | None = None


class InexpressibleError(Exception):
    """Something has no equivalent in Unleash's SDKs. The message is a clause that says why."""


EMAIL_CASE = Difference(
    Effect.UNUSUAL,
    "Users are divided by the email if they have no user id. SDKs do not convert it to lower case: pass it in lower "
    "case, or pass it as the user id.",
)
NON_ASCII = Difference(
    Effect.UNUSUAL,
    "Unleash's SDK for Node.js divides users differently if what identifies them is not ASCII.",
)
ADDRESS_TWICE = Difference(
    Effect.UNUSUAL,
    "A rule for an email also matches a text that begins and ends with it, such as a@x-a@x, which is no email.",
)
EMPTY_TEXT = Difference(
    Effect.UNUSUAL,
    "A condition with negate does not match an attribute that is an empty text: Unleash's SDK for Go cannot tell it "
    "from a missing one.",
)
BUILD_METADATA = Difference(
    Effect.UNUSUAL,
    "A condition on a version does not match one with build metadata, such as 1.2.0+5, which some SDKs compare.",
)
