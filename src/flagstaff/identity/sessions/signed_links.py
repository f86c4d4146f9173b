"""Tokens of the links in mails that need not be stored: each contains what it is about, and is signed."""

import hashlib
import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from struct import Struct
from typing import Any

_DIGEST_BYTES = 16


class SignedLinks:
    """Makes and reads the tokens of one purpose: a content of fixed size, and half of an HMAC-SHA256 over it."""

    def __init__(self, secret_key: str, purpose: str, content: Struct) -> None:
        # One secret serves several purposes, so each gets its own key.
        self._key = hmac.digest(secret_key.encode(), f"flagstaff {purpose}".encode(), hashlib.sha256)
        self._content = content

    def make(self, *values: Any) -> str:
        """Make a token of values, in characters that need no escaping in a URL."""
        return self._sign(self._content.pack(*values))

    def read(self, token: str) -> tuple[Any, ...] | None:
        """Return the values of a token; None if it is not genuine."""
        if not token.isascii() or len(token) != len(self._sign(bytes(self._content.size))):
            return None
        try:
            content = urlsafe_b64decode(token + "=" * (-len(token) % 4))[: self._content.size]
        except ValueError:
            return None
        # Texts are compared, because several can decode to the same bytes.
        return self._content.unpack(content) if hmac.compare_digest(token, self._sign(content)) else None

    def _sign(self, content: bytes) -> str:
        digest = hmac.digest(self._key, content, hashlib.sha256)[:_DIGEST_BYTES]
        return urlsafe_b64encode(content + digest).decode().rstrip("=")
