"""Flags and their targeting rules."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from flagstaff.conditions.conditions import ATTRIBUTE_MAX_LENGTH, Condition
from flagstaff.flags.prerequisites import Prerequisite
from flagstaff.flags.variants import Variant
from flagstaff.values.keys import check_flag_key
from flagstaff.values.text import NAME_MAX_LENGTH, check_length, check_text

RULE_VALUE_MAX_LENGTH = 1024
TAG_MAX_LENGTH, TAGS_MAX = 50, 20
DEFAULT_STICKINESS = "default"
PRIORITY_MIN, PRIORITY_MAX = -(2**31), 2**31 - 1


class RuleType(StrEnum):
    """The comparison of a targeting rule: a user attribute with its value, a segment's conditions, or its own."""

    USER_ID = "user_id"
    USER_EMAIL = "user_email"
    EMAIL_DOMAIN = "email_domain"
    ATTRIBUTES = "attributes"
    SEGMENT = "segment"


class Fallthrough(StrEnum):
    """The decision when no rule matches: by the rollout, or always off."""

    ROLLOUT = "rollout"
    OFF = "off"


DETAILS = ("name", "description", "tags", "owner", "keep")
"""The fields of a flag that are for people: they decide nothing."""


@dataclass(frozen=True, slots=True)
class Flag:
    """A flag of one environment. `rollout_percentage` is 0 to 100; 0 means that no rollout is set: it is for everyone.

    `bucketing_key` is hashed with the user instead of the flag's key, and `stickiness` is the attribute that identifies
    the user; `default` is the user id, or the lower-cased email if there is no user id. `tags` are for people. All
    `prerequisites` must hold for the flag to be on, and each user for whom it is on gets one of its `variants`.

    An archived flag is in no answer, and keeps everything, `enabled` included, until it is unarchived.

    `owner` is the person or the team to ask, as text. A flag with `keep` is meant to stay, however old it is.
    """

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
    fallthrough: Fallthrough = Fallthrough.ROLLOUT
    bucketing_key: str | None = None
    stickiness: str = DEFAULT_STICKINESS
    tags: tuple[str, ...] = ()
    variants: tuple[Variant, ...] = ()
    prerequisites: tuple[Prerequisite, ...] = ()
    archived_at: datetime | None = None
    owner: str | None = None
    keep: bool = False

    @property
    def hashed_key(self) -> str:
        """The key that is hashed with the user."""
        return self.bucketing_key or self.key


@dataclass(frozen=True, slots=True)
class Rule:
    """A targeting rule of a flag. Higher priorities go first, then older rules. `name` is for people.

    A rule of the type `attributes` has no value, and the value of one of the type `segment` is the segment's key. All
    conditions must be met as well, and `rollout_percentage`, 1 to 100, is the share of the users that match; the others
    go on to the next rule. Those that match get the `variant` with this key, if there is one.
    """

    id: UUID
    flag_id: UUID
    rule_type: RuleType
    rule_value: str | None
    priority: int
    enabled: bool
    created_at: datetime
    updated_at: datetime
    name: str | None = None
    conditions: tuple[Condition, ...] = ()
    rollout_percentage: int = 100
    variant: str | None = None


def check_rollout_percentage(value: int) -> int:
    """A rollout: a whole number from 0 to 100; 0 means everyone."""
    if not 0 <= value <= 100:
        raise ValueError("must be a whole number from 0 to 100, where 0 means everyone")
    return value


def check_priority(value: int) -> int:
    """A priority: a 32-bit integer."""
    if not PRIORITY_MIN <= value <= PRIORITY_MAX:
        raise ValueError(f"must be a whole number from {PRIORITY_MIN} to {PRIORITY_MAX}")
    return value


def check_bucketing_key(value: str) -> str:
    """A bucketing key: 1 to 255 characters, kept as given, because every character of it is hashed."""
    if not check_length(check_text(value), 1, NAME_MAX_LENGTH).strip():
        raise ValueError("must not be blank")
    return value


def check_attribute_name(value: str) -> str:
    """The name of an attribute of the context: trimmed, 1 to 128 characters."""
    return check_length(check_text(value).strip(), 1, ATTRIBUTE_MAX_LENGTH)


def check_stickiness(value: str) -> str:
    """A stickiness: `default`, or an attribute that identifies users; the time does not."""
    name = check_attribute_name(value)
    if name == "current_time":
        raise ValueError("must be an attribute that identifies users; current_time does not")
    return name


def check_tag(value: str) -> str:
    """A tag: trimmed, 1 to 50 characters."""
    return check_length(check_text(value).strip(), 1, TAG_MAX_LENGTH)


def check_tags(tags: Sequence[str]) -> tuple[str, ...]:
    """A flag's tags, which have been checked one by one: at most 20, each different."""
    if len(tags) > TAGS_MAX:
        raise ValueError(f"must have at most {TAGS_MAX} items")
    twice = next((tag for place, tag in enumerate(tags) if tag in tags[:place]), None)
    if twice is not None:
        raise ValueError(f"must have different items; {twice!r} occurs twice")
    return tuple(tags)


def check_rule_percentage(value: int) -> int:
    """The share of the users that match a rule: a whole number from 1 to 100."""
    if not 1 <= value <= 100:
        raise ValueError("must be a whole number from 1 to 100; to switch a rule off, set enabled to false")
    return value


def check_rule_value(rule_type: RuleType, value: str | None) -> str | None:
    """A rule's value, checked for its type and kept as given.

    Raises:
        ValueError: when no user could match it.
    """
    if rule_type is RuleType.ATTRIBUTES:
        if value is not None:
            raise ValueError("must be null: a rule of the type attributes has conditions instead")
        return None
    if value is None:
        raise ValueError("must be a string")
    check_length(check_text(value), 1, RULE_VALUE_MAX_LENGTH)
    if not value.strip():
        raise ValueError("must not be blank")
    match rule_type:
        case RuleType.USER_ID:
            return value
        case RuleType.SEGMENT:
            return check_flag_key(value)
        case RuleType.USER_EMAIL:
            return _check_address(value)
        case RuleType.EMAIL_DOMAIN:
            _check_domain(value.removeprefix("@"), "must be a domain such as example.com or @example.com")
            return value


def _check_address(value: str) -> str:
    advice = "must be an email address such as ada@example.com"
    local, _, domain = value.partition("@")
    if not local:
        raise ValueError(advice)
    _require_visible(local)
    if local == "*":
        raise ValueError(f"{advice}; for all users at a domain, create a rule of the type email_domain")
    _check_domain(domain, advice)
    return value


def _check_domain(domain: str, advice: str) -> None:
    """Refuse what cannot follow the @ of an email address. Non-ASCII names and literals like [192.0.2.1] can."""
    if not domain or "@" in domain:
        raise ValueError(advice)
    _require_visible(domain)
    if "*" in domain:
        raise ValueError("must not contain *: a domain matches exactly, and each subdomain needs its own rule")
    if domain.startswith("[") and domain.endswith("]"):
        return
    if any(character.isascii() and not (character.isalnum() or character in "-_.") for character in domain):
        raise ValueError(advice)
    if "" in domain.split("."):
        raise ValueError(f"{advice}, without a dot at either end or two consecutive dots")


def _require_visible(text: str) -> None:
    if any(character.isspace() or not character.isprintable() for character in text):
        raise ValueError("must not contain spaces or invisible characters")
