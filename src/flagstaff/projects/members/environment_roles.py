"""Roles in single environments, which a member or an invitation has besides the role in the project."""

from collections.abc import Mapping
from uuid import UUID

from flagstaff.database.database import Connection
from flagstaff.permissions.members import Role
from flagstaff.projects.members import members_store
from flagstaff.values.errors import invalid_field


async def require_environment_roles(
    connection: Connection, project_id: UUID, role: Role, environments: Mapping[str, Role]
) -> None:
    """Raise Error INVALID unless a role in the project can have these exceptions in environments."""
    if role is Role.OWNER and environments:
        raise invalid_field("environments", "must be empty for an owner, whose role applies to every environment")
    found = await members_store.find_environment_ids(connection, project_id, environments)
    for key in environments:
        if key not in found:
            raise invalid_field(f"environments.{key}", "is not the key of an environment of this project")
