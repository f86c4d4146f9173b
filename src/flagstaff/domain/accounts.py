"""Accounts: who may work here, and the rules for emails and passwords."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from flagstaff.domain.text import check_length, check_text

EMAIL_MAX_LENGTH = 254  # RFC 5321, 4.5.3.1.3: a path of 256 octets less its angle brackets
PASSWORD_MIN_LENGTH = 8
PASSWORD_MAX_LENGTH = 1024
TOKEN_LIFETIME = timedelta(hours=24)
RESET_LIFETIME = timedelta(minutes=30)
RESET_MAILS_PER_LIFETIME = 3


@dataclass(frozen=True, slots=True)
class Account:
    """One person's account; `password_hash` is an Argon2id string and never leaves the server."""

    id: UUID
    email: str
    password_hash: str
    created_at: datetime


def check_email(value: str) -> str:
    """An email address, trimmed; raises ValueError for what cannot be one. Compare addresses by `email_identity`."""
    value = check_length(check_text(value).strip(), 1, EMAIL_MAX_LENGTH)
    local, at, domain = value.rpartition("@")
    if not (local and at and domain) or "@" in local or any(c.isspace() or not c.isprintable() for c in value):
        raise ValueError("must be an email address such as ada@example.com")
    if domain.startswith(".") or domain.endswith(".") or ".." in domain:
        raise ValueError("must be an email address such as ada@example.com")
    return value


def email_identity(email: str) -> str:
    """The form by which addresses are the same address: without case."""
    return email.lower()


def check_password(value: str) -> str:
    """A password: 8 to 1,024 characters, any Unicode."""
    return check_length(check_text(value), PASSWORD_MIN_LENGTH, PASSWORD_MAX_LENGTH)
