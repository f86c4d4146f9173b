"""Segments: conditions with a name, which the rules of a project's flags can refer to."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from flagstaff.conditions.conditions import Condition


@dataclass(frozen=True, slots=True)
class Segment:
    """A segment of a project. A user belongs to it if all conditions are met; without any, everyone does.

    Its `key` never changes, because rules refer to it.
    """

    id: UUID
    project_id: UUID
    key: str
    name: str
    description: str | None
    conditions: tuple[Condition, ...]
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class SegmentUse:
    """A flag with a rule for a segment."""

    environment_key: str
    flag_key: str
    is_archived: bool
