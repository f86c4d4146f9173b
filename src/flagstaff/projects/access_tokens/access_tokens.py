"""Access tokens, with which machines call the API: their form, and what they are limited to.

A token is `fst_`, 43 random letters and digits (256 bits), and a checksum of six, by which a scanner tells a token from
any other text without asking a server.
"""

import re
import secrets
import string
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID
from zlib import crc32

from flagstaff.permissions.permissions import Permission

PREFIX = "fst_"
PATTERN = "fst_[0-9A-Za-z]{49}"

_RANDOM_LENGTH = 43
_CHECKSUM_LENGTH = 6
_DIGITS = string.digits + string.ascii_uppercase + string.ascii_lowercase
_token = re.compile(PATTERN)


@dataclass(frozen=True, slots=True)
class AccessToken:
    """A token of an account: for everything that the account may do, or for one project.

    It allows what both its permissions and the account's present role allow, in these environments; None means all.
    `last_used_at` is known to within minutes.
    """

    id: UUID
    account_id: UUID
    email: str
    project_id: UUID | None
    name: str
    permissions: tuple[Permission, ...]
    environments: tuple[UUID, ...] | None
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None

    @property
    def trail_id(self) -> UUID:
        """The account's id for a personal token, whose changes its trail has."""
        return self.id if self.project_id else self.account_id


def new_token() -> str:
    """A new token."""
    text = PREFIX + "".join(secrets.choice(_DIGITS) for _ in range(_RANDOM_LENGTH))
    return text + checksum(text)


def is_token(text: str) -> bool:
    """Return whether a text has the form of a token, with the right checksum."""
    return _token.fullmatch(text) is not None and checksum(text[:-_CHECKSUM_LENGTH]) == text[-_CHECKSUM_LENGTH:]


def checksum(text: str) -> str:
    """The CRC-32 of a text in base 62, with the digits 0-9, A-Z and a-z, as six digits."""
    number, digits = crc32(text.encode()), ""
    for _ in range(_CHECKSUM_LENGTH):
        number, digit = divmod(number, len(_DIGITS))
        digits = _DIGITS[digit] + digits
    return digits
