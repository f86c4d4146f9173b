"""Subscriptions of members to the changes of a flag, of flags with a tag, or of an environment."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple
from uuid import UUID

SUBSCRIPTIONS_MAX = 200
"""The number of subscriptions of an account in a project at most."""


class SubscriptionKind(StrEnum):
    """The kind of a subscription's target."""

    FLAG = "flag"
    TAG = "tag"
    ENVIRONMENT = "environment"


class Target(NamedTuple):
    """The target of a subscription: a flag in an environment, by its key; a tag in the project; or an environment.

    A change to a segment concerns the target without an environment, which stands for all of them.
    """

    kind: SubscriptionKind
    environment_id: UUID | None = None
    name: str | None = None


class Subscribed(NamedTuple):
    """An account that has subscribed to something."""

    target: Target
    account_id: UUID


@dataclass(frozen=True, slots=True)
class Subscription:
    """A subscription. `environment` is the key of its environment, and `flag_id` its flag's if that exists."""

    id: UUID
    project_id: UUID
    project: str
    kind: SubscriptionKind
    environment_id: UUID | None
    environment: str | None
    name: str | None
    flag_id: UUID | None
    created_at: datetime
