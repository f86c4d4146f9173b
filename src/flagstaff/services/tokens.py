"""Bearer tokens: a JWT for 24 hours, bound to the account's password so that a new one ends every earlier token."""

import hashlib
import hmac
from datetime import UTC, datetime
from typing import NamedTuple
from uuid import UUID, uuid4

import jwt

from flagstaff.domain.accounts import TOKEN_LIFETIME, Account

_ALGORITHM = "HS256"
_REQUIRED = ["exp", "iat", "jti", "pwd", "sub"]


class Claims(NamedTuple):
    """What a genuine token says: whose it is, for which password (by its stamp), which one it is, and until when."""

    account_id: UUID
    stamp: str
    token_id: UUID
    expires_at: datetime


class Tokens:
    """Makes and reads the tokens of one secret key."""

    def __init__(self, secret_key: str) -> None:
        # One secret serves several purposes; each gets a key of its own.
        self._signing_key = hmac.digest(secret_key.encode(), b"flagstaff bearer token", hashlib.sha256)
        self._stamp_key = hmac.digest(secret_key.encode(), b"flagstaff password stamp", hashlib.sha256)
        self._client_key = hmac.digest(secret_key.encode(), b"flagstaff client address", hashlib.sha256)

    def issue(self, account: Account, now: datetime) -> str:
        """A token for an account, valid for 24 hours or until its password changes."""
        claims = {
            "sub": str(account.id),
            "jti": str(uuid4()),
            "iat": now,
            "exp": now + TOKEN_LIFETIME,
            "pwd": self._stamp(account),
        }
        return jwt.encode(claims, self._signing_key, algorithm=_ALGORITHM)

    def read(self, token: str, now: datetime) -> Claims | None:
        """The claims of a token that is genuine and has not expired."""
        try:
            claims = jwt.decode(
                token,
                self._signing_key,
                algorithms=[_ALGORITHM],
                options={"require": _REQUIRED, "verify_exp": False, "verify_iat": False},
            )
            # Held against the caller's clock, which tests can set, rather than the library's. Clocks differ between
            # instances and are set back, so a token may be from a moment that has not come yet.
            if now.timestamp() >= claims["exp"]:
                return None
            expires_at = datetime.fromtimestamp(claims["exp"], UTC)
            return Claims(UUID(claims["sub"]), str(claims["pwd"]), UUID(claims["jti"]), expires_at)
        except (jwt.InvalidTokenError, ValueError, TypeError, OverflowError):
            return None

    def is_current(self, account: Account, stamp: str) -> bool:
        """Whether a token with this stamp was made for the account's present password."""
        return hmac.compare_digest(stamp.encode(), self._stamp(account).encode())

    def hash_client(self, account: Account, client: str) -> bytes:
        """What is kept of an address from which somebody logged in: it tells neither the address nor whose it is."""
        return hmac.digest(self._client_key, account.id.bytes + client.encode(), hashlib.sha256)

    def _stamp(self, account: Account) -> str:
        return hmac.new(self._stamp_key, account.password_hash.encode(), hashlib.sha256).hexdigest()[:32]
