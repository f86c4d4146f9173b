"""Passkeys (WebAuthn), and the site at which they are valid."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

PASSKEYS_MAX = 20
_DEFAULT_PORTS = {"http": 80, "https": 443}

Credential = Mapping[str, Any]
"""The JSON form of a PublicKeyCredential."""


@dataclass(frozen=True, slots=True)
class Passkey:
    """A key pair of which an account's owner holds the private part.

    `sign_count` is the authenticator's counter at the last use; 0 if it does not count.
    """

    id: UUID
    account_id: UUID
    credential_id: bytes
    public_key: bytes
    sign_count: int
    name: str
    created_at: datetime
    last_used_at: datetime | None


@dataclass(frozen=True, slots=True)
class Assertion:
    """The readable part of a credential that nobody has verified yet."""

    credential_id: bytes
    challenge: str
    origin: str
    user_handle: bytes | None


@dataclass(frozen=True, slots=True)
class Site:
    """The site whose pages may use its passkeys: an origin, and the host for which authenticators keep them."""

    host: str
    origin: str

    @property
    def allows_passkeys(self) -> bool:
        """True if browsers offer passkeys there: only at a name, not at an address, and only over TLS or locally."""
        is_address = self.host.replace(".", "").isdecimal() or ":" in self.host
        is_local = self.host == "localhost" or self.host.endswith(".localhost")
        return not is_address and (self.origin.startswith("https://") or is_local)


def handle_of(account_id: UUID) -> bytes:
    """Return the handle by which authenticators know an account."""
    return account_id.bytes


def site_of(public_url: str) -> Site:
    """The site of a web address."""
    url = urlsplit(public_url)
    host = (url.hostname or "").lower()
    port = "" if url.port in (None, _DEFAULT_PORTS[url.scheme]) else f":{url.port}"
    name = f"[{host}]" if ":" in host else host
    return Site(host, f"{url.scheme}://{name}{port}")
