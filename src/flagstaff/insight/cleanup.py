"""Flags that may be removed from an environment and from the code that asks for them, and the evidence for it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from flagstaff.flags.flags import DETAILS
from flagstaff.flags.project_flags import FlagInBrief
from flagstaff.history.tallies import Tally

# Who renames or describes a flag still looks at it.
CARE = tuple(name for name in dict.fromkeys(("owner", *DETAILS)) if name not in ("name", "description"))
"""The fields whose changes say nothing about what a flag does."""


class Reason(StrEnum):
    """The reason why a flag is a candidate: what is true of it in the whole period."""

    ON_FOR_EVERYONE = "on_for_everyone"
    OFF_FOR_EVERYONE = "off_for_everyone"
    UNCHANGED = "unchanged"
    NOT_EVALUATED = "not_evaluated"


@dataclass(frozen=True, slots=True)
class FlagToClean:
    """The part of a flag that is shown beside the evidence."""

    id: UUID
    key: str
    name: str
    enabled: bool
    owner: str | None
    tags: tuple[str, ...]
    keep: bool
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class Candidate:
    """A flag that may be removed.

    `needed_by` are the keys of the flags of its environment that have it as a prerequisite, and `elsewhere` the flags
    with its key in the other environments that the actor may see.
    """

    flag: FlagToClean
    reasons: tuple[Reason, ...]
    tally: Tally
    changed_at: datetime
    needed_by: Sequence[str] = ()
    elsewhere: Sequence[FlagInBrief] = ()


@dataclass(frozen=True, slots=True)
class CleanupFilter:
    """A filter of candidates: of a period of so many days, for one reason or any, kept flags or all others."""

    days: int
    reason: Reason | None = None
    kept: bool = False


def reasons_for(tally: Tally, changed_at: datetime, since: datetime) -> tuple[Reason, ...]:
    """Return the reasons why a flag is a candidate; empty if it is none."""
    reasons = []
    if not tally.on and not tally.off:
        reasons.append(Reason.NOT_EVALUATED)
    elif not tally.off:
        reasons.append(Reason.ON_FOR_EVERYONE)
    elif not tally.on:
        reasons.append(Reason.OFF_FOR_EVERYONE)
    if changed_at < since:
        reasons.append(Reason.UNCHANGED)
    return tuple(reasons)
