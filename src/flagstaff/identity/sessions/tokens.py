"""Bearer tokens: a JWT for 24 hours, bound to the account's password so that a new password ends earlier tokens.

PyJWT loads cryptography, 9 MB that take a tenth of the start, so it is loaded for the first token.
"""

import hashlib
import hmac
from datetime import UTC, datetime
from typing import NamedTuple
from uuid import UUID

from flagstaff.identity.accounts.accounts import Account
from flagstaff.identity.sessions.sessions import Session

_ALGORITHM = "HS256"
_REQUIRED = ["exp", "iat", "jti", "pwd", "sid", "sub"]


def hash_token(token: str) -> bytes:
    """The hash of a link's token, which is stored instead of it."""
    # The token has 256 random bits, so a fast hash hides it well enough; NUL or surrogates in a guess must not raise.
    return hashlib.sha256(token.encode(errors="surrogatepass")).digest()


class Claims(NamedTuple):
    """The claims of a genuine token: its account, the password's stamp, its session, and when it expires."""

    account_id: UUID
    stamp: str
    session_id: UUID
    expires_at: datetime


class Tokens:
    """Creates and verifies the tokens of one secret key."""

    def __init__(self, secret_key: str) -> None:
        # One secret serves several purposes, so each gets its own key.
        self._signing_key = hmac.digest(secret_key.encode(), b"flagstaff bearer token", hashlib.sha256)
        self._stamp_key = hmac.digest(secret_key.encode(), b"flagstaff password stamp", hashlib.sha256)
        self._client_key = hmac.digest(secret_key.encode(), b"flagstaff client address", hashlib.sha256)

    def issue(self, account: Account, session: Session) -> str:
        """The token of a new session of an account, valid until the session ends or the password changes."""
        import jwt  # noqa: PLC0415 -- see above

        claims = {
            "sub": str(account.id),
            "sid": str(session.id),
            "jti": str(session.id),
            "iat": session.created_at,
            "exp": session.expires_at,
            "pwd": self.stamp(account),
        }
        return jwt.encode(claims, self._signing_key, algorithm=_ALGORITHM)

    def read(self, token: str, now: datetime) -> Claims | None:
        """The claims of a token that is genuine and has not expired."""
        import jwt  # noqa: PLC0415 -- see above

        try:
            claims = jwt.decode(
                token,
                self._signing_key,
                algorithms=[_ALGORITHM],
                options={"require": _REQUIRED, "verify_exp": False, "verify_iat": False},
            )
            # Compared with the caller's clock, which tests can set, rather than the library's. Clocks differ between
            # instances and are set back, so a token may have been issued in the future.
            if now.timestamp() >= claims["exp"]:
                return None
            expires_at = datetime.fromtimestamp(claims["exp"], UTC)
            return Claims(UUID(claims["sub"]), str(claims["pwd"]), UUID(claims["sid"]), expires_at)
        except (jwt.InvalidTokenError, ValueError, TypeError, OverflowError):
            return None

    def is_current(self, account: Account, stamp: str) -> bool:
        """Return whether a token with this stamp was made for the account's current password."""
        return hmac.compare_digest(stamp.encode(), self.stamp(account).encode())

    def hash_client(self, account: Account, client: str) -> bytes:
        """A hash to store for an address that an account logged in from. It reveals neither."""
        return hmac.digest(self._client_key, account.id.bytes + client.encode(), hashlib.sha256)

    def stamp(self, account: Account) -> str:
        """Return a value that changes with the account's password."""
        return hmac.new(self._stamp_key, account.password_hash.encode(), hashlib.sha256).hexdigest()[:32]
