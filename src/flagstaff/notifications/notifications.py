"""What members want to be told by mail about a project, and which changes concern whom."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from flagstaff.audit.changes import Change
from flagstaff.projects.members import Member
from flagstaff.projects.permissions import Permission, may
from flagstaff.projects.projects import Environment

GROUPED_FOR = timedelta(minutes=1)
"""For how long changes are gathered before they are mailed together."""
MAILS_PER_HOUR = 20
"""How many mails an account gets in an hour at most. What is beyond waits, and is in one later mail."""
WAITING_MAX = 500
"""How many changes of a project wait for an account at most. Later ones are in no mail."""
STALE_EVERY = timedelta(days=7)

_EVALUATED = ("flag.", "rule.", "segment.")


class Kind(StrEnum):
    """Why a member is told something. Each kind can be wanted or not."""

    CRITICAL = "critical"
    """Somebody else has changed what is evaluated in a critical environment."""
    OWNED = "owned"
    """Somebody else has changed a flag that the member owns, or a rule of it."""
    STALE = "stale"
    """Flags that the member owns may be removed. This is told once a week."""
    WEBHOOKS = "webhooks"
    """A webhook was switched off because its receiver does not accept messages."""


DEFAULTS: Mapping[Kind, bool] = {Kind.CRITICAL: False, Kind.OWNED: True, Kind.STALE: True, Kind.WEBHOOKS: True}
"""What a member wants who has chosen nothing: what needs the member, and nothing about the work of others."""


@dataclass(frozen=True, slots=True)
class Recipient:
    """A member, and which kinds of mails the member wants."""

    member: Member
    wanted: frozenset[Kind]


def owns(member: Member, owner: str | None) -> bool:
    """Whether a member is the owner of a flag, which is written as text."""
    return owner is not None and owner.strip().casefold() == member.email.casefold()


def reason_to_tell(
    recipient: Recipient, change: Change, environment: Environment | None, owner: str | None, *, has_critical: bool
) -> Kind | None:
    """Why a recipient is told of a change; None if it is not.

    Nobody is told of what they did themselves, or of what they may not see. `environment` is where the change was made,
    and `owner` that of its flag. `has_critical` says whether any environment of the project is critical, for a change
    to a segment, which takes effect in all of them.
    """
    member = recipient.member
    if change.actor.account_id == member.account_id:
        return None
    if change.action == "webhook.disabled":
        is_told = Kind.WEBHOOKS in recipient.wanted and may(member, Permission.KEYS_ROTATE)
        return Kind.WEBHOOKS if is_told else None
    if not change.action.startswith(_EVALUATED):
        return None
    if not may(member, Permission.AUDIT_READ, environment.key if environment else None):
        return None
    if Kind.OWNED in recipient.wanted and owns(member, owner):
        return Kind.OWNED
    is_critical = environment.critical if environment else has_critical
    return Kind.CRITICAL if is_critical and Kind.CRITICAL in recipient.wanted else None
