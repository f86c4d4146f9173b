"""Evaluations in the history: written to the store in batches, and read one by one."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from flagstaff.evaluation.history.layout import Decision, FoundFlag, Layout, free_layouts
from flagstaff.evaluation.targets import CURRENT_TIME, RESERVED
from flagstaff.projects.record_origins import Origin, Origins, joined_origins
from flagstaff.values.lists import empty

BATCH_IDS = 1 << 61


@dataclass(frozen=True, slots=True)
class RecordGroup:
    """Evaluations of one environment that share a layout, oldest first, column by column.

    The columns: the time (nanoseconds since 1970), the user (id and email), the recorded bytes (see layout.py), and the
    custom attributes, if they are kept: JSON objects, or `null` for those that are too large. `has_all` says that they
    are all that the requests had, and not only those that the layout names.

    `flags` are the places of flags that were evaluated alone, and None for evaluations of all flags. The former are
    recorded in the flag's own layout. Without the column, all flags were evaluated each time.

    `origins` are missing in groups of older releases.
    """

    environment_id: UUID
    layout: Layout
    times: Sequence[int]
    users: Sequence[str | None]
    emails: Sequence[str | None]
    recorded: Sequence[bytes]
    attributes: Sequence[bytes] | None = None
    has_all: bool = False
    flags: Sequence[int | None] | None = None
    origins: Origins | None = None

    def __post_init__(self) -> None:
        """Raises ValueError when the columns differ in length, as may happen in a damaged file."""
        optional = [each for each in (self.attributes, self.flags) if each is not None]
        if len({*map(len, (self.times, self.users, self.emails, self.recorded, *optional))}) > 1:
            raise ValueError("the columns of a group differ in length")
        if self.origins is not None:
            self.origins.check(len(self.times))


def joined(groups: Sequence[RecordGroup]) -> RecordGroup:
    """One group with the evaluations of several, which have the same environment, layout and columns."""
    first = groups[0]
    attributes = None if first.attributes is None else [each for group in groups for each in group.attributes or ()]
    flags = None if first.flags is None else [each for group in groups for each in group.flags or ()]
    return replace(
        first,
        times=[each for group in groups for each in group.times],
        users=[each for group in groups for each in group.users],
        emails=[each for group in groups for each in group.emails],
        recorded=[each for group in groups for each in group.recorded],
        attributes=attributes,
        flags=flags,
        origins=joined_origins((group.origins, len(group.times)) for group in groups),
    )


@dataclass(frozen=True, slots=True)
class RecordBatch:
    """The evaluations collected at once, which are written in one transaction.

    The id is drawn at random below `BATCH_IDS`, so that a batch that is sent twice is recognised.
    """

    id: int
    groups: Sequence[RecordGroup]

    @property
    def size(self) -> int:
        """The number of records."""
        return sum(len(group.times) for group in self.groups)


@dataclass(frozen=True, slots=True)
class RecordedEvaluation:
    """One evaluate call as it was stored.

    `attributes` are the custom attributes that were kept, by name; None if none were, as in records of older releases.
    `has_all` says that they are all that the request had, and not only those that rules looked at. `origin` is None in
    records of older releases.
    """

    id: UUID
    evaluated_at: datetime
    user_id: str | None
    user_email: str | None
    layout: Layout
    recorded: bytes
    attributes: Mapping[str, Any] | None = None
    has_all: bool = False
    origin: Origin | None = None

    def decisions(self) -> list[Decision]:
        """The decisions about all flags."""
        return self.layout.decisions(self.recorded)

    def each_decision(self) -> Iterator[Decision]:
        """The same one by one."""
        return self.layout.each_decision(self.recorded)

    def decision_about(self, found: FoundFlag) -> Decision:
        """The decision about a flag of the layout."""
        position, flag = found
        return Decision(flag, flag.default) if position is None else self.layout.decision_of(position, self.recorded)

    def knows(self, attribute: str) -> bool:
        """Return whether an attribute's value is known; if it is and not in `values`, the request did not have it."""
        if attribute in RESERVED:
            return True
        return self.attributes is not None and (self.has_all or attribute in self.layout.attributes)

    def values(self) -> dict[str, Any]:
        """The attributes with which `evaluate` repeats the evaluation: those kept, and the time.

        The time of a record is the `current_time` that rules looked at.
        """
        return {**(self.attributes or {}), CURRENT_TIME: self.evaluated_at}


def free_evaluations(evaluations: list[RecordedEvaluation]) -> None:
    """Empty a list of evaluations that nobody needs any more, and free their layouts flag by flag."""
    layouts = {id(each.layout): each.layout for each in evaluations}
    empty(evaluations)
    free_layouts(layouts)
