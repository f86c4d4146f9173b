"""Metrics: what applications report about users in events, such as errors, purchases and latencies."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from flagstaff.values.text import check_length, check_text

UNIT_MAX_LENGTH = 20


class Kind(StrEnum):
    """The meaning of a metric's events for a user."""

    BINARY = "binary"
    """The user had it, or not: an error, a purchase."""
    COUNT = "count"
    """It happened so many times."""
    VALUE = "value"
    """A number for each event: a latency, a revenue."""


class Better(StrEnum):
    """The direction that is wanted."""

    UP = "up"
    DOWN = "down"


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric of a project. Its `key` and its `kind` never change, because events refer to them.

    `unit` is for people, such as `ms`.
    """

    id: UUID
    project_id: UUID
    key: str
    name: str
    description: str | None
    kind: Kind
    better: Better
    unit: str | None
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class UnknownMetric:
    """A key that events of an environment named although the project has no such metric, on how many events."""

    environment_id: UUID
    key: str
    events: int
    last_at: datetime


def check_unit(value: str) -> str:
    """A unit: trimmed, 1 to 20 characters."""
    return check_length(check_text(value).strip(), 1, UNIT_MAX_LENGTH)
