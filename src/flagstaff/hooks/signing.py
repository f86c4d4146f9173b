"""Signatures of Standard Webhooks, version 1: an HMAC-SHA256 over the id, the time and the body.

Source: https://github.com/standard-webhooks/standard-webhooks, specification, “Signature scheme”.
"""

import hashlib
import hmac
from base64 import b64decode, b64encode
from collections.abc import Sequence

_PREFIX = "whsec_"


def sign(secrets: Sequence[str], message_id: str, timestamp: int, body: bytes) -> str:
    """The header `webhook-signature`: a signature for each secret, newest first. `timestamp` is in seconds."""
    content = f"{message_id}.{timestamp}.".encode() + body
    return " ".join(_sign(secret, content) for secret in secrets)


def _sign(secret: str, content: bytes) -> str:
    key = b64decode(secret.removeprefix(_PREFIX))
    return f"v1,{b64encode(hmac.digest(key, content, hashlib.sha256)).decode()}"
