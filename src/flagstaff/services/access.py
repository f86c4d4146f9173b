"""Resolves ids in a path to resources and requires a permission to use them.

Everything in a project of which the actor is not a member is NOT_FOUND; what a member may not do is FORBIDDEN. A write
locks the project first (`for_update`), so that the writes to one project are serialized, also with changes of roles.
"""

from dataclasses import dataclass
from uuid import UUID

from flagstaff.domain.changes import Actor, Scope
from flagstaff.domain.errors import not_found
from flagstaff.domain.flags import Flag
from flagstaff.domain.members import Member
from flagstaff.domain.permissions import Permission, require
from flagstaff.domain.projects import Environment, Project
from flagstaff.storage import environments, flags, members, projects
from flagstaff.storage.database import Connection


@dataclass(frozen=True, slots=True)
class FlagPath:
    """The location of a flag: the ids of its project, its environment and itself."""

    project_id: UUID
    environment_id: UUID
    flag_id: UUID


async def open_membership(
    connection: Connection, actor: Actor, project_id: UUID, permission: Permission, *, for_update: bool = False
) -> tuple[Project, Member]:
    """The project and the actor as its member, who must have the permission in the whole project.

    For an update the project is locked, which serializes writes to it.
    """
    project, member = await _find(connection, actor, project_id, for_update=for_update)
    return project, require(member, permission)


async def open_project(
    connection: Connection, actor: Actor, project_id: UUID, permission: Permission, *, for_update: bool = False
) -> Project:
    """The project, in the whole of which the actor must have the permission."""
    project, _ = await open_membership(connection, actor, project_id, permission, for_update=for_update)
    return project


async def open_environment(
    connection: Connection,
    actor: Actor,
    project_id: UUID,
    environment_id: UUID,
    permission: Permission,
    *,
    for_update: bool = False,
) -> Environment:
    """The environment, in which the actor must have the permission."""
    _, member = await _find(connection, actor, project_id, for_update=for_update)
    environment = await environments.get_environment(connection, project_id, environment_id)
    require(member, permission, environment.key)
    return environment


async def open_flag(
    connection: Connection, actor: Actor, path: FlagPath, permission: Permission, *, for_update: bool = False
) -> Flag:
    """The flag, in whose environment the actor must have the permission."""
    project_id, environment_id = path.project_id, path.environment_id
    await open_environment(connection, actor, project_id, environment_id, permission, for_update=for_update)
    return await flags.get_flag(connection, project_id, environment_id, path.flag_id)


async def _find(connection: Connection, actor: Actor, project_id: UUID, *, for_update: bool) -> tuple[Project, Member]:
    find = projects.find_project_for_update if for_update else projects.find_project
    project = await find(connection, project_id)
    # A statement after the lock, so that it sees a role that changed while this transaction waited for the lock.
    member = await members.find_member(connection, project_id, actor.account_id) if actor.account_id else None
    if project is None or member is None:
        raise not_found("project")
    return project, member


def scope_of(flag: Flag) -> Scope:
    """The scope of changes to a flag and its rules."""
    return Scope(flag.project_id, flag.environment_id, flag.id, flag.key)
