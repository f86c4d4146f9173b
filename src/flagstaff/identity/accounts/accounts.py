"""Accounts, and the rules for emails and passwords."""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from flagstaff.identity.accounts.common_passwords import is_common
from flagstaff.values.text import check_length, check_text

EMAIL_MAX_LENGTH = 254  # RFC 5321, 4.5.3.1.3: a path of 256 octets less its angle brackets
PASSWORD_MIN_LENGTH = 8
PASSWORD_MAX_LENGTH = 1024
TOKEN_LIFETIME = timedelta(hours=24)
RESET_LIFETIME = timedelta(minutes=30)
RESET_MAILS_PER_LIFETIME = 3
KNOWN_CLIENT_LIFETIME = timedelta(days=90)

# RFC 5322's atoms and RFC 6531's other scripts. Quoted local parts are not accepted: they are very rare, and programs
# that read headers interpret the characters that they allow in different ways.
_LOCAL = re.compile(r"(?:[\w.!#$%&'*+/=?^`{|}~-]|[^\x00-\x7f])+", re.ASCII)
_DOMAIN = re.compile(r"(?:[\w-]|[^\x00-\x7f])+(?:\.(?:[\w-]|[^\x00-\x7f])+)*|\[[0-9A-Fa-f.:]+\]", re.ASCII)
# Others, such as evil.example/prize?@example.com, are addresses, too, and read as something else.
_PLAIN_ADDRESS = re.compile(r"[\w.+-]{1,64}@[\w.-]+", re.ASCII)
_PRODUCT = "flagstaff"


@dataclass(frozen=True, slots=True)
class Account:
    """A person's account; `password_hash` is an Argon2id string and never leaves the server.

    An administrator manages the accounts of the instance.
    """

    id: UUID
    email: str
    password_hash: str
    created_at: datetime
    is_administrator: bool = False
    deactivated_at: datetime | None = None

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


def check_email(value: str) -> str:
    """An email address, trimmed; raises ValueError if it is not valid. Compare addresses by `email_identity`."""
    value = check_length(check_text(value).strip(), 1, EMAIL_MAX_LENGTH)
    local, _, domain = value.rpartition("@")
    if not (_LOCAL.fullmatch(local) and _DOMAIN.fullmatch(domain) and value.isprintable() and " " not in value):
        raise ValueError("must be an email address such as ada@example.com")
    if "=?" in value:
        # Programs that read mail headers decode such a word, which may produce line breaks and further headers.
        raise ValueError("must not contain an encoded word (=?…?=); write the address itself")
    return value


def email_identity(email: str) -> str:
    """The form in which addresses are compared: without regard to case."""
    return email.lower()


def is_plain_address(email: str) -> bool:
    """Return whether an address, in ASCII, can be read as nothing but an address. Mails to others contain no other."""
    return _PLAIN_ADDRESS.fullmatch(email) is not None


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
