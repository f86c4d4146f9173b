"""Passkeys of accounts in the database."""

from datetime import datetime
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.database import tables
from flagstaff.database.driver_errors import unique_or
from flagstaff.database.resources import Resource
from flagstaff.identity.second_factors.passkeys import Passkey

_columns = tables.passkeys.c
_PASSKEYS = Resource(Passkey, tables.passkeys)
_passkey = _PASSKEYS.select()


async def create_passkey(connection: AsyncConnection, passkey: Passkey) -> None:
    """Write a new passkey; raises Error CONFLICT if it is registered already, with any account."""
    with unique_or("This passkey is registered already.", tables.passkeys.c.credential_id):
        await connection.execute(tables.passkeys.insert(), _PASSKEYS.row(passkey))


async def list_passkeys(connection: AsyncConnection, account_id: UUID) -> list[Passkey]:
    """The passkeys of an account, oldest first."""
    query = _passkey.where(_columns.account_id == account_id).order_by(_columns.created_at, _columns.id)
    return [_PASSKEYS.read(row) for row in await connection.execute(query)]


async def find_passkey_by_credential(connection: AsyncConnection, credential_id: bytes) -> Passkey | None:
    """The passkey that an authenticator knows by this id, if it is registered."""
    row = (await connection.execute(_passkey.where(_columns.credential_id == credential_id))).one_or_none()
    return _PASSKEYS.read(row) if row else None


async def record_use(connection: AsyncConnection, passkey_id: UUID, sign_count: int, now: datetime) -> None:
    """Store that a passkey was used, and its counter."""
    statement = tables.passkeys.update().where(_columns.id == passkey_id)
    await connection.execute(statement.values(sign_count=sign_count, last_used_at=now))


async def delete_passkey(connection: AsyncConnection, account_id: UUID, passkey_id: UUID) -> bool:
    """Delete a passkey of an account; False if there is none with this id."""
    statement = tables.passkeys.delete().where(_columns.account_id == account_id, _columns.id == passkey_id)
    return (await connection.execute(statement)).rowcount > 0
