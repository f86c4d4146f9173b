"""The releases for which a user was counted."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID


@dataclass(frozen=True, slots=True)
class UserExposure:
    """When a user was first exposed in a stretch of a release, and with which arm; see releases/observations.py."""

    release_id: UUID
    unit: str
    stretch: int
    arm: int
    exposed_at: datetime
