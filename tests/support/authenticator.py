"""A passkey authenticator in software: it creates keys and signs as WebAuthn describes, without a browser."""

import hashlib
import json
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass, field
from typing import Any

import cbor2
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec

from tests.support.api import Json

USER_PRESENT, USER_VERIFIED, HAS_CREDENTIAL = 1, 4, 64


def encode(data: bytes) -> str:
    """Encode bytes as Base64 for URLs, without padding."""
    return urlsafe_b64encode(data).decode().rstrip("=")


@dataclass
class Authenticator:
    """An authenticator with one key, used by a page of an origin. Tests change the values that should be wrong."""

    origin: str
    host: str = "localhost"
    flags: int = USER_PRESENT | USER_VERIFIED
    counter: int = 0
    credential_id: bytes = field(default_factory=lambda: secrets.token_bytes(16))
    user_handle: str | None = None
    _key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))

    def create(self, options: Json, **changed: Any) -> Json:
        """Return what `navigator.credentials.create` would return for these options."""
        self.user_handle = options["user"]["id"]
        point = self._key.public_key().public_numbers()
        x, y = (number.to_bytes(32, "big") for number in (point.x, point.y))
        public_key = cbor2.dumps({1: 2, 3: -7, -1: 1, -2: x, -3: y})
        credential = bytes(16) + len(self.credential_id).to_bytes(2, "big") + self.credential_id + public_key
        attestation = {"fmt": "none", "attStmt": {}, "authData": self._data(HAS_CREDENTIAL) + credential, **changed}
        client_data = self._client_data("webauthn.create", options["challenge"])
        return self._credential({"clientDataJSON": client_data, "attestationObject": cbor2.dumps(attestation)})

    def get(self, options: Json, **changed: str) -> Json:
        """Return what `navigator.credentials.get` would return for these options."""
        self.counter += 1
        data = self._data()
        client_data = self._client_data("webauthn.get", options["challenge"], **changed)
        signature = self._key.sign(data + hashlib.sha256(client_data).digest(), ec.ECDSA(hashes.SHA256()))
        response = {"clientDataJSON": client_data, "authenticatorData": data, "signature": signature}
        if self.user_handle:
            response["userHandle"] = urlsafe_b64decode(self.user_handle + "==")
        return self._credential(response)

    def _data(self, flags: int = 0) -> bytes:
        host = hashlib.sha256(self.host.encode()).digest()
        return host + bytes([self.flags | flags]) + self.counter.to_bytes(4, "big")

    def _client_data(self, kind: str, challenge: str, **changed: str) -> bytes:
        return json.dumps({"type": kind, "challenge": challenge, "origin": self.origin, **changed}).encode()

    def _credential(self, response: dict[str, bytes]) -> Json:
        identity = encode(self.credential_id)
        encoded = {name: encode(value) for name, value in response.items()}
        return {"id": identity, "rawId": identity, "type": "public-key", "response": encoded}
