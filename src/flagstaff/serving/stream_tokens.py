"""Short-lived tokens with which browsers open streams: their EventSource sends no headers, so the URL has the token.

A token names the SDK key for which it was made and the period until whose end it is valid, with an HMAC (RFC 2104) of
them. All instances make the same one in the same period, so that a client that asks again keeps its connection.
"""

import hashlib
import hmac
from collections.abc import Callable
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

PERIOD_SECONDS = 3600
_DIGEST_BYTES = 16
_PURPOSE = b"flagstaff stream token"
_TEXT_MAX_LENGTH = 150


class KeyName(NamedTuple):
    """The SDK key of an environment, by the ids of its project and itself."""

    project_id: UUID
    key_id: UUID


class StreamToken(NamedTuple):
    """The SDK key that a token is for, and whether the token has expired."""

    key: KeyName
    has_expired: bool


class StreamTokens:
    """Makes and reads the tokens of one instance or of several with the same secret key."""

    def __init__(self, secret_key: str, now: Callable[[], datetime]) -> None:
        self._key = hmac.digest(secret_key.encode(), _PURPOSE, hashlib.sha256)
        self._now = now

    def period(self) -> int:
        """The number of the present period. Its tokens are valid until the end of the next."""
        return int(self._now().timestamp()) // PERIOD_SECONDS

    def make(self, key: KeyName) -> str:
        """A token for the owner of an SDK key, valid for one to two periods."""
        return self._sign(f"{key.project_id.hex}.{key.key_id.hex}.{self.period() + 1}")

    def read(self, token: str) -> StreamToken | None:
        """Read a token; None if it was not made here."""
        signed, _, _ = token[:_TEXT_MAX_LENGTH].rpartition(".")
        if not hmac.compare_digest(self._sign(signed).encode(), token.encode(errors="surrogatepass")):
            return None
        project_id, key_id, last_period = signed.split(".")
        return StreamToken(KeyName(UUID(project_id), UUID(key_id)), int(last_period) < self.period())

    def _sign(self, signed: str) -> str:
        digest = hmac.digest(self._key, signed.encode(errors="surrogatepass"), hashlib.sha256)
        return f"{signed}.{digest[:_DIGEST_BYTES].hex()}"
