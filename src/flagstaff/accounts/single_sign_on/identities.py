"""Single sign-on: who a provider says someone is, and the sign-ins that wait for its answer."""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

SIGN_IN_LIFETIME = timedelta(minutes=10)
CALLBACK_PATH = "/sso/callback"  # a page of the dashboard
_PATH_MAX_LENGTH = 2_000
# Browsers read a backslash as a slash, and drop control characters: either can turn a path into another host.
_PATH = re.compile(r"/(?![/\\])[!-\[\]-~]*")


@dataclass(frozen=True, slots=True)
class SignIn:
    """A sign-in that waits for the answer of a provider.

    `nonce` comes back in its token, `verifier` (PKCE) proves that the code is ours, and the hash is of what the browser
    that has begun keeps.
    """

    provider: str
    nonce: str
    verifier: str
    binding_hash: bytes
    return_to: str


@dataclass(frozen=True, slots=True)
class Person:
    """A person, as a provider describes them.

    `email` is None without an address that the provider vouches for; `email_problem` then says why. `groups` is None if
    the provider has left them out because there are too many. `has_shown_factor` if the provider counts as a second
    factor, and has not said that this person has shown none.
    """

    issuer: str
    subject: str
    email: str | None
    email_problem: str
    groups: frozenset[str] | None
    has_shown_factor: bool


@dataclass(frozen=True, slots=True)
class Identity:
    """The account of a person. `is_only_way` if it could only be opened by the provider at the last sign-in."""

    issuer: str
    subject: str
    account_id: UUID
    created_at: datetime
    is_only_way: bool


def check_return_to(value: str) -> str:
    """A path of the dashboard to go on with; never another site."""
    if len(value) > _PATH_MAX_LENGTH or not _PATH.fullmatch(value):
        raise ValueError("must be a path of this site that starts with one slash, such as /projects")
    return value
