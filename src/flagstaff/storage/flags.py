"""Flags in the database."""

from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.domain.errors import not_found
from flagstaff.domain.flags import Flag
from flagstaff.storage import tables
from flagstaff.storage.database import unique_or

_columns = tables.flags.c
_flag = sa.select(
    _columns.id,
    tables.environments.c.project_id,
    _columns.environment_id,
    _columns.name,
    _columns.key,
    _columns.description,
    _columns.enabled,
    _columns.rollout_percentage,
    _columns.created_at,
    _columns.updated_at,
).join(tables.environments, tables.environments.c.id == _columns.environment_id)


async def create_flag(connection: AsyncConnection, flag: Flag) -> None:
    """Write a new flag; raises Error CONFLICT if the environment has one with this key."""
    values = {
        "id": flag.id,
        "environment_id": flag.environment_id,
        "name": flag.name,
        "key": flag.key,
        "description": flag.description,
        "enabled": flag.enabled,
        "rollout_percentage": flag.rollout_percentage,
        "created_at": flag.created_at,
        "updated_at": flag.updated_at,
    }
    with unique_or(f"The environment has a flag with the key {flag.key} already."):
        await connection.execute(tables.flags.insert().values(values))


async def get_flag(connection: AsyncConnection, project_id: UUID, environment_id: UUID, flag_id: UUID) -> Flag:
    """The flag of an environment of a project; raises Error NOT_FOUND."""
    query = _flag.where(
        _columns.id == flag_id,
        _columns.environment_id == environment_id,
        tables.environments.c.project_id == project_id,
    )
    row = (await connection.execute(query)).one_or_none()
    if row is None:
        raise not_found("flag")
    return Flag(*tuple(row))


async def list_flags(connection: AsyncConnection, environment_id: UUID) -> list[Flag]:
    """The flags of an environment, newest first."""
    query = _flag.where(_columns.environment_id == environment_id)
    rows = await connection.execute(query.order_by(_columns.created_at.desc(), _columns.id.desc()))
    return [Flag(*tuple(row)) for row in rows]


async def update_flag(connection: AsyncConnection, flag: Flag) -> None:
    """Write a flag's changeable fields."""
    await connection.execute(
        tables.flags.update()
        .where(_columns.id == flag.id)
        .values(
            name=flag.name,
            description=flag.description,
            enabled=flag.enabled,
            rollout_percentage=flag.rollout_percentage,
            updated_at=flag.updated_at,
        )
    )


async def delete_flag(connection: AsyncConnection, flag_id: UUID) -> None:
    """Delete a flag with its rules."""
    await connection.execute(tables.flags.delete().where(_columns.id == flag_id))
