"""Pinned charts: views of the evaluation history's chart that the members of a project see on its home."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from flagstaff.values.errors import invalid_field

CHARTS_MAX = 12  # each is a summary of the history, whenever somebody opens the page

Period = Literal["hour", "day", "week", "month"]
"""The time until now that a chart shows."""
Split = Literal["result", "variant", "reason"]
"""The parts of each bar."""
Scale = Literal["count", "percent"]


@dataclass(frozen=True, slots=True)
class PinnedChart:
    """A chart of a flag in an environment, or without one, of all its flags together.

    It is compared with the period before, with another environment, or with nothing. A pinned chart is deleted with its
    flag and its environment; the comparison ends when the other environment is deleted.
    """

    id: UUID
    project_id: UUID
    name: str
    environment_id: UUID
    flag_id: UUID | None
    flag_key: str | None
    period: Period
    split: Split
    scale: Scale
    compare_before: bool
    compare_environment_id: UUID | None
    created_at: datetime

    def check(self) -> "PinnedChart":
        """Return the chart; raises Error INVALID, which names the field, if its fields do not fit together."""
        if self.flag_id is None and self.split != "result":
            raise invalid_field("split", "must be result for a chart of all flags; give a flag_id to split its results")
        if self.compare_before and self.compare_environment_id is not None:
            raise invalid_field("compare_before", "must be false if compare_environment_id is given")
        if self.compare_environment_id == self.environment_id:
            raise invalid_field("compare_environment_id", "must be another environment than environment_id")
        return self
