"""Deleted projects whose audit trail is still kept, and orders to delete it at once."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID


@dataclass(frozen=True, slots=True)
class DeletedProject:
    """A deleted project with a trail. `ordered_at` is when an administrator ordered to delete that at once."""

    id: UUID
    name: str
    deleted_at: datetime
    ordered_at: datetime | None


@dataclass(frozen=True, slots=True)
class TrailDeletion:
    """An order to delete a trail, as the instance's trail has it: with the project's id, and nothing else of it."""

    id: UUID
    deleted_at: datetime
