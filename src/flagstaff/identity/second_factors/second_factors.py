"""Second factors: codes from an authenticator app (RFC 6238) and recovery codes, and the limits on guessing them."""

import re
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from uuid import UUID

from flagstaff.identity.second_factors.passkeys import Passkey

STEP_SECONDS = 30
STEPS_APART = 1  # how far the clocks of server and device may differ
RECOVERY_CODES = 10
CHALLENGE_LIFETIME = timedelta(minutes=5)
ENROLMENT_LIFETIME = timedelta(hours=1)
# Three of a million codes are right at a time, so guessing for a whole day succeeds with a probability of 0.07 %.
FAILURES_COUNTED_FOR = timedelta(hours=1)
FAILURES_MAX = 10

_CODE = re.compile("[0-9]{6}")
# Without letters and digits that are easily confused. A code has 79 random bits.
_ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"
_RECOVERY_CODE = re.compile(f"[{_ALPHABET}]{{16}}")


class Method(StrEnum):
    """A way to prove a second factor."""

    TOTP = "totp"
    PASSKEY = "passkey"
    RECOVERY_CODE = "recovery_code"


class Purpose(StrEnum):
    """The purpose of a challenge: the second step of a login, a login with a passkey alone, or a new passkey."""

    LOGIN = "login"
    PASSKEY = "passkey"
    REGISTRATION = "registration"


@dataclass(frozen=True, slots=True)
class TotpSecret:
    """The sealed secret that an account shares with an authenticator app.

    It counts once `confirmed_at` is set. `last_step` is the time step of the last code that was accepted: a code is
    accepted only if its step is later.
    """

    account_id: UUID
    sealed: bytes
    created_at: datetime
    confirmed_at: datetime | None
    last_step: int | None


@dataclass(frozen=True, slots=True)
class TwoFactorState:
    """The second factors of an account.

    `meets_demand` says whether it has one of them, or only its identity provider can open it.
    """

    totp_since: datetime | None
    passkeys: list[Passkey]
    recovery_codes_left: int
    meets_demand: bool


@dataclass(frozen=True, slots=True)
class Enrolment:
    """The secret for an authenticator app, in base32 and as the URI for a QR code."""

    secret: str
    uri: str


def check_code(value: str) -> str:
    """A code from an authenticator app."""
    if not _CODE.fullmatch(value):
        raise ValueError("must be six digits from 0 to 9")
    return value


def check_recovery_code(value: str) -> str:
    """A recovery code, in the form that is hashed; case, spaces and hyphens do not matter."""
    code = re.sub("[ -]", "", value).lower() if len(value) <= 64 else ""
    if not _RECOVERY_CODE.fullmatch(code):
        raise ValueError("must be a recovery code such as abcd-efgh-2345-6789")
    return code


def new_recovery_code() -> str:
    """A random recovery code, as it is shown."""
    code = "".join(secrets.choice(_ALPHABET) for _ in range(16))
    return "-".join(code[place : place + 4] for place in range(0, 16, 4))


def time_steps(now: datetime) -> range:
    """The time steps whose codes are accepted at a moment."""
    step = int(now.timestamp()) // STEP_SECONDS
    return range(step - STEPS_APART, step + STEPS_APART + 1)
