"""Evaluations in the history: written to the store in batches, and read one by one."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from flagstaff.evaluation.history.layout import Decision, Layout

BATCH_IDS = 1 << 61


@dataclass(frozen=True, slots=True)
class RecordGroup:
    """Evaluations of one environment that share a layout, oldest first, column by column.

    The columns: the time (nanoseconds since 1970), the user (id and email), and the recorded bytes (see layout.py).
    """

    environment_id: UUID
    layout: Layout
    times: Sequence[int]
    users: Sequence[str | None]
    emails: Sequence[str | None]
    recorded: Sequence[bytes]

    def __post_init__(self) -> None:
        """Raises ValueError when the columns differ in length, as may happen in a damaged file."""
        if len({len(self.times), len(self.users), len(self.emails), len(self.recorded)}) > 1:
            raise ValueError("the columns of a group differ in length")


@dataclass(frozen=True, slots=True)
class RecordBatch:
    """The evaluations written in one transaction.

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
    """One evaluate call as it was stored."""

    id: UUID
    evaluated_at: datetime
    user_id: str | None
    user_email: str | None
    layout: Layout
    recorded: bytes

    def decisions(self) -> list[Decision]:
        """How every flag was decided."""
        return self.layout.decisions(self.recorded)
