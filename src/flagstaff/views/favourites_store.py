"""The favourites of accounts in the database."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.database import tables

_columns = tables.favourites.c
_own = sa.and_(_columns.account_id == sa.bindparam("account"), _columns.project_id == sa.bindparam("project"))
_keys = sa.select(_columns.flag_key).where(_own).order_by(_columns.flag_key)
_flags = (
    sa.select(tables.flags.c.id)
    .join(tables.environments)
    .where(tables.environments.c.project_id == sa.bindparam("project"), tables.flags.c.key == sa.bindparam("key"))
    .limit(1)
)
_insert = tables.favourites.insert()
_delete = tables.favourites.delete().where(_own, _columns.flag_key == sa.bindparam("key"))


async def list_favourites(connection: AsyncConnection, account_id: UUID, project_id: UUID) -> Sequence[str]:
    """The keys of an account's favourites in a project, in the order of the database."""
    return (await connection.execute(_keys, {"account": account_id, "project": project_id})).scalars().all()


async def has_flag(connection: AsyncConnection, project_id: UUID, key: str) -> bool:
    """Return whether an environment of a project has a flag with a key, archived or not."""
    return (await connection.execute(_flags, {"project": project_id, "key": key})).first() is not None


async def add_favourite(
    connection: AsyncConnection, account_id: UUID, project_id: UUID, key: str, now: datetime
) -> None:
    """Insert a favourite that the account does not have."""
    row = {"account_id": account_id, "project_id": project_id, "flag_key": key, "created_at": now}
    await connection.execute(_insert, row)


async def remove_favourite(connection: AsyncConnection, account_id: UUID, project_id: UUID, key: str) -> None:
    """Delete a favourite, if the account has it."""
    await connection.execute(_delete, {"account": account_id, "project": project_id, "key": key})
