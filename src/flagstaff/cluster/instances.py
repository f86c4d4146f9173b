"""The instances that serve from one database: what each reports of itself, and what administrators see of all."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Load:
    """The load of an instance in the last few seconds. `cpu` is in cores: 1.0 is one core all the time.

    `event_loop_lag_seconds` is the longest time for which a timer was late, as everything was that waited with it.
    """

    evaluations_per_second: float
    cpu: float
    event_loop_lag_seconds: float
    connections: int
    streams: int
    memory_bytes: int


@dataclass(frozen=True, slots=True)
class Report:
    """The report that an instance makes of itself every few seconds.

    `workers` is how many processes its server has. It serves all changes up to `change`, the number of an entry of the
    audit trail; None if it cannot say. `acknowledges` is whether it acknowledges changes, and understands all other
    messages of this release (database/messages.py); the previous release does not say so, and reports no
    `key_fingerprint`, by which secret keys are compared (secret_keys.py).
    """

    started_at: datetime
    workers: int
    is_draining: bool
    change: int | None
    load: Load
    acknowledges: bool = False
    key_fingerprint: str | None = None


class LeaseState(StrEnum):
    """The state of an instance's lease."""

    LIVE = "live"  # it serves every change whose response has been sent
    LEAVING = "leaving"  # it is being stopped
    LAPSED = "lapsed"  # it is cut off or has ended without saying so
    NONE = "none"  # there cannot be another instance, so none is needed


@dataclass(frozen=True, slots=True)
class ListedInstance:
    """An instance as the others know it. What a release before reports does not say is None.

    `lease_seconds` is for how long its lease is valid; below zero, for how long it has not been.
    """

    id: str
    address: str
    version: str
    started_at: datetime | None
    lease: LeaseState
    lease_seconds: float | None
    report: Report | None


@dataclass(frozen=True, slots=True)
class Behind:
    """The number of changes that an instance does not serve, or may not, and the age of the first of them.

    More than a thousand are a thousand.
    """

    changes: int
    seconds: float


def without_former(instances: Iterable[ListedInstance]) -> list[ListedInstance]:
    """The instances by name, without those that have ended: they said so, or a later one has their name."""
    present: list[ListedInstance] = []
    names: set[str] = set()
    for each in sorted(instances, key=lambda each: -(each.lease_seconds or 0)):
        has_ended = (each.lease_seconds or 0) < 0 and (each.lease is LeaseState.LEAVING or each.address in names)
        if not has_ended:
            names.add(each.address)
            present.append(each)
    return sorted(present, key=lambda each: (each.address, each.id))
