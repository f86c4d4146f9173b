"""Parts of a project in responses: an environment in a list, and one's own permissions."""

from typing import Any

from pydantic import Field

from flagstaff.api.schemas import RoleName
from flagstaff.http.response_models import ResponseModel
from flagstaff.permissions.members import Role
from flagstaff.permissions.permissions import PERMISSIONS, OwnPermissions, Permission
from flagstaff.projects.projects import Environment
from flagstaff.values.views import view_of

_ONLY_INSIDE = ("project_id", "position")
_ROLES = {role: [each for each in Permission if each in allowed] for role, allowed in PERMISSIONS.items()}


class EnvironmentItem(ResponseModel, of=Environment, without=_ONLY_INSIDE):
    """An environment in a list."""

    critical: bool = Field(
        description="Whether the dashboard warns before changes. Unless it is set, environments with the key "
        "production or prod are critical."
    )
    history_retention_days: int | None = Field(
        description="For how many days evaluations and events are kept; null if as long as in the project."
    )


class OwnPermissionsOut(ResponseModel):
    """Your role, and what it allows in the whole project and in each of its environments by key."""

    role: RoleName
    permissions: list[Permission]
    environments: dict[str, list[Permission]]
    roles: dict[Role, list[Permission]] = Field(description="What each role allows, the same in every project.")


view_item = view_of(Environment, without=_ONLY_INSIDE)
"""An environment as lists have it."""


def view_own_permissions(own: OwnPermissions) -> dict[str, Any]:
    """One's permissions as OwnPermissionsOut describes them."""
    return {
        "role": own.member.role,
        "permissions": own.permissions,
        "environments": own.environments,
        "roles": _ROLES,
    }
