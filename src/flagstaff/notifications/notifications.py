"""The mails that members want about a project, and the members whom a change concerns."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from uuid import UUID

from flagstaff.projects.members import Member
from flagstaff.projects.permissions import Permission, may
from flagstaff.projects.projects import Environment

GROUPED_FOR = timedelta(minutes=1)
"""For how long changes are gathered before they are mailed together."""
MAILS_PER_HOUR = 20
"""The number of mails that an account gets in an hour at most. What is beyond waits, and is in one later mail."""
KEPT_FOR = timedelta(days=1)
"""For how long a mail is tried that the mail server does not take."""
WAITING_MAX = 500
"""The number of changes of a project that wait for an account at most. Later ones are in no mail."""
STALE_EVERY = timedelta(days=7)

# Others, such as evil.example/prize?@example.com, are addresses, too, and read as something else.
_PLAIN_ADDRESS = re.compile(r"[\w.+-]{1,64}@[\w.-]+", re.ASCII)
_EVALUATED = ("flag.", "rule.", "segment.")
_STEP = "release.step_applied"
_RELEASE_NEWS = frozenset(
    {"release.stopped", "release.paused", "release.warned", "release.failed", "release.done", "release.step_skipped"}
)


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
    RELEASES = "releases"
    """A release of the member's was stopped, paused, late or has failed, a guard raised an alarm, or it is done."""


DEFAULTS: Mapping[Kind, bool] = {
    Kind.CRITICAL: False,
    Kind.OWNED: True,
    Kind.STALE: True,
    Kind.WEBHOOKS: True,
    Kind.RELEASES: True,
}
"""The mails of a member who has chosen none: those that need the member, and none about the work of others."""


@dataclass(frozen=True, slots=True)
class Made:
    """A change, as far as it decides who is told: by whom, where, and of a flag with which owner.

    A release makes changes for its author, who is then their actor. `is_late` says that it applied a step late.
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

    @property
    def is_news_of_release(self) -> bool:
        """Whether a release has made it, and its author wants to know."""
        return self.by_release and (self.action in _RELEASE_NEWS or (self.action == _STEP and self.is_late))


class Recipients:
    """The members of a project by what they want, so that a change is not compared with each of them."""

    def __init__(self, members: Iterable[tuple[Member, Mapping[Kind, bool]]]) -> None:
        """Each member comes with what the member wants."""
        self._by_kind: dict[Kind, list[Member]] = {kind: [] for kind in Kind}
        for member, wanted in members:
            for kind in Kind:
                if wanted[kind]:
                    self._by_kind[kind].append(member)
        self._owners = {member.email.casefold(): member for member in self._by_kind[Kind.OWNED]}

    def find_told(
        self, made: Made, environment: Environment | None, *, has_critical: bool
    ) -> Iterator[tuple[Member, Kind]]:
        """Who is told of a change, and why.

        Nobody is told of what they did themselves, or of what they may not see. `environment` is where the change was
        made. `has_critical` says whether any environment of the project is critical, for a change to a segment, which
        takes effect in all of them.
        """
        key = environment.key if environment else None
        if made.action == "webhook.disabled":
            for member in self._by_kind[Kind.WEBHOOKS]:
                if may(member, Permission.KEYS_ROTATE):
                    yield member, Kind.WEBHOOKS
        elif made.is_news_of_release:
            for member in self._by_kind[Kind.RELEASES]:
                if member.account_id == made.actor_id and may(member, Permission.AUDIT_READ, key):
                    yield member, Kind.RELEASES
        elif made.action.startswith(_EVALUATED):
            yield from self._find_concerned(
                made, key, in_critical=environment.critical if environment else has_critical
            )

    def _find_concerned(self, made: Made, key: str | None, *, in_critical: bool) -> Iterator[tuple[Member, Kind]]:
        owner = self._owners.get(made.owner.strip().casefold()) if made.owner else None
        if owner is not None and _is_for(owner, made, key):
            yield owner, Kind.OWNED
        if in_critical:
            for member in self._by_kind[Kind.CRITICAL]:
                if member is not owner and _is_for(member, made, key):
                    yield member, Kind.CRITICAL


def _is_for(member: Member, made: Made, environment: str | None) -> bool:
    return member.account_id != made.actor_id and may(member, Permission.AUDIT_READ, environment)


def say_briefly(made: Made, environment: Environment | None) -> str:
    """A change in one phrase, in ASCII and without a word that people have written.

    A mail must not be a way to send one's own text to somebody: an account's address is not proven to be its owner's.
    """
    where = f" in {environment.key}" if environment else ""
    if made.action == "webhook.disabled":
        return "A webhook was switched off"
    what = f"{made.flag_key}: " if made.flag_key else ""
    if made.action == "flag.toggled":
        return f"{what}turned {'on' if made.enabled else 'off'}{where}"
    if made.action == "release.warned":
        return f"{what}a guard of the release raised an alarm{where}"
    if made.action == _STEP and made.is_late:
        return f"{what}release step applied late{where}"
    kind, _, verb = made.action.partition(".")
    return f"{what}{kind.replace('_', ' ')} {verb.replace('_', ' ')}{where}"


def say_who(made: Made) -> str:
    """Who made a change, in ASCII. Whoever registers chooses an address: one that could be more is left out."""
    if made.actor_email is None:
        return "by the command line"
    return f"by {made.actor_email}" if _PLAIN_ADDRESS.fullmatch(made.actor_email) else "by a member"
