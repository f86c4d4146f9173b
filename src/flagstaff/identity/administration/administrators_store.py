"""The instance's administrators in the database."""

from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.database import dialect, tables

_FIRST_ACCOUNT = "first_account"
_columns = tables.accounts.c
_active = sa.select(_columns.id).where(_columns.is_administrator, _columns.deactivated_at.is_(None))
# In one order, so that transactions that change several of them do not wait for each other in a circle. The weaker lock
# does not conflict with those of rows that refer to the accounts.
_lock = _active.order_by(_columns.id).with_for_update(key_share=True)
_claim = dialect.upsert(tables.instance_settings, lambda insert: insert.on_conflict_do_nothing())


async def lock_administrators(connection: AsyncConnection) -> set[UUID]:
    """The active administrators, who stay so until the transaction ends."""
    return set((await connection.execute(_lock)).scalars())


async def list_administrators(connection: AsyncConnection) -> list[str]:
    """The addresses of the active administrators."""
    query = sa.select(_columns.email).where(_columns.is_administrator, _columns.deactivated_at.is_(None))
    return list((await connection.execute(query.order_by(_columns.id))).scalars())


async def is_administrator(connection: AsyncConnection, account_id: UUID) -> bool:
    """Return whether an account is an active administrator."""
    query = _active.where(_columns.id == account_id)
    return (await connection.execute(query)).one_or_none() is not None


async def set_administrator(connection: AsyncConnection, account_id: UUID, *, is_administrator: bool) -> None:
    """Make an account an administrator, or not one any more."""
    statement = tables.accounts.update().where(_columns.id == account_id)
    await connection.execute(statement.values(is_administrator=is_administrator))


async def claim_first_account(connection: AsyncConnection, account_id: UUID) -> bool:
    """Return whether an account that will be created is the first of the instance.

    If several are created at once, the others wait for the first one.
    """
    if (await connection.execute(sa.select(_columns.id).limit(1))).one_or_none() is not None:
        return False
    claimed = await connection.execute(_claim(connection), {"name": _FIRST_ACCOUNT, "value": str(account_id)})
    return bool(claimed.rowcount)
