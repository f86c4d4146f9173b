"""Invitations to projects: to one address, for one use."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from flagstaff.permissions.members import Role

INVITATION_LIFETIME = timedelta(days=7)
MAILS_COUNTED_FOR = timedelta(days=1)
MAILS_PER_ADDRESS = 5
MAILS_PER_ACCOUNT = 50


@dataclass(frozen=True, slots=True)
class Invitation:
    """An invitation of an address by a member. `sent_at` is when it was last mailed; each mail has a new link."""

    id: UUID
    project_id: UUID
    email: str
    role: Role
    environments: Mapping[str, Role]
    inviter_id: UUID
    created_at: datetime
    expires_at: datetime
    sent_at: datetime | None


@dataclass(frozen=True, slots=True)
class OpenedInvitation:
    """An invitation as whoever has its link sees it before accepting."""

    invitation: Invitation
    project: str
    inviter_email: str
