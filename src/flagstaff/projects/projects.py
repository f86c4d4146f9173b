"""Projects and their environments."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from flagstaff.permissions.members import Role
from flagstaff.values.errors import invalid_field


@dataclass(frozen=True, slots=True)
class Project:
    """A project; its `sdk_key` serves all of its environments and is None where it is not shown.

    It counts against the quota of the account `owner_id`, which is always one of its owners. `history_retention_days`
    is how long it keeps its history; None if as long as the instance.
    """

    id: UUID
    owner_id: UUID
    name: str
    description: str | None
    sdk_key: str | None
    created_at: datetime
    updated_at: datetime
    demands_second_factor: bool = False  # of every member
    shares_contents: bool = False  # with webhooks of the whole instance
    history_retention_days: int | None = None


LAST_POSITION = 2**31 - 1
"""The position of environments that nobody has placed yet: they come last, oldest first."""


@dataclass(frozen=True, slots=True)
class Environment:
    """An environment of a project; its `key` never changes.

    In a `critical` one, a mistake hurts users: people are warned before a change. Lists are ordered by `position`,
    then by age. `history_retention_days` takes the place of the project's; None if it keeps its history as long.
    """

    id: UUID
    project_id: UUID
    name: str
    key: str
    created_at: datetime
    critical: bool = False
    position: int = LAST_POSITION
    history_retention_days: int | None = None


@dataclass(frozen=True, slots=True)
class EnvironmentOrder:
    """The keys of a project's environments in their order, as the audit trail has them; `id` is the project's."""

    id: UUID
    environments: tuple[str, ...]


def require_retention(days: int | None, present: int | None, most: int) -> None:
    """Raise Error INVALID if a history is to be kept for more days than the instance keeps any; `present` may stay."""
    if days is not None and days != present and days > most:
        message = f"must be at most {most}: this server keeps no history for longer (FLAGSTAFF_HISTORY_RETENTION_DAYS)"
        raise invalid_field("history_retention_days", message)


def is_critical(key: str, *, chosen: bool | None = None) -> bool:
    """Return whether an environment is critical: as chosen, or else by its key."""
    return key in {"prod", "production"} if chosen is None else chosen


@dataclass(frozen=True, slots=True)
class ListedProject:
    """A project as an administrator sees it: its owner's email, and the administrator's role in it, if any."""

    project: Project
    owner_email: str
    role: Role | None


# The names and keys of the environments that a new project starts with, in this order.
DEFAULT_ENVIRONMENTS = (("Production", "production"), ("Staging", "staging"))
