"""Bearer tokens: a JWT for 24 hours, bound to the account's password so that a reset ends every earlier one."""

import hashlib
import hmac
from datetime import datetime
from uuid import UUID

import jwt

from flagstaff.domain.accounts import TOKEN_LIFETIME, Account

_ALGORITHM = "HS256"
_REQUIRED = ["exp", "iat", "pwd", "sub"]


class Tokens:
    """Makes and reads the tokens of one secret key."""

    def __init__(self, secret_key: str) -> None:
        # One secret serves several purposes; each gets a key of its own.
        self._signing_key = hmac.digest(secret_key.encode(), b"flagstaff bearer token", hashlib.sha256)
        self._stamp_key = hmac.digest(secret_key.encode(), b"flagstaff password stamp", hashlib.sha256)

    def issue(self, account: Account, now: datetime) -> str:
        """A token for an account, valid for 24 hours or until its password changes."""
        claims = {"sub": str(account.id), "iat": now, "exp": now + TOKEN_LIFETIME, "pwd": self._stamp(account)}
        return jwt.encode(claims, self._signing_key, algorithm=_ALGORITHM)

    def read(self, token: str, now: datetime) -> tuple[UUID, str] | None:
        """The account's id and the password stamp of a token that is genuine and has not expired."""
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
            return UUID(claims["sub"]), str(claims["pwd"])
        except (jwt.InvalidTokenError, ValueError, TypeError):
            return None

    def is_current(self, account: Account, stamp: str) -> bool:
        """Whether a token with this stamp was made for the account's present password."""
        return hmac.compare_digest(stamp.encode(), self._stamp(account).encode())

    def _stamp(self, account: Account) -> str:
        return hmac.new(self._stamp_key, account.password_hash.encode(), hashlib.sha256).hexdigest()[:32]
