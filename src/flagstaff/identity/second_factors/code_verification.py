"""Proofs of second factors: codes of an authenticator app and recovery codes, each accepted once.

Everything is decided while the account is locked, so neither two requests nor two instances accept the same code.
"""

import hmac
from dataclasses import dataclass, replace
from datetime import datetime
from math import ceil
from uuid import UUID

import structlog

from flagstaff.database.database import Connection
from flagstaff.identity.second_factors import second_factors_store
from flagstaff.identity.second_factors.sealing import Sealer
from flagstaff.identity.second_factors.second_factors import (
    FAILURES_COUNTED_FOR,
    FAILURES_MAX,
    Method,
    TotpSecret,
    time_steps,
)
from flagstaff.values.errors import Code, Error, invalid_field

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class CodeProof:
    """A proof of a second factor: a code of six digits, or a recovery code without hyphens, with its hashes."""

    method: Method
    code: str
    hashes: tuple[bytes, ...] = ()

    def refusal(self) -> Error:
        """The error for a proof that was not accepted."""
        if self.method is Method.TOTP:
            return invalid_field("code", "is wrong, has expired or has been used; enter the next code of your app")
        return invalid_field("recovery_code", "is wrong or has been used")


async def accept(
    connection: Connection,
    sealer: Sealer,
    account_id: UUID,
    proof: CodeProof,
    now: datetime,
    *,
    is_enrolling: bool = False,
) -> bool:
    """Accept a proof and make it unusable; otherwise store that it failed. Lock the account first.

    An app that is not confirmed counts only while it is enrolled.

    The caller must commit in both cases.

    Raises:
        Error: LIMITED if too many proofs of the account have failed; then the proof is not looked at.
    """
    await require_few_failures(connection, account_id, now)
    if proof.method is Method.RECOVERY_CODE:
        is_right = await second_factors_store.spend_recovery_code(connection, account_id, proof.hashes)
    else:
        is_right = await _accept_code(connection, sealer, account_id, proof.code, now, is_enrolling=is_enrolling)
    if not is_right:
        await second_factors_store.record_failure(connection, account_id, now)
    return is_right


async def require_few_failures(connection: Connection, account_id: UUID, now: datetime) -> None:
    """Raise Error LIMITED if too many proofs of the account have failed."""
    failures = await second_factors_store.list_failures(connection, account_id, now - FAILURES_COUNTED_FOR)
    if len(failures) >= FAILURES_MAX:
        wait = failures[-FAILURES_MAX] + FAILURES_COUNTED_FOR - now
        raise Error(
            Code.LIMITED,
            f"{FAILURES_MAX} codes for this account were wrong within an hour. Try again later.",
            retry_after_seconds=ceil(wait.total_seconds()),
        )


async def _accept_code(
    connection: Connection, sealer: Sealer, account_id: UUID, code: str, now: datetime, *, is_enrolling: bool
) -> bool:
    secret = await second_factors_store.find_totp(connection, account_id)
    if secret is None or (secret.confirmed_at is None) is not is_enrolling:
        return False
    step = _matching_step(sealer, secret, code, now)
    if step is None:
        return False
    await second_factors_store.save_totp(connection, replace(secret, last_step=step))
    return True


def _matching_step(sealer: Sealer, secret: TotpSecret, code: str, now: datetime) -> int | None:
    """The time step of a code that is right now and later than every code before; None if it is not."""
    opened = sealer.open(secret.sealed, secret.account_id.bytes)
    if opened is None:
        advice = "the secret key has changed; use a recovery code, or run: flagstaff users reset-two-factor EMAIL"
        log.error("totp_secret_unreadable", account_id=str(secret.account_id), advice=advice)
        return None
    import pyotp  # noqa: PLC0415 -- 1 MB, only for accounts with an app

    totp = pyotp.TOTP(opened.decode())
    for step in time_steps(now):
        is_new = secret.last_step is None or step > secret.last_step
        if is_new and hmac.compare_digest(totp.generate_otp(step), code):
            return step
    return None
