"""Projects in the database."""

from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.domain.projects import Project
from flagstaff.storage import tables

_columns = tables.projects.c
_project = sa.select(
    _columns.id,
    _columns.owner_id,
    _columns.name,
    _columns.description,
    _columns.sdk_key,
    _columns.created_at,
    _columns.updated_at,
)


async def create_project(connection: AsyncConnection, project: Project) -> None:
    """Write a new project."""
    await connection.execute(
        tables.projects.insert().values(
            id=project.id,
            owner_id=project.owner_id,
            name=project.name,
            description=project.description,
            sdk_key=project.sdk_key,
            created_at=project.created_at,
            updated_at=project.updated_at,
        )
    )


async def find_project(connection: AsyncConnection, project_id: UUID) -> Project | None:
    """The project with this id."""
    row = (await connection.execute(_project.where(_columns.id == project_id))).one_or_none()
    return Project(*row) if row else None


async def find_project_for_update(connection: AsyncConnection, project_id: UUID) -> Project | None:
    """The project with this id, locked until the transaction ends.

    Every write inside a project begins here, so that the writes of one project follow one another: none deadlocks,
    and the rows of `changes` stand in the order of the commits.
    """
    row = (await connection.execute(_project.where(_columns.id == project_id).with_for_update())).one_or_none()
    return Project(*row) if row else None


async def list_projects(connection: AsyncConnection, owner_id: UUID) -> list[Project]:
    """The projects of an account, newest first."""
    query = _project.where(_columns.owner_id == owner_id).order_by(_columns.created_at.desc(), _columns.id.desc())
    return [Project(*row) for row in await connection.execute(query)]


async def update_project(connection: AsyncConnection, project: Project) -> None:
    """Write a project's changeable fields."""
    await connection.execute(
        tables.projects.update()
        .where(_columns.id == project.id)
        .values(
            name=project.name,
            description=project.description,
            sdk_key=project.sdk_key,
            updated_at=project.updated_at,
        )
    )


async def delete_project(connection: AsyncConnection, project_id: UUID) -> None:
    """Delete a project with its environments, flags and rules."""
    await connection.execute(tables.projects.delete().where(_columns.id == project_id))


async def list_sdk_keys(connection: AsyncConnection) -> list[tuple[str, UUID]]:
    """Every SDK key with its project."""
    return [(row.sdk_key, row.id) for row in await connection.execute(sa.select(_columns.sdk_key, _columns.id))]
