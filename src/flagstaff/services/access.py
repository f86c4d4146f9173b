"""Resolves ids in a path to resources that the actor may use; everything else is NOT_FOUND.

A write locks the project first (`for_update`), so that the writes to one project are serialized.
"""

from dataclasses import dataclass
from uuid import UUID

from flagstaff.domain.changes import Actor, Scope
from flagstaff.domain.flags import Flag
from flagstaff.domain.permissions import require_access
from flagstaff.domain.projects import Environment, Project
from flagstaff.storage import environments, flags, projects
from flagstaff.storage.database import Connection


@dataclass(frozen=True, slots=True)
class FlagPath:
    """The location of a flag: the ids of its project, its environment and itself."""

    project_id: UUID
    environment_id: UUID
    flag_id: UUID


async def open_project(connection: Connection, actor: Actor, project_id: UUID, *, for_update: bool = False) -> Project:
    """The project, if the actor may use it; for an update it is locked, which serializes writes to it."""
    find = projects.find_project_for_update if for_update else projects.find_project
    return require_access(actor, await find(connection, project_id))


async def open_environment(
    connection: Connection, actor: Actor, project_id: UUID, environment_id: UUID, *, for_update: bool = False
) -> Environment:
    """The environment of a project that the actor may use."""
    await open_project(connection, actor, project_id, for_update=for_update)
    return await environments.get_environment(connection, project_id, environment_id)


async def open_flag(connection: Connection, actor: Actor, path: FlagPath, *, for_update: bool = False) -> Flag:
    """The flag of an environment of a project that the actor may use."""
    await open_project(connection, actor, path.project_id, for_update=for_update)
    return await flags.get_flag(connection, path.project_id, path.environment_id, path.flag_id)


def scope_of(flag: Flag) -> Scope:
    """The scope of changes to a flag and its rules."""
    return Scope(flag.project_id, flag.environment_id, flag.id, flag.key)
