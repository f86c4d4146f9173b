"""Filters for the evaluations of the history."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from flagstaff.evaluation.history.layout import Layout, LayoutFlag


@dataclass(frozen=True, slots=True)
class FlagFilter:
    """Evaluations of a flag, by its id or by its key; `enabled` narrows them to those that were on, or off."""

    flag_id: UUID | None = None
    key: str | None = None
    enabled: bool | None = None

    def find(self, layout: Layout) -> tuple[int | None, LayoutFlag] | None:
        """The flag in a layout with its position among the recorded flags, or None if it is constant."""
        for position, flag in enumerate(layout.recorded):
            if self._is(flag):
                return position, flag
        return next(((None, flag) for flag in layout.constant if self._is(flag)), None)

    def _is(self, flag: LayoutFlag) -> bool:
        return flag.id == self.flag_id or flag.key == self.key


@dataclass(frozen=True, slots=True)
class EvaluationFilter:
    """Which evaluations to list; None means any. `since` is inclusive, `until` is exclusive."""

    user_id: str | None = None
    user_email: str | None = None
    flag: FlagFilter | None = None
    since: datetime | None = None
    until: datetime | None = None
