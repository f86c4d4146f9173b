"""The mails that members want about a project, and the members whom a change concerns."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from uuid import UUID

from flagstaff.changes.changes import DELETED_ACCOUNT
from flagstaff.notifications.subscriptions import Subscribed, SubscriptionKind, Target
from flagstaff.permissions.members import Member, Role
from flagstaff.permissions.permissions import Permission, may
from flagstaff.projects.projects import Environment
from flagstaff.values.emails import is_plain_address

GROUPED_FOR = timedelta(minutes=1)
"""For how long changes are gathered before they are mailed together."""
HELD_FOR = timedelta(minutes=5)
"""For how long a process holds what it mails, which is longer than all attempts at a mail."""
MAILS_PER_HOUR = 20
"""The number of mails that an account gets in an hour at most. What is beyond waits, and is in one later mail."""
KEPT_FOR = timedelta(days=1)
"""For how long a mail is tried that the mail server does not take."""
WAITING_MAX = 500
"""The number of changes of a project that wait for an account at most. Later ones are in no mail."""
STALE_EVERY = timedelta(days=7)

_EVALUATED = ("flag.", "rule.", "segment.")
_STEP = "release.step_applied"
_WATCHING = frozenset({"release.unwatched", "release.watched"})
_RELEASE_NEWS = _WATCHING | {
    *("release.stopped", "release.paused", "release.warned", "release.failed", "release.done", "release.step_skipped")
}


class Kind(StrEnum):
    """The reason for telling a member something. Each kind can be wanted or not."""

    CRITICAL = "critical"
    """Somebody else has changed what is evaluated in a critical environment."""
    OWNED = "owned"
    """Somebody else has changed a flag that the member owns, or a rule of it."""
    STALE = "stale"
    """Flags that the member owns may be removed. This is told once a week."""
    WEBHOOKS = "webhooks"
    """A webhook was turned off because its receiver does not accept messages."""
    RELEASES = "releases"
    """A release of the member's was stopped, paused, late or has failed, a guard raised an alarm, or it is done.

    Also one whose author lost the right, if the member can resume it, and for owners of the project one that cannot be
    watched, or can be again.
    """
    MENTIONS = "mentions"
    """Somebody else has mentioned the member in a comment."""
    SUBSCRIBED = "subscribed"
    """Somebody else has changed what the member has subscribed to."""


URGENT = frozenset({Kind.RELEASES, Kind.WEBHOOKS})
"""The kinds whose mails come first: a guard may have acted, or what tells others of it was turned off."""

DEFAULTS: Mapping[Kind, bool] = {
    Kind.CRITICAL: False,
    Kind.OWNED: True,
    Kind.STALE: True,
    Kind.WEBHOOKS: True,
    Kind.RELEASES: True,
    Kind.MENTIONS: True,
    Kind.SUBSCRIBED: True,
}
"""The mails of a member who has chosen none: those that need the member, and what the member has subscribed to."""


@dataclass(frozen=True, slots=True)
class Made:
    """A change, as far as it decides who is told: by whom, where, and of a flag with which owner and tags.

    A release makes changes for its author, who is then their actor. `is_late` says that it applied a step late,
    and `lost_authority` that its author may not change the flag any more.
    """

    number: int
    at: datetime
    action: str
    actor_id: UUID | None
    actor_email: str | None
    environment_id: UUID | None
    flag_id: UUID | None
    flag_key: str | None
    owner: str | None
    enabled: bool | None
    by_release: bool = False
    is_late: bool = False
    lost_authority: bool = False
    tags: tuple[str, ...] = ()

    @property
    def is_evaluated(self) -> bool:
        """True if what it has changed is evaluated: a flag, a rule or a segment."""
        return self.action.startswith(_EVALUATED)

    @property
    def needs_author(self) -> bool:
        """True if a release was paused because its author may not change the flag any more."""
        return self.lost_authority and self.action == "release.paused"

    @property
    def is_news_of_release(self) -> bool:
        """True if a release has made it, and its author wants to know."""
        return self.by_release and (self.action in _RELEASE_NEWS or (self.action == _STEP and self.is_late))


class Recipients:
    """The members of a project by what they want, so that a change is not compared with each of them."""

    def __init__(
        self, members: Iterable[tuple[Member, Mapping[Kind, bool]]], subscriptions: Iterable[Subscribed] = ()
    ) -> None:
        """Each member comes with what the member wants."""
        self._by_kind: dict[Kind, list[Member]] = {kind: [] for kind in Kind}
        for member, wanted in members:
            for kind in Kind:
                if wanted[kind]:
                    self._by_kind[kind].append(member)
        subscribers = {member.account_id: member for member in self._by_kind[Kind.SUBSCRIBED]}
        self._subscribers: dict[Target, list[Member]] = {}
        for target, account_id in subscriptions:
            if account_id in subscribers:
                self._subscribers.setdefault(target, []).append(subscribers[account_id])
        self._owners = {member.email.casefold(): member for member in self._by_kind[Kind.OWNED]}

    def find_told(
        self, made: Made, environment: Environment | None, *, has_critical: bool
    ) -> Iterator[tuple[Member, Kind]]:
        """Return the members who are told of a change, each with the reason.

        Nobody is told of what they did themselves, or of what they may not see. `environment` is where the change was
        made. `has_critical` says whether any environment of the project is critical, for a change to a segment, which
        takes effect in all of them.
        """
        key = environment.key if environment else None
        if made.action == "webhook.disabled":
            for member in self._by_kind[Kind.WEBHOOKS]:
                if may(member, Permission.WEBHOOKS_WRITE):
                    yield member, Kind.WEBHOOKS
        elif made.is_news_of_release:
            for member in self._by_kind[Kind.RELEASES]:
                if _hears_of_release(member, made, key):
                    yield member, Kind.RELEASES
        elif made.is_evaluated:
            told: set[UUID] = set()
            in_critical = environment.critical if environment else has_critical
            for member, kind in self._find_concerned(made, key, in_critical=in_critical):
                if member.account_id not in told:
                    told.add(member.account_id)
                    yield member, kind

    def _find_concerned(self, made: Made, key: str | None, *, in_critical: bool) -> Iterator[tuple[Member, Kind]]:
        owner = self._owners.get(made.owner.strip().casefold()) if made.owner else None
        if owner is not None and _is_for(owner, made, key):
            yield owner, Kind.OWNED
        if in_critical:
            for member in self._by_kind[Kind.CRITICAL]:
                if _is_for(member, made, key):
                    yield member, Kind.CRITICAL
        for target in targets_of(made):
            for member in self._subscribers.get(target, ()):
                if _is_for(member, made, key):
                    yield member, Kind.SUBSCRIBED


def targets_of(made: Made) -> Iterator[Target]:
    """The subscriptions that a change to something evaluated is told to. A segment's concerns every environment."""
    yield Target(SubscriptionKind.ENVIRONMENT, made.environment_id)
    if made.flag_key is not None:
        yield Target(SubscriptionKind.FLAG, made.environment_id, made.flag_key)
    for tag in made.tags:
        yield Target(SubscriptionKind.TAG, None, tag)


