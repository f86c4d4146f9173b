"""The audit trails of projects that do not exist any more: which there are, and their deletion, some rows at a time."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.audit.deleted_projects import DeletedProject
from flagstaff.database import tables
from flagstaff.database.windows import Listing
from flagstaff.values.lists import Window

_columns = tables.changes.c
_first = sa.select(_columns.project_id.label("project")).where(_columns.project_id.is_not(None))
_first = _first.order_by(_columns.project_id).limit(1)
# From each project to the next one in the index: a list of all different ones would read all of the index.
_projects = sa.select(_first.subquery().c.project).cte("trails", recursive=True)
_next = sa.select(_columns.project_id).where(_columns.project_id > _projects.c.project)
_projects = _projects.union_all(
    sa.select(_next.order_by(_columns.project_id).limit(1).correlate(_projects).scalar_subquery()).where(
        _projects.c.project.is_not(None)
    )
)
_latest = (
    sa.select(_columns.id)
    .where(_columns.project_id == _projects.c.project)
    .order_by(_columns.id.desc())
    .limit(1)
    .correlate(_projects)
    .scalar_subquery()
)
_exists = sa.exists().where(tables.projects.c.id == _columns.project_id).correlate(tables.changes)
# The last change of each project that does not exist any more: its deletion.
_deletions = sa.select(_columns.project_id).join(_projects, _columns.id == _latest).where(~_exists)
_ended = _deletions.where(_columns.at < sa.bindparam("before", type_=tables.Moment))

TRAIL_DELETED = "instance.trail_deleted"
"""The change by which an administrator orders to delete the trail of a deleted project at once."""
_orders = tables.changes.alias("orders")
_ordered_at = (
    sa.select(_orders.c.at)
    .where(_orders.c.resource_id == _columns.project_id, _orders.c.action == TRAIL_DELETED)
    .order_by(_orders.c.id)
    .limit(1)
    .correlate(tables.changes)
    .scalar_subquery()
)
_of_ordered = sa.exists().where(_columns.project_id == _orders.c.resource_id).correlate(_orders)
_is_present = sa.exists().where(tables.projects.c.id == _orders.c.resource_id).correlate(_orders)
_ordered = (
    sa.select(_orders.c.resource_id)
    .where(_orders.c.project_id.is_(None), _orders.c.action == TRAIL_DELETED, _of_ordered, ~_is_present)
    .order_by(_orders.c.id)
)
_shown = (_columns.at, _columns.before, sa.type_coerce(_ordered_at, tables.Moment).label("ordered_at"))
_listed = Listing(_deletions.add_columns(*_shown), (_columns.at, _columns.project_id), descending=True)
_one = (
    sa.select(_columns.project_id, *_shown)
    .where(_columns.project_id == sa.bindparam("project"), ~_exists)
    .order_by(_columns.id.desc())
    .limit(1)
)


async def list_ended_projects(connection: AsyncConnection, before: datetime) -> Sequence[UUID]:
    """The projects that do not exist any more, and whose last change, their deletion, was before a moment."""
    return (await connection.execute(_ended, {"before": before})).scalars().all()


async def list_ordered_projects(connection: AsyncConnection) -> Sequence[UUID]:
    """The projects that do not exist any more, and whose trail is to be deleted at once."""
    return (await connection.execute(_ordered)).scalars().all()


async def list_deleted_projects(connection: AsyncConnection, window: Window) -> list[DeletedProject]:
    """The projects that do not exist any more, and have a trail, the last deleted first."""
    return [_read(row) for row in await _listed.rows(connection, window, {})]


async def find_deleted_project(connection: AsyncConnection, project_id: UUID) -> DeletedProject | None:
    """One of them."""
    row = (await connection.execute(_one, {"project": project_id})).one_or_none()
    return None if row is None else _read(row)


async def delete_changes(connection: AsyncConnection, project_id: UUID, limit: int) -> bool:
    """Delete some of the changes of a project; return whether there may be more."""
    first = sa.select(_columns.id).where(_columns.project_id == project_id).order_by(_columns.id).limit(limit)
    deleted = await connection.execute(tables.changes.delete().where(_columns.id.in_(first)))
    return deleted.rowcount == limit


def _read(row: Any) -> DeletedProject:
    name = (row.before or {}).get("name")
    return DeletedProject(row.project_id, name or str(row.project_id), row.at, row.ordered_at)
