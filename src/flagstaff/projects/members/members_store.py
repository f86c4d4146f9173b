"""Members of projects in the database, with their roles in single environments."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.database import tables
from flagstaff.permissions.members import Member, Role
from flagstaff.values.errors import not_found

_columns = tables.members.c
_roles = tables.environment_roles.c
# A row for each environment with its own role, or one row without any.
_member = (
    sa.select(
        _columns.project_id,
        _columns.account_id,
        tables.accounts.c.email,
        _columns.role,
        _columns.created_at,
        tables.environments.c.key,
        _roles.role,
    )
    .select_from(tables.members.join(tables.accounts).outerjoin(tables.environment_roles.join(tables.environments)))
    .order_by(
        _columns.created_at,
        _columns.account_id,
        tables.environments.c.position,
        tables.environments.c.created_at,
        tables.environments.c.id,
    )
)
_in_project = _columns.project_id == sa.bindparam("project")
_of_account = _columns.account_id == sa.bindparam("account")
_by_id = _member.where(_in_project, _of_account)
_in_projects = _member.where(_columns.project_id.in_(sa.bindparam("projects", expanding=True)), _of_account)
_all = _member.where(_in_project)
_insert = tables.members.insert()
_insert_role = tables.environment_roles.insert()
_update = tables.members.update().where(_in_project, _of_account)
_delete = tables.members.delete().where(_in_project, _of_account)
_delete_roles = tables.environment_roles.delete().where(
    _roles.project_id == sa.bindparam("project"), _roles.account_id == sa.bindparam("account")
)
_environment_ids = sa.select(tables.environments.c.key, tables.environments.c.id).where(
    tables.environments.c.project_id == sa.bindparam("project"),
    tables.environments.c.key.in_(sa.bindparam("keys", expanding=True)),
)


async def find_member(connection: AsyncConnection, project_id: UUID, account_id: UUID) -> Member | None:
    """The member of a project with this account, if there is one."""
    rows = (await connection.execute(_by_id, {"project": project_id, "account": account_id})).all()
    return next(iter(_members(rows).values()), None)


async def get_member(connection: AsyncConnection, project_id: UUID, account_id: UUID) -> Member:
    """The member of a project with this account; raises Error NOT_FOUND."""
    member = await find_member(connection, project_id, account_id)
    if member is None:
        raise not_found("member")
    return member


async def list_memberships(
    connection: AsyncConnection, account_id: UUID, project_ids: Collection[UUID]
) -> Mapping[UUID, Member]:
    """The account as a member of these projects, by project."""
    rows = await connection.execute(_in_projects, {"account": account_id, "projects": list(project_ids)})
    return {project_id: member for (project_id, _), member in _members(rows).items()}


async def list_members(connection: AsyncConnection, project_id: UUID) -> list[Member]:
    """The members of a project, the longest-standing first."""
    return list(_members(await connection.execute(_all, {"project": project_id})).values())


async def save_member(connection: AsyncConnection, member: Member) -> None:
    """Write a member, new or changed. Its environments must exist."""
    place = {"project": member.project_id, "account": member.account_id}
    if not (await connection.execute(_update, {**place, "role": member.role})).rowcount:
        await connection.execute(_insert, tables.row_of(tables.members, member))
    await connection.execute(_delete_roles, place)
    ids = {"project_id": member.project_id, "account_id": member.account_id}
    environment_ids = await find_environment_ids(connection, member.project_id, member.environments)
    rows = [{**ids, "environment_id": environment_ids[key], "role": role} for key, role in member.environments.items()]
    if rows:
        await connection.execute(_insert_role, rows)


async def delete_member(connection: AsyncConnection, project_id: UUID, account_id: UUID) -> None:
    """Delete a member."""
    await connection.execute(_delete, {"project": project_id, "account": account_id})


async def find_environment_ids(
    connection: AsyncConnection, project_id: UUID, keys: Collection[str]
) -> Mapping[str, UUID]:
    """The ids of those environments of a project that have one of these keys, by key."""
    if not keys:
        return {}
    rows = await connection.execute(_environment_ids, {"project": project_id, "keys": list(keys)})
    return {row.key: row.id for row in rows}


def _members(rows: Iterable[sa.Row[*tuple[Any, ...]]]) -> dict[tuple[UUID, UUID], Member]:
    found: dict[tuple[UUID, UUID], Member] = {}
    for project_id, account_id, email, role, created_at, key, role_there in rows:
        place = project_id, account_id
        if place not in found:
            found[place] = Member(project_id, account_id, email, Role(role), {}, created_at)
        if key is not None:
            found[place] = replace(found[place], environments={**found[place].environments, key: Role(role_there)})
    return found
