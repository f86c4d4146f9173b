"""Codes as second factors of accounts, whether the instance demands one, failed proofs, and challenges."""

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection
from uuid_utils.compat import uuid7

from flagstaff.database import tables
from flagstaff.database.resources import Resource
from flagstaff.identity.second_factors.second_factors import Purpose, TotpSecret

_totp = tables.totp_secrets
_codes = tables.recovery_codes
_failures = tables.second_factor_failures
_challenges = tables.challenges
_SECRETS = Resource(TotpSecret, _totp)


def has_factor(account_id: sa.ColumnElement[UUID]) -> sa.ColumnElement[bool]:
    """Return the condition that an account has a second factor, or that only its identity provider can open it."""
    return (
        sa.exists().where(_totp.c.account_id == account_id, _totp.c.confirmed_at.is_not(None))
        | sa.exists().where(tables.passkeys.c.account_id == account_id)
        | sa.exists().where(tables.identities.c.account_id == account_id, tables.identities.c.is_only_way)
    )


DEMAND_SETTING = "demands_second_factor"
"""The name of the instance's setting."""
_settings = tables.instance_settings.c
chosen_demand = sa.select(_settings.value).where(_settings.name == DEMAND_SETTING).scalar_subquery()
"""The value of the setting, which every request to `/api` reads with the account of its token."""

_has_factor = sa.select(has_factor(sa.bindparam("account", type_=sa.Uuid)))


class Challenge(NamedTuple):
    """A challenge: its purpose, and the account and the stamp of its password as far as the purpose needs them."""

    purpose: Purpose
    account_id: UUID | None
    stamp: str | None


async def find_totp(connection: AsyncConnection, account_id: UUID) -> TotpSecret | None:
    """An account's secret for codes, confirmed or not."""
    query = _SECRETS.select().where(_totp.c.account_id == account_id)
    row = (await connection.execute(query)).one_or_none()
    return _SECRETS.read(row) if row else None


async def save_totp(connection: AsyncConnection, secret: TotpSecret) -> None:
    """Write an account's secret for codes, new or changed. Lock the account first."""
    await delete_totp(connection, secret.account_id)
    await connection.execute(_totp.insert(), _SECRETS.row(secret))


async def has_second_factor(connection: AsyncConnection, account_id: UUID) -> bool:
    """Return whether an account has a second factor."""
    return bool((await connection.execute(_has_factor, {"account": account_id})).scalar_one())


async def count_recovery_codes(connection: AsyncConnection, account_id: UUID) -> int:
    """Count the recovery codes that an account has left."""
    query = sa.select(sa.func.count()).where(_codes.c.account_id == account_id)
    return int((await connection.execute(query)).scalar_one())


async def replace_recovery_codes(connection: AsyncConnection, account_id: UUID, hashes: Iterable[bytes]) -> None:
    """Replace all recovery codes of an account. Only their hashes are stored."""
    await connection.execute(_codes.delete().where(_codes.c.account_id == account_id))
    rows = [{"account_id": account_id, "code_hash": each} for each in hashes]
    if rows:
        await connection.execute(_codes.insert(), rows)


async def list_recovery_codes(connection: AsyncConnection, account_id: UUID) -> list[bytes]:
    """The hashes of the recovery codes that an account has left."""
    query = sa.select(_codes.c.code_hash).where(_codes.c.account_id == account_id)
    return list((await connection.execute(query)).scalars())


async def replace_recovery_code(connection: AsyncConnection, account_id: UUID, present: bytes, new: bytes) -> None:
    """Replace the hash of a recovery code of an account, unless it has been spent."""
    of_code = (_codes.c.account_id == account_id, _codes.c.code_hash == present)
    await connection.execute(_codes.update().where(*of_code).values(code_hash=new))


async def spend_recovery_code(connection: AsyncConnection, account_id: UUID, hashes: Collection[bytes]) -> bool:
    """Delete a recovery code of an account; False if there is none with one of these hashes."""
    deleted = await connection.execute(
        _codes.delete().where(_codes.c.account_id == account_id, _codes.c.code_hash.in_(hashes))
    )
    return deleted.rowcount > 0


async def list_failures(connection: AsyncConnection, account_id: UUID, since: datetime) -> list[datetime]:
    """Return the times at which proofs of an account failed since a moment, oldest first."""
    columns = _failures.c
    query = sa.select(columns.at).where(columns.account_id == account_id, columns.at > since).order_by(columns.at)
    return list((await connection.execute(query)).scalars())


async def record_failure(connection: AsyncConnection, account_id: UUID, now: datetime) -> None:
    """Store that a proof of an account failed."""
    await connection.execute(_failures.insert().values(id=uuid7(), account_id=account_id, at=now))


async def delete_failures(connection: AsyncConnection, until: datetime) -> None:
    """Delete the failures of every account at or before a moment."""
    await connection.execute(_failures.delete().where(_failures.c.at <= until))


async def create_challenge(
    connection: AsyncConnection, token_hash: bytes, challenge: Challenge, *, expires_at: datetime
) -> None:
    """Write a challenge. Only the token's hash is stored."""
    await connection.execute(
        _challenges.insert().values(token_hash=token_hash, expires_at=expires_at, **challenge._asdict())
    )


async def find_challenge(
    connection: AsyncConnection, token_hash: bytes, purpose: Purpose, now: datetime
) -> Challenge | None:
    """The challenge with this token for a purpose, unless it has been used or has expired."""
    columns = _challenges.c
    query = sa.select(columns.account_id, columns.stamp).where(
        columns.token_hash == token_hash, columns.purpose == purpose, columns.expires_at > now
    )
    row = (await connection.execute(query)).one_or_none()
    return Challenge(purpose, *row) if row else None


async def spend_challenge(connection: AsyncConnection, token_hash: bytes) -> bool:
    """End a challenge; False if it has been ended before."""
    return (await connection.execute(_challenges.delete().where(_challenges.c.token_hash == token_hash))).rowcount > 0


async def delete_expired_challenges(connection: AsyncConnection, now: datetime) -> None:
    """Delete the challenges of every account that have expired."""
    await connection.execute(_challenges.delete().where(_challenges.c.expires_at <= now))


async def delete_totp(connection: AsyncConnection, account_id: UUID) -> None:
    """Delete an account's secret for codes."""
    await connection.execute(_totp.delete().where(_totp.c.account_id == account_id))


async def delete_second_factors(connection: AsyncConnection, account_id: UUID) -> None:
    """Delete everything that an account's second factors consist of, and its open challenges and failures."""
    for table in (_totp, tables.passkeys, _codes, _failures, _challenges):
        await connection.execute(table.delete().where(table.c.account_id == account_id))
