"""Events: what applications report of users, as it is recorded and stored in batches."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from uuid import UUID

import msgspec

from flagstaff.projects.record_origins import Origin, Origins
from flagstaff.projects.sdk_keys import KeyKind

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

    `unknown` counts events by the metrics that do not exist. `kind` is the kind of the keys with which they were sent;
    None in groups of older releases, as are the origins of the events.
    """

    environment_id: UUID
    rows: Sequence[EventRow]
    unknown: Mapping[str, int]
    kind: KeyKind | None = None
    origins: Origins | None = None

    def __post_init__(self) -> None:
        """Raises ValueError when the origins are of other events, as may happen in a damaged file."""
        if self.origins is not None:
            self.origins.check(len(self.rows))


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


EventPlace = tuple[int, int]
"""The segment of an event, and its offset there."""


@dataclass(frozen=True, slots=True)
class RecordedEvent:
    """An event as it was stored, for one unit. `key_kind` is the SDK key's kind.

    This and the origin are None if an older release has recorded it.
    """

    id: UUID
    place: EventPlace
    metric: str
    unit: str
    occurred_at: datetime
    value: float | None
    key_kind: KeyKind | None = None
    origin: Origin | None = None

    @property
    def identifier(self) -> str:
        """The user's id, or else the email in lower case; with an attribute, its value."""
        return self.unit.rpartition(MARK)[2] if self.unit.startswith(MARK) else self.unit

    @property
    def attribute(self) -> str | None:
        """The attribute by which a flag was sticky, if the unit is one of its values."""
        return self.unit.split(MARK)[1] if self.unit.startswith(MARK) else None


@dataclass(frozen=True, slots=True)
class EventFilter:
    """Events of a user, of a metric, and from a time up to another.

    With a user's id and email, the events of either.
    """

    user_id: str | None = None
    user_email: str | None = None
    metric: str | None = None
    since: datetime | None = None
    until: datetime | None = None

    @property
    def units(self) -> frozenset[str] | None:
        """The units of the user; None for all."""
        given = (self.user_id, self.user_email and self.user_email.lower())
        return frozenset(each for each in given if each is not None) or None


def unit_of(identifier: str, attribute: str | None = None) -> str:
    """Return the text that identifies a user in events and exposures.

    It is the identifier itself, or for a flag whose stickiness is an attribute, the attribute's name and value.
    """
    return identifier if attribute is None else f"{MARK}{attribute}{MARK}{identifier}"


def digest_id(metric: str, given: str, kind: KeyKind) -> str:
    """A digest of the id that a client gave an event of a metric, in hexadecimal.

    Ids of pages are told apart from ids of servers: anybody can send them, and must not make a server's event a
    repetition.
    """
    person = b"" if kind is KeyKind.SERVER else kind.encode()
    return blake2b(f"{metric}\0{given}".encode(), digest_size=12, person=person).hexdigest()
