"""Links of a project to pages elsewhere."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from flagstaff.values.errors import Code, Error

LINKS_MAX = 20


@dataclass(frozen=True, slots=True)
class Link:
    """A page elsewhere, by its name and address."""

    id: UUID
    project_id: UUID
    name: str
    address: str
    created_at: datetime


def require_room(present: int) -> None:
    """Raise Error CONFLICT if a project has too many links to add another."""
    if present >= LINKS_MAX:
        raise Error(Code.CONFLICT, f"The project has {present} links, which is the most. Remove some first.")
