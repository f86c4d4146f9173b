"""Flags and their targeting rules."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from flagstaff.domain.text import check_length, check_text

RULE_VALUE_MAX_LENGTH = 1024
PRIORITY_MIN, PRIORITY_MAX = -(2**31), 2**31 - 1


class RuleType(StrEnum):
    """What a targeting rule looks at."""

    USER_ID = "user_id"
    USER_EMAIL = "user_email"
    EMAIL_DOMAIN = "email_domain"


@dataclass(frozen=True, slots=True)
class Flag:
    """A flag of one environment. `rollout_percentage` is 0 to 100; 0 means that no rollout is set."""

    id: UUID
    project_id: UUID
    environment_id: UUID
    name: str
    key: str
    description: str | None
    enabled: bool
    rollout_percentage: int
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class Rule:
    """A targeting rule of a flag. Higher priorities go first, then older rules."""

    id: UUID
    flag_id: UUID
    rule_type: RuleType
    rule_value: str
    priority: int
    enabled: bool
    created_at: datetime
    updated_at: datetime


def check_rollout_percentage(value: int) -> int:
    """A rollout: a whole number from 0 to 100."""
    if not 0 <= value <= 100:
        raise ValueError("must be a whole number from 0 to 100")
    return value


def check_priority(value: int) -> int:
    """A priority: a 32-bit integer."""
    if not PRIORITY_MIN <= value <= PRIORITY_MAX:
        raise ValueError(f"must be a whole number from {PRIORITY_MIN} to {PRIORITY_MAX}")
    return value


def check_rule_value(rule_type: RuleType, value: str) -> str:
    """A rule's value, which depends on its type; kept as given.

    Raises:
        ValueError: when no user could ever match it.
    """
    check_length(check_text(value), 1, RULE_VALUE_MAX_LENGTH)
    match rule_type:
        case RuleType.USER_ID:
            return value
        case RuleType.USER_EMAIL:
            local, at, domain = value.partition("@")
            if not (local and at and domain) or "@" in domain:
                raise ValueError("must be an email address such as ada@example.com")
        case RuleType.EMAIL_DOMAIN:
            domain = value.removeprefix("@")
            if not domain or "@" in domain:
                raise ValueError("must be a domain such as example.com or @example.com")
    if any(character.isspace() for character in value):
        raise ValueError("must not contain spaces")
    return value
