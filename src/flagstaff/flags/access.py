"""Resolves the ids of a flag's path to the flag, and requires a permission in its environment."""

from dataclasses import dataclass
from uuid import UUID

from flagstaff.changes.changes import Actor, Scope
from flagstaff.database.database import Connection
from flagstaff.database.preconditions import ANY_STATE, Precondition
from flagstaff.flags import flags_store
from flagstaff.flags.flags import Flag
from flagstaff.permissions.permissions import Permission, require
from flagstaff.projects.access import open_member
from flagstaff.values.errors import Code, Error, not_found


@dataclass(frozen=True, slots=True)
class FlagPath:
    """The location of a flag: the ids of its project, its environment and itself."""

    project_id: UUID
    environment_id: UUID
    flag_id: UUID


async def open_flag(
    connection: Connection,
    actor: Actor,
    path: FlagPath,
    permission: Permission,
    precondition: Precondition[Flag] = ANY_STATE,
    *,
    for_update: bool = False,
) -> Flag:
    """The flag, in whose environment the actor must have the permission, in a state that the precondition accepts."""
    project_id, environment_id = path.project_id, path.environment_id
    _, member = await open_member(connection, actor, project_id, for_update=for_update)
    key, flag = await flags_store.find_in_environment(connection, project_id, environment_id, path.flag_id)
    if key is None:
        raise not_found("environment")
    require(member, permission, key)
    if flag is None:
        raise not_found("flag")
    await precondition.require(connection, flag, flag.id, project_id)
    return flag


async def open_live_flag(
    connection: Connection,
    actor: Actor,
    path: FlagPath,
    permission: Permission,
    precondition: Precondition[Flag] = ANY_STATE,
    *,
    for_update: bool = False,
) -> Flag:
    """The same; raises Error CONFLICT for an archived flag, which can only be read, unarchived and deleted."""
    flag = await open_flag(connection, actor, path, permission, precondition, for_update=for_update)
    if flag.archived_at is not None:
        raise Error(Code.CONFLICT, f"The flag {flag.key} is archived. Unarchive it first.")
    return flag


def scope_of(flag: Flag) -> Scope:
    """The scope of changes to a flag and its rules."""
    return Scope(flag.project_id, flag.environment_id, flag.id, flag.key)