def _hears_of_release(member: Member, made: Made, environment: str | None) -> bool:
    """Return whether a member is told of a release: its author, and without one all who can resume it.

    Owners are also told of one that cannot be watched.
    """
    if made.lost_authority and may(member, Permission.FLAGS_WRITE, environment):
        return True
    is_told = member.account_id == made.actor_id or (made.action in _WATCHING and member.role is Role.OWNER)
    return is_told and may(member, Permission.AUDIT_READ, environment)


def _is_for(member: Member, made: Made, environment: str | None) -> bool:
    return member.account_id != made.actor_id and may(member, Permission.AUDIT_READ, environment)


def say_briefly(made: Made, environment: Environment | None) -> str:
    """A change in one phrase, in ASCII and without a word that people have written.

    A mail must not be a way to send one's own text to somebody: an account's address is not proven to be its owner's.
    """
    where = f" in {environment.key}" if environment else ""
    if made.action == "webhook.disabled":
        return "A webhook was turned off"
    what = f"{made.flag_key}: " if made.flag_key else ""
    if made.action == "flag.toggled":
        return f"{what}turned {'on' if made.enabled else 'off'}{where}"
    if made.action == "release.warned":
        return f"{what}a guard of the release raised an alarm{where}"
    if made.action == "release.unwatched":
        return f"{what}the release cannot be watched{where}"
    if made.action == "release.watched":
        return f"{what}the release is watched again{where}"
    if made.needs_author:
        return f"{what}release paused{where}, because its author lost the right to it"
    if made.action == _STEP and made.is_late:
        return f"{what}release step applied late{where}"
    kind, _, verb = made.action.partition(".")
    return f"{what}{kind.replace('_', ' ')} {verb.replace('_', ' ')}{where}"


def say_who(made: Made) -> str:
    """Name the author of a change, in ASCII. People choose their addresses: one that could be more is left out."""
    if made.needs_author:
        return "it acts for whoever resumes it"
    if made.actor_email is None:
        return "by the command line"
    return name_author(made.actor_email)


def name_author(email: str) -> str:
    """The author of a change or a comment, in ASCII; one whose address could be read as more is left out."""
    return f"by {email}" if is_plain_address(email) or email == DELETED_ACCOUNT else "by a member"
