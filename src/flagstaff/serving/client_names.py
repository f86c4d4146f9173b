"""The names of clients in browsers, which tell apart those behind one address.

The tag of an answer ends with the name of the client that it is for, and the client's next request returns it in
`If-None-Match`. A name contains an HMAC (RFC 2104), so a client has only names of answers that were sent. The tabs of a
browser may have one name, because OpenFeature's client keeps the last answer where they all find it.
"""

import hashlib
import hmac
import secrets
from functools import lru_cache
from itertools import islice

from flagstaff.serving.entity_tags import Headers, given_tags

_PURPOSE = b"flagstaff client name"
_RANDOM_BYTES = 8
_DIGEST_BYTES = 8
_LENGTH = 2 * (_RANDOM_BYTES + _DIGEST_BYTES)
_TAGS_MAX = 4  # clients send one; each costs a digest
_REMEMBERED = 10_000


class ClientNames:
    """Makes and reads the names of one instance or of several with the same secret key."""

    def __init__(self, secret_key: str) -> None:
        self._key = hmac.digest(secret_key.encode(), _PURPOSE, hashlib.sha256)
        self._sign = lru_cache(_REMEMBERED)(self._sign_anew)

    def make(self) -> str:
        """A new name."""
        return self._sign_anew(secrets.token_hex(_RANDOM_BYTES))

    def find(self, headers: Headers) -> str | None:
        """The name in the `If-None-Match` of a request; None if there is none."""
        names = (tag.rpartition("-")[2] for tag in islice(given_tags(headers), _TAGS_MAX))
        return next(filter(self.is_name, names), None)

    def is_name(self, text: str) -> bool:
        """Return whether a text is a name that was made here."""
        if len(text) != _LENGTH or not text.isascii():
            return False
        return hmac.compare_digest(self._sign(text[: 2 * _RANDOM_BYTES]), text)

    def _sign_anew(self, random: str) -> str:
        digest = hmac.digest(self._key, random.encode(), hashlib.sha256)
        return random + digest[:_DIGEST_BYTES].hex()
