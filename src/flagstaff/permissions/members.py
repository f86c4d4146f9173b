"""Members of projects, and their roles."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID


class Role(StrEnum):
    """The role of a member in a project; `permissions/permissions.py` says what each role may do."""

    OWNER = "owner"
    ADMIN = "admin"
    EDITOR = "editor"
    VIEWER = "viewer"


@dataclass(frozen=True, slots=True)
class Member:
    """An account in a project. `role` holds everywhere but in the environments whose keys have their own role."""

    project_id: UUID
    account_id: UUID
    email: str
    role: Role
    environments: Mapping[str, Role]
    created_at: datetime

    @property
    def id(self) -> UUID:
        """The account's id, which identifies the member in its project."""
        return self.account_id
