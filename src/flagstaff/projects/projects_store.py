"""Projects in the database."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.database import tables
from flagstaff.database.resources import Resource
from flagstaff.database.revisions_store import record_found
from flagstaff.database.windows import Listing, containing
from flagstaff.permissions.members import Role
from flagstaff.projects.projects import ListedProject, Project
from flagstaff.values.lists import WHOLE, Window

_columns = tables.projects.c
_PROJECTS = Resource(Project, tables.projects, fixed=frozenset({"owner_id"}))
_project = _PROJECTS.select()
# Statements are built once, because SQLAlchemy takes longer to build a statement than to run it.
_insert = tables.projects.insert()
_insert_owner = tables.members.insert()
_by_id = _project.where(_columns.id == sa.bindparam("project"))
_by_id_for_update = _by_id.add_columns(_columns.revision).with_for_update()
_of_member = Listing(
    _project.join(tables.members).where(tables.members.c.account_id == sa.bindparam("account")),
    (_columns.created_at, _columns.id),
    descending=True,
)
_own = tables.members.alias()
_of_all = Listing(
    _project.add_columns(tables.accounts.c.email, _own.c.role)
    .join_from(tables.projects, tables.accounts, tables.accounts.c.id == _columns.owner_id)
    .outerjoin(_own, (_own.c.project_id == _columns.id) & (_own.c.account_id == sa.bindparam("account")))
    .where(sa.func.lower(_columns.name).like(sa.func.lower(sa.bindparam("like", type_=sa.Text)), escape="\\")),
    (_columns.created_at, _columns.id),
    descending=True,
)
_count = sa.select(sa.func.count()).where(_columns.owner_id == sa.bindparam("owner"))
_update = tables.projects.update().where(_columns.id == sa.bindparam("project"))
_delete = tables.projects.delete().where(_columns.id == sa.bindparam("project"))


async def create_project(connection: AsyncConnection, project: Project) -> None:
    """Insert a project, whose owner becomes its first member."""
    await connection.execute(_insert, _PROJECTS.row(project))
    owner = {"project_id": project.id, "account_id": project.owner_id, "role": Role.OWNER}
    await connection.execute(_insert_owner, {**owner, "created_at": project.created_at})


async def find_project(connection: AsyncConnection, project_id: UUID) -> Project | None:
    """The project with this id, if there is one."""
    row = (await connection.execute(_by_id, {"project": project_id})).one_or_none()
    return _PROJECTS.read(row) if row else None


async def find_project_for_update(connection: AsyncConnection, project_id: UUID) -> Project | None:
    """The project with this id, if there is one, locked until the transaction ends.

    Every write to a project begins here, so that writes to the same project are serialized. They cannot deadlock, and
    the rows of `changes` are in the order of the commits.
    """
    found = await _lock(connection, project_id)
    return found[0] if found else None


async def open_project_for_update(connection: AsyncConnection, project_id: UUID) -> Project | None:
    """The same for a use case that may change what is evaluated: its transaction returns when what it found is served.

    The state may have been committed by another request, or another instance, which is still making it known.
    """
    found = await _lock(connection, project_id)
    if found is None:
        return None
    project, revision = found
    record_found(connection, project_id, revision)
    return project


async def _lock(connection: AsyncConnection, project_id: UUID) -> tuple[Project, int] | None:
    """A project and its revision."""
    row = (await connection.execute(_by_id_for_update, {"project": project_id})).one_or_none()
    if row is None:
        return None
    return _PROJECTS.read(row), row.revision


async def list_projects(connection: AsyncConnection, account_id: UUID, window: Window = WHOLE) -> Iterator[Project]:
    """An account's projects, newest first, by the time of their creation and their id; converted when read."""
    rows = await _of_member.rows(connection, window, {"account": account_id})
    return map(_PROJECTS.read, rows)


async def list_all_projects(
    connection: AsyncConnection, account_id: UUID, name: str, window: Window = WHOLE
) -> list[ListedProject]:
    """The projects of all accounts whose name contains a text, ignoring case, as an administrator sees them.

    Newest first, by the time of their creation and their id. SQLite ignores the case of ASCII letters only.
    """
    rows = await _of_all.rows(connection, window, {"account": account_id, "like": containing(name)})
    return [_as_listed(row) for row in rows]


def _as_listed(row: sa.Row[Any]) -> ListedProject:
    email, role = tuple(row)[-2:]
    return ListedProject(replace(_PROJECTS.read(row), sdk_key=None), email, Role(role) if role else None)


async def list_ids(connection: AsyncConnection) -> Sequence[UUID]:
    """The ids of all projects, oldest first."""
    query = sa.select(tables.projects.c.id).order_by(tables.projects.c.created_at, tables.projects.c.id)
    return (await connection.execute(query)).scalars().all()


async def count_projects(connection: AsyncConnection, owner_id: UUID) -> int:
    """Count the projects that count against an account's quota: the projects of which it is the first owner."""
    return int((await connection.execute(_count, {"owner": owner_id})).scalar_one())


async def update_project(connection: AsyncConnection, project: Project) -> None:
    """Update a project's mutable fields."""
    await connection.execute(_update, {"project": project.id, **_PROJECTS.changes(project)})


async def set_owner(connection: AsyncConnection, project_id: UUID, account_id: UUID) -> None:
    """Set the account against whose quota a project counts."""
    await connection.execute(_update, {"project": project_id, "owner_id": account_id})


async def delete_project(connection: AsyncConnection, project_id: UUID) -> None:
    """Delete a project with its environments, flags and rules."""
    await connection.execute(_delete, {"project": project_id})


async def list_sdk_keys(connection: AsyncConnection) -> list[tuple[str, UUID]]:
    """All SDK keys with the ids of their projects."""
    return [(row.sdk_key, row.id) for row in await connection.execute(sa.select(_columns.sdk_key, _columns.id))]
