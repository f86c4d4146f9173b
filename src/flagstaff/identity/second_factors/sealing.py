"""Seals secrets that the database must hold in a form that can be read again, such as those for codes.

Its library takes 8 MB and 8 ms, so it is loaded for the first secret: few instances have any.
"""

import hashlib
import hmac
import secrets
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

_NONCE_BYTES = 12


class Sealer:
    """Encrypts and authenticates with a key that is derived from the secret key: AES-256-GCM with random nonces."""

    def __init__(self, secret_key: str) -> None:
        self._key = hmac.digest(secret_key.encode(), b"flagstaff sealed secret", hashlib.sha256)

    def seal(self, secret: bytes, owner: bytes) -> bytes:
        """The secret, sealed for its owner: it cannot be opened as another one's."""
        nonce = secrets.token_bytes(_NONCE_BYTES)
        return nonce + self._cipher.encrypt(nonce, secret, owner)

    def open(self, sealed: bytes, owner: bytes) -> bytes | None:
        """The secret; None if it was sealed with another key or for another owner, or was changed."""
        from cryptography.exceptions import InvalidTag  # noqa: PLC0415 -- see above

        try:
            return self._cipher.decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], owner)
        except (InvalidTag, ValueError):
            return None

    @cached_property
    def _cipher(self) -> "AESGCM":
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415 -- see above

        return AESGCM(self._key)
