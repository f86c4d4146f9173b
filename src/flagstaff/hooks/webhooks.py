"""Webhooks: addresses to which changes are sent, the events that each wants, and its secrets."""

import secrets
from base64 import b64encode
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from difflib import get_close_matches
from enum import StrEnum
from urllib.parse import SplitResult, urlsplit
from uuid import UUID

from flagstaff.changes.actions import EVERYTHING, INSTANCE_ACTIONS, PROJECT_ACTIONS, covers
from flagstaff.hooks.client.addresses import DEFAULT_PORTS, Reach, is_allowed, read_address
from flagstaff.hooks.notices import INSTANCE_NOTICES, PROJECT_NOTICES
from flagstaff.values.keys import check_environment_key
from flagstaff.values.text import check_text

URL_MAX_LENGTH = 2048
EVENTS_MAX = 50
ENVIRONMENTS_MAX = 100
TAGS_MAX = 50
ROTATION_LIFETIME = timedelta(hours=24)
"""For how long the secret before also signs after a rotation."""
_SECRET_BYTES = 32

TEST_EVENT = "webhook.test"
"""The type of the message that a person sends to try a webhook."""

PROJECT_EVENTS: tuple[str, ...] = (*PROJECT_ACTIONS, *PROJECT_NOTICES)
"""The types of what happens in a project: the actions of its audit trail, and what the server notices by itself."""
INSTANCE_EVENTS: tuple[str, ...] = (*PROJECT_EVENTS, *INSTANCE_ACTIONS, *INSTANCE_NOTICES)
"""The types for webhooks of the whole instance."""


def _patterns_of(types: Sequence[str]) -> tuple[str, ...]:
    kinds = dict.fromkeys(each.partition(".")[0] for each in types)
    return (*types, *(f"{kind}.*" for kind in kinds), EVERYTHING)


PROJECT_PATTERNS, INSTANCE_PATTERNS = _patterns_of(PROJECT_EVENTS), _patterns_of(INSTANCE_EVENTS)
"""What a webhook can want: the events of a type, all of a kind, or all."""


class Format(StrEnum):
    """The form of a webhook's messages: Standard Webhooks, or a chat's."""

    STANDARD = "standard"
    SLACK = "slack"
    TEAMS = "teams"
    DISCORD = "discord"


class Disabled(StrEnum):
    """The reason why the server has switched a webhook off."""

    FAILED = "failed"
    """The last attempt of a delivery has failed."""
    GONE = "gone"
    """The receiver has answered with 410."""
    NO_OWNER = "no_owner"
    """The owner of a webhook of the instance is not an administrator any more."""


@dataclass(frozen=True, slots=True)
class Webhook:
    """A webhook of a project, or of the whole instance if `project_id` is None.

    `events` are types, such as `flag.toggled`, all types of a resource, such as `flag.*`, or `*`. `environments` are
    keys, and `tags` are flags' tags; None stands for all. `host` is what the audit trail shows of the URL, which may
    contain a secret. `owner_id` is the administrator who has created a webhook of the instance, or changed it last: it
    ends with the owner's right, and has contents of the projects of which the owner is a member. Others have no owner.
    """

    id: UUID
    project_id: UUID | None
    url: str
    host: str = field(init=False)
    events: tuple[str, ...]
    environments: tuple[str, ...] | None
    tags: tuple[str, ...] | None
    format: Format
    description: str | None
    enabled: bool
    disabled_reason: Disabled | None
    owner_id: UUID | None
    created_at: datetime
    updated_at: datetime

    def __post_init__(self) -> None:
        object.__setattr__(self, "host", urlsplit(self.url).netloc)

    @property
    def is_chat(self) -> bool:
        """True if people read its messages, so that many changes at once are one message."""
        return self.format is not Format.STANDARD

    def wants(self, action: str, environment: str | None, tags: Collection[str] | None) -> bool:
        """Return whether it wants a change.

        `environment` is the key of the change's environment, and `tags` are its flag's tags. A change that has none,
        such as to a segment or a member, is not narrowed by them.
        """
        if not covers(self.events, action):
            return False
        if self.environments is not None and environment is not None and environment not in self.environments:
            return False
        return self.tags is None or tags is None or not set(self.tags).isdisjoint(tags)


def check_events(given: Sequence[str], patterns: Sequence[str]) -> tuple[str, ...]:
    """The events that a webhook wants, as `patterns` have them; raises ValueError, which names the nearest one."""
    if not given:
        raise ValueError("must have at least one event, such as flag.* or *")
    for event in given:
        if event not in patterns:
            close = get_close_matches(event, patterns, n=1, cutoff=0.4)
            advice = f"; did you mean {close[0]}?" if close else "; see the list of types in docs/webhooks.md"
            raise ValueError(f"has {event[:100]!r}, which is not a type of event{advice}")
    if len(set(given)) < len(given):
        raise ValueError("must not have an event twice")
    return tuple(given)


def check_environments(given: Sequence[str]) -> tuple[str, ...]:
    """The keys of environments; raises ValueError."""
    if not given:
        raise ValueError("must have at least one environment; leave it out for all")
    return tuple(dict.fromkeys(check_environment_key(each) for each in given))


def check_url(given: str, reach: Reach) -> str:
    """The URL of a receiver; raises ValueError, which says what is accepted.

    The addresses of a name are checked at each connection. Here, only those that the URL itself has are.
    """
    check_text(given)
    if len(given) > URL_MAX_LENGTH:
        raise ValueError(f"must have at most {URL_MAX_LENGTH:,} characters")
    url = _split(given)
    if url.scheme not in ("https", "http") or not url.hostname or given.split("://", 1)[0] != url.scheme:
        raise ValueError("must be a URL such as https://example.com/hooks")
    if url.username is not None or url.password is not None:
        raise ValueError("must not have a name or password; receivers check the signature instead")
    if url.fragment or any(character.isspace() or ord(character) < 33 or ord(character) > 126 for character in given):
        raise ValueError("must be an ASCII URL without spaces and without a fragment")
    if url.scheme == "http" and not reach.networks:
        raise ValueError("must begin with https://; http is sent only to networks in FLAGSTAFF_WEBHOOK_NETWORKS")
    port = url.port or DEFAULT_PORTS[url.scheme]
    if not reach.allows_port(port):
        raise ValueError(f"has the port {port}, which is not in FLAGSTAFF_WEBHOOK_PORTS; the operator can allow it")
    address = read_address(url.hostname)
    if address is not None and not is_allowed(address, reach.networks):
        shown = getattr(address, "ipv4_mapped", None) or address
        raise ValueError(
            f"leads to {shown}, which is not a public address; the operator can allow its network with "
            "FLAGSTAFF_WEBHOOK_NETWORKS"
        )
    return given


def _split(given: str) -> SplitResult:
    try:
        url = urlsplit(given)
        _ = url.port  # raises ValueError for a port that is no number
    except ValueError:
        raise ValueError("must be a URL such as https://example.com/hooks") from None
    return url


def new_secret() -> str:
    """A new secret, in the form of Standard Webhooks: 256 random bits."""
    return f"whsec_{b64encode(secrets.token_bytes(_SECRET_BYTES)).decode()}"
