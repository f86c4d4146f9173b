"""The links in mails with which their reader stops them, without a session."""

import hashlib
import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import NamedTuple
from uuid import UUID

UNSUBSCRIBE_PATH = "/auth/unsubscribe"
UNSUBSCRIBE_PAGE = "/unsubscribe"

_ID_BYTES, _DIGEST_BYTES = 16, 16
_TOKEN_CHARACTERS = (2 * _ID_BYTES + _DIGEST_BYTES) * 4 // 3


class Recipient(NamedTuple):
    """An account that gets mails about a project."""

    account_id: UUID
    project_id: UUID


class UnsubscribeTokens:
    """Makes and reads tokens: both ids and the first half of an HMAC-SHA256 over them. They do not expire."""

    def __init__(self, secret_key: str) -> None:
        self._key = hmac.digest(secret_key.encode(), b"flagstaff unsubscribe", hashlib.sha256)

    def make(self, recipient: Recipient) -> str:
        """Make the token of a recipient, 64 characters that need no escaping in a URL."""
        content = recipient.account_id.bytes + recipient.project_id.bytes
        return urlsafe_b64encode(content + self._digest(content)).decode()

    def read(self, token: str) -> Recipient | None:
        """Return the recipient of a token; None if it is not genuine."""
        if len(token) != _TOKEN_CHARACTERS or not token.isascii():
            return None
        try:
            read = urlsafe_b64decode(token)
        except ValueError:
            return None
        content, digest = read[: 2 * _ID_BYTES], read[2 * _ID_BYTES :]
        if not hmac.compare_digest(digest, self._digest(content)):
            return None
        return Recipient(UUID(bytes=content[:_ID_BYTES]), UUID(bytes=content[_ID_BYTES:]))

    def _digest(self, content: bytes) -> bytes:
        return hmac.digest(self._key, content, hashlib.sha256)[:_DIGEST_BYTES]
