"""Accounts and password resets in the database."""

from datetime import datetime
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.domain.accounts import Account, email_identity
from flagstaff.storage import tables
from flagstaff.storage.database import unique_or

_columns = tables.accounts.c
_account = sa.select(_columns.id, _columns.email, _columns.password_hash, _columns.created_at)
_by_id = _account.where(_columns.id == sa.bindparam("account"))  # with every request


async def create_account(connection: AsyncConnection, account: Account) -> None:
    """Write a new account; raises Error CONFLICT if the email is taken."""
    values = {
        "id": account.id,
        "email": account.email,
        "email_identity": email_identity(account.email),
        "password_hash": account.password_hash,
        "created_at": account.created_at,
    }
    with unique_or("An account with this email exists already."):
        await connection.execute(tables.accounts.insert().values(values))


async def find_account(connection: AsyncConnection, account_id: UUID) -> Account | None:
    """The account with this id."""
    row = (await connection.execute(_by_id, {"account": account_id})).one_or_none()
    return Account(*row) if row else None


async def find_account_by_email(connection: AsyncConnection, email: str) -> Account | None:
    """The account with this email, compared without case."""
    row = (await connection.execute(_account.where(_columns.email_identity == email_identity(email)))).one_or_none()
    return Account(*row) if row else None


async def set_password_hash(connection: AsyncConnection, account_id: UUID, password_hash: str) -> None:
    """Replace an account's password."""
    await connection.execute(
        tables.accounts.update().where(_columns.id == account_id).values(password_hash=password_hash)
    )


async def lock_account(connection: AsyncConnection, account_id: UUID) -> None:
    """Wait for every other transaction that has locked this account."""
    await connection.execute(sa.select(_columns.id).where(_columns.id == account_id).with_for_update())


async def count_resets_since(connection: AsyncConnection, account_id: UUID, since: datetime) -> int:
    """How many reset links were made for an account since a moment."""
    resets = tables.password_resets.c
    query = sa.select(sa.func.count()).where(resets.account_id == account_id, resets.created_at > since)
    return int((await connection.execute(query)).scalar_one())


async def create_reset(
    connection: AsyncConnection, *, token_hash: bytes, account_id: UUID, created_at: datetime, expires_at: datetime
) -> None:
    """Write a reset link, of which only the token's hash is kept."""
    await connection.execute(
        tables.password_resets.insert().values(
            token_hash=token_hash, account_id=account_id, created_at=created_at, expires_at=expires_at
        )
    )


async def find_reset_account(connection: AsyncConnection, token_hash: bytes, now: datetime) -> UUID | None:
    """The account whose unspent, unexpired reset link this is."""
    resets = tables.password_resets.c
    query = sa.select(resets.account_id).where(
        resets.token_hash == token_hash, resets.spent_at.is_(None), resets.expires_at > now
    )
    return (await connection.execute(query)).scalar_one_or_none()


async def spend_resets(connection: AsyncConnection, account_id: UUID, now: datetime) -> None:
    """Spend every outstanding reset link of an account."""
    resets = tables.password_resets.c
    await connection.execute(
        tables.password_resets.update()
        .where(resets.account_id == account_id, resets.spent_at.is_(None))
        .values(spent_at=now)
    )


async def delete_resets_before(connection: AsyncConnection, moment: datetime) -> None:
    """Forget the reset links that expired before a moment."""
    await connection.execute(tables.password_resets.delete().where(tables.password_resets.c.expires_at < moment))
