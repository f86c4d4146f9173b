"""Sessions: what a login opens for as long as its token is valid."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from flagstaff.values.text import one_line

SESSIONS_PER_ACCOUNT = 100
DEVICE_MAX_LENGTH = 255
_READ_MAX_LENGTH = 4 * DEVICE_MAX_LENGTH  # a header may be much longer
# The precision of the last use of a session or an access token. It is not written at every request.
SEEN_AGAIN_AFTER = timedelta(minutes=5)
SEEN_KNOWN_WITHIN = SEEN_AGAIN_AFTER + timedelta(minutes=1)
"""How much later than in the database a session may have been used: what is new is written once a minute."""


@dataclass(frozen=True, slots=True)
class Origin:
    """The origin of a session: the name that the browser or program gives itself, and the client's address."""

    device: str | None = None
    address: str | None = None


@dataclass(frozen=True, slots=True)
class Session:
    """A session of an account. Its id is also its token's id; `last_seen_at` is known to within minutes."""

    id: UUID
    account_id: UUID
    device: str | None
    address: str | None
    created_at: datetime
    last_seen_at: datetime
    expires_at: datetime

    @property
    def trail_id(self) -> UUID:
        """The account's id, whose trail has the changes of its sessions."""
        return self.account_id


def read_device(user_agent: str) -> str | None:
    """A User-Agent header on one line without control characters, at most 255 characters; None if nothing is left."""
    return one_line(user_agent[:_READ_MAX_LENGTH], DEVICE_MAX_LENGTH) or None
