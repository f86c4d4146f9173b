"""Events: what applications report of users, as it is recorded and stored in batches."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from uuid import UUID

import msgspec

EVENT_AGE_MAX_SECONDS = 86_400
EVENT_AHEAD_MAX_SECONDS = 60
EVENTS_KEPT_DAYS = 90
IDS_KEPT_DAYS = 7
"""For how long a repetition of an event with an id is recognised."""
UNKNOWN_MAX = 100
"""The number of different unknown metrics that are counted for an environment."""
ID_MAX_LENGTH = 255
MARK = "\x1f"
"""Stands before the name of an attribute in a unit, and before its value."""


class EventRow(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """An event for one unit: see `unit_of`. `at` is in microseconds since 1970; `digest` is of the client's id, if any.

    Of tuples the garbage collector kept account: with 200,000 waiting, it held the event loop for 10 milliseconds.
    """

    metric: str
    unit: str
    at: int
    value: float | None
    digest: str | None


@dataclass(frozen=True, slots=True)
class EventGroup:
    """Events of one environment, in the order in which they arrived.

    `unknown` counts events by the metrics that do not exist.
    """

    environment_id: UUID
    rows: Sequence[EventRow]
    unknown: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class EventBatch:
    """The events written in one transaction. Its id, with the time `at`, recognises a batch that is sent twice.

    `at` is when the batch was collected, in microseconds since 1970.
    """

    id: int
    at: int
    groups: Sequence[EventGroup]

    @property
    def size(self) -> int:
        """The number of events."""
        return sum(len(group.rows) for group in self.groups)


def unit_of(identifier: str, attribute: str | None = None) -> str:
    """Return the text that identifies a user in events and exposures.

    It is the identifier itself, or for a flag whose stickiness is an attribute, the attribute's name and value.
    """
    return identifier if attribute is None else f"{MARK}{attribute}{MARK}{identifier}"


def digest_id(metric: str, given: str) -> str:
    """A digest of the id that a client gave an event of a metric, in hexadecimal."""
    return blake2b(f"{metric}\0{given}".encode(), digest_size=12).hexdigest()
