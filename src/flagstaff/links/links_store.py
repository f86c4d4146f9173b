"""Links of projects in the database."""

from collections.abc import Sequence
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.database import tables
from flagstaff.database.resources import Resource
from flagstaff.links.links import Link
from flagstaff.values.errors import not_found

_columns = tables.links.c
_LINKS = Resource(Link, tables.links)
_in_project = _LINKS.select().where(_columns.project_id == sa.bindparam("project"))
_by_age = _in_project.order_by(_columns.created_at, _columns.id)
_by_id = _in_project.where(_columns.id == sa.bindparam("link"))


async def create_link(connection: AsyncConnection, link: Link) -> None:
    """Insert a link."""
    await connection.execute(tables.links.insert(), _LINKS.row(link))


async def get_link(connection: AsyncConnection, project_id: UUID, link_id: UUID) -> Link:
    """Return the link with this id in a project; raises Error NOT_FOUND."""
    row = (await connection.execute(_by_id, {"project": project_id, "link": link_id})).one_or_none()
    if row is None:
        raise not_found("link")
    return _LINKS.read(row)


async def list_links(connection: AsyncConnection, project_id: UUID) -> Sequence[Link]:
    """Return the links of a project, oldest first."""
    return list(map(_LINKS.read, await connection.execute(_by_age, {"project": project_id})))


async def delete_link(connection: AsyncConnection, link_id: UUID) -> None:
    """Delete a link."""
    await connection.execute(tables.links.delete().where(_columns.id == link_id))
