"""Environments in the database."""

from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.domain.errors import not_found
from flagstaff.domain.projects import Environment
from flagstaff.storage import tables
from flagstaff.storage.database import unique_or

_columns = tables.environments.c
_environment = sa.select(_columns.id, _columns.project_id, _columns.name, _columns.key, _columns.created_at)


async def create_environment(connection: AsyncConnection, environment: Environment) -> None:
    """Write a new environment; raises Error CONFLICT if the project has one with this key."""
    values = {
        "id": environment.id,
        "project_id": environment.project_id,
        "name": environment.name,
        "key": environment.key,
        "created_at": environment.created_at,
    }
    with unique_or(f"The project has an environment with the key {environment.key} already."):
        await connection.execute(tables.environments.insert().values(values))


async def find_environment(connection: AsyncConnection, project_id: UUID, environment_id: UUID) -> Environment | None:
    """The environment of a project, if it has it."""
    query = _environment.where(_columns.id == environment_id, _columns.project_id == project_id)
    row = (await connection.execute(query)).one_or_none()
    return Environment(*row) if row else None


async def get_environment(connection: AsyncConnection, project_id: UUID, environment_id: UUID) -> Environment:
    """The environment of a project; raises Error NOT_FOUND."""
    environment = await find_environment(connection, project_id, environment_id)
    if environment is None:
        raise not_found("environment")
    return environment


async def list_environments(connection: AsyncConnection, project_id: UUID) -> list[Environment]:
    """The environments of a project, newest first."""
    query = _environment.where(_columns.project_id == project_id)
    rows = await connection.execute(query.order_by(_columns.created_at.desc(), _columns.id.desc()))
    return [Environment(*row) for row in rows]


async def rename_environment(connection: AsyncConnection, environment_id: UUID, name: str) -> None:
    """Write an environment's name."""
    await connection.execute(tables.environments.update().where(_columns.id == environment_id).values(name=name))


async def delete_environment(connection: AsyncConnection, environment_id: UUID) -> None:
    """Delete an environment with its flags and rules."""
    await connection.execute(tables.environments.delete().where(_columns.id == environment_id))


async def list_environment_ids(connection: AsyncConnection) -> set[UUID]:
    """The ids of all environments of all projects."""
    return set((await connection.execute(sa.select(_columns.id))).scalars())
