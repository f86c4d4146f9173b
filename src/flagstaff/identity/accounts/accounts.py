"""Accounts, and the rules for passwords."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from flagstaff.identity.accounts.common_passwords import is_common
from flagstaff.values.text import check_length, check_text

PASSWORD_MIN_LENGTH = 8
PASSWORD_MAX_LENGTH = 1024
TOKEN_LIFETIME = timedelta(hours=24)
RESET_LIFETIME = timedelta(minutes=30)
RESET_MAILS_PER_LIFETIME = 3
VERIFICATION_LIFETIME = timedelta(hours=24)
KNOWN_CLIENT_LIFETIME = timedelta(days=90)

_PRODUCT = "flagstaff"


@dataclass(frozen=True, slots=True)
class Account:
    """A person's account; `password_hash` is an Argon2id string and never leaves the server.

    An administrator manages the accounts of the instance. Anybody can register with any address: `email_verified_at` is
    when the account has first shown that it reads the address's mail.
    """

    id: UUID
    email: str
    password_hash: str
    created_at: datetime
    is_administrator: bool = False
    deactivated_at: datetime | None = None
    email_verified_at: datetime | None = None

    @property
    def is_active(self) -> bool:
        """True if the account can be used."""
        return self.deactivated_at is None


@dataclass(frozen=True, slots=True)
class ListedAccount:
    """An account as administrators see it. `last_seen_at` is the latest use of its sessions, None if it has none."""

    account: Account
    has_second_factor: bool
    last_seen_at: datetime | None


def check_password(value: str) -> str:
    """A password that may be set: 8 to 1,024 characters, any Unicode."""
    return check_length(check_text(value), PASSWORD_MIN_LENGTH, PASSWORD_MAX_LENGTH)


def refuse_common_password(email: str, value: str) -> None:
    """Refuse a common password, and one that is its account's email address or the part before the @."""
    if is_common(value) or _says_only(value, _PRODUCT):
        raise ValueError("This password is too common. Choose another.")
    if _says_only(value, email) or _says_only(value, email.rpartition("@")[0]):
        raise ValueError("must not be your email address; choose another")


def _says_only(password: str, word: str) -> bool:
    """Return whether a password is a word, once or repeated, ignoring case, punctuation and spaces."""
    said, plain = _letters_and_digits(password), _letters_and_digits(word)
    return bool(said and plain) and not said.replace(plain, "")


def _letters_and_digits(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())
