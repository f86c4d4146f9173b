"""SDK keys of environments, with which applications ask for flags: their form, and what they are limited to.

A key is `{project}:{environment}.{random}`: the project's id in hexadecimal digits without hyphens, the environment's
key, and 43 random letters and digits (256 bits). Unleash's clients and its Edge read this form. The keys of
environments consist of letters, digits, `_` and `-`, so every SDK key has exactly one `:` and one `.`, and its secret
part has neither, nor `_`: Edge hides such secrets in its log.
"""

import hashlib
import re
import secrets
import string
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple
from uuid import UUID

from flagstaff.values.keys import ENVIRONMENT_KEY_PATTERN

_RANDOM_LENGTH = 43
_HINT_LENGTH = 4
_DIGITS = string.digits + string.ascii_uppercase + string.ascii_lowercase
PATTERN = f"([0-9a-f]{{32}}):({ENVIRONMENT_KEY_PATTERN[1:-1]})\\.[0-9A-Za-z]{{{_RANDOM_LENGTH}}}"
_key = re.compile(PATTERN)


class KeyKind(StrEnum):
    """The place where a key is used. A browser's key is public, so it only gets the flags of one user."""

    SERVER = "server"
    BROWSER = "browser"


@dataclass(frozen=True, slots=True)
class SdkKey:
    """An SDK key of an environment, without its secret, of which `hint` are the last characters.

    `creator_email` is None if the account does not exist any more. `last_used_at` is known to within minutes. The key
    that it replaces may have been revoked. Only pages at `allowed_origins` may use a browser's key, or all if there are
    none (projects/key_origins.py).
    """

    id: UUID
    project_id: UUID
    environment_id: UUID
    environment: str
    name: str
    kind: KeyKind
    hint: str
    creator_id: UUID | None
    creator_email: str | None
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None = None
    replaces_id: UUID | None = None
    allowed_origins: tuple[str, ...] = ()

    def has_expired(self, now: datetime) -> bool:
        """Return whether the key is not accepted any more at this moment."""
        return self.expires_at is not None and self.expires_at <= now


class KeyInForce(NamedTuple):
    """The part of an SDK key that the hot path needs: it is accepted until it expires, from pages at these origins.

    `allowed_origins` is None if all pages may use it.
    """

    key_id: UUID
    kind: KeyKind
    expires_at: datetime | None
    allowed_origins: frozenset[str] | None = None


def new_environment_key(project_id: UUID, environment: str) -> str:
    """A new SDK key of the environment with this key."""
    random = "".join(secrets.choice(_DIGITS) for _ in range(_RANDOM_LENGTH))
    return f"{project_id.hex}:{environment}.{random}"


def hint_of(key: str) -> str:
    """The part of a key that is shown in lists."""
    return key[-_HINT_LENGTH:]


def project_in(key: str) -> UUID | None:
    """The id of the project in the text of an SDK key of an environment; None for any other text."""
    match = _key.fullmatch(key)
    return UUID(hex=match[1]) if match else None


def hash_sdk_key(key: str) -> bytes:
    """The hash of a key, which is stored instead of it."""
    # The key has 256 random bits, so a fast hash hides it well enough; any text can be a guess and must not raise.
    return hashlib.sha256(key.encode(errors="surrogatepass")).digest()
