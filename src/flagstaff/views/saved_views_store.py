"""Saved views of projects in the database."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.database import tables
from flagstaff.database.driver_errors import unique_or
from flagstaff.database.resources import Resource
from flagstaff.values.errors import not_found
from flagstaff.views.saved_views import SavedView

_columns = tables.saved_views.c
_in_project = _columns.project_id == sa.bindparam("project")
_VIEWS = Resource(SavedView, tables.saved_views)
_view = _VIEWS.select().where(_in_project)
_by_name = _view.order_by(_columns.name, _columns.id)
_by_id = _view.where(_columns.id == sa.bindparam("view"))
_count = sa.select(sa.func.count()).where(_in_project)
_insert = tables.saved_views.insert()
_update = tables.saved_views.update().where(_columns.id == sa.bindparam("view"))
_delete = tables.saved_views.delete().where(_columns.id == sa.bindparam("view"))


async def create_view(connection: AsyncConnection, view: SavedView, creator_id: UUID | None) -> None:
    """Insert a view; raises Error CONFLICT if the project already has one with this name."""
    with _unique_name(view):
        await connection.execute(_insert, {**_VIEWS.row(view), "creator_id": creator_id})


async def get_view(connection: AsyncConnection, project_id: UUID, view_id: UUID) -> SavedView:
    """The view with this id in a project; raises Error NOT_FOUND."""
    row = (await connection.execute(_by_id, {"project": project_id, "view": view_id})).one_or_none()
    if row is None:
        raise not_found("view")
    return _VIEWS.read(row)


async def list_views(connection: AsyncConnection, project_id: UUID) -> Sequence[SavedView]:
    """The views of a project by name."""
    return list(map(_VIEWS.read, await connection.execute(_by_name, {"project": project_id})))


async def count_views(connection: AsyncConnection, project_id: UUID) -> int:
    """Count the views of a project."""
    return int((await connection.execute(_count, {"project": project_id})).scalar_one())


async def update_view(connection: AsyncConnection, view: SavedView) -> None:
    """Update a view; raises Error CONFLICT if the project already has one with its name."""
    with _unique_name(view):
        await connection.execute(_update, {"view": view.id, **_VIEWS.changes(view)})


async def delete_view(connection: AsyncConnection, view_id: UUID) -> None:
    """Delete a view."""
    await connection.execute(_delete, {"view": view_id})


def _unique_name(view: SavedView) -> AbstractContextManager[None]:
    return unique_or(
        f"The project already has a view with the name {view.name}.",
        tables.saved_views.c.project_id,
        tables.saved_views.c.name,
    )
