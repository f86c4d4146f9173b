"""HTTP of the members of a project."""

from typing import Annotated, ClassVar

from fastapi import Depends
from starlette.responses import Response

from flagstaff.api.auth import CurrentActor
from flagstaff.api.entity_tags import TaggedOut, if_match, tagged_response
from flagstaff.api.ids import Id
from flagstaff.api.operations import reads, writes
from flagstaff.api.routers import Router
from flagstaff.api.schemas import EnvironmentRoles, RoleName, Update, optional
from flagstaff.database.preconditions import Precondition
from flagstaff.http.operations import SMALL_BODY
from flagstaff.http.problems import problems
from flagstaff.http.responses import json_array_response, json_response, no_content
from flagstaff.http.services import service
from flagstaff.permissions.members import Member
from flagstaff.permissions.permissions import Permission
from flagstaff.projects.members.members_service import Members
from flagstaff.projects.part_schemas import OwnPermissionsOut, view_own_permissions
from flagstaff.values.views import view_of

router = Router(prefix="/api/projects/{project_id}", tags=["Members"])


class MemberOut(TaggedOut, of=Member, without=("project_id",)):
    """A member: `role` holds in the whole project but for the environments whose keys have their own role."""

    environments: EnvironmentRoles


class MemberUpdate(Update):
    """The fields to change. `environments` is replaced whole."""

    read_only: ClassVar[frozenset[str]] = frozenset({"account_id", "email", "created_at"})

    role: RoleName = optional()
    environments: EnvironmentRoles = optional()


_view = view_of(Member, without=("project_id",))
Service = Annotated[Members, Depends(service(Members))]
IfMatch = Annotated[Precondition[Member], Depends(if_match("member", _view))]


@router.get(
    "/members",
    response_model=list[MemberOut],
    responses=problems(401, 404, 503),
)
@reads(Permission.MEMBERS_READ)
async def list_members(project_id: Id, actor: CurrentActor, members: Service) -> Response:
    """The members of a project, the longest-standing first."""
    return await json_array_response(map(_view, await members.list_members(actor, project_id)))


@router.get(
    "/members/{account_id}",
    response_model=MemberOut,
    responses=problems(401, 404, 503),
)
@reads(Permission.MEMBERS_READ)
async def get_member(project_id: Id, account_id: Id, actor: CurrentActor, members: Service) -> Response:
    """One member."""
    return tagged_response(_view(await members.get_member(actor, project_id, account_id)))


@router.put(
    "/members/{account_id}",
    response_model=MemberOut,
    responses=problems(400, 401, 404, 409, 413, 503),
)
@writes(Permission.MEMBERS_WRITE, body_max_bytes=SMALL_BODY, reports_revision=True)
async def update_member(
    project_id: Id, account_id: Id, body: MemberUpdate, actor: CurrentActor, members: Service, precondition: IfMatch
) -> Response:
    """Change the role of a member.

    Making an owner, or changing one, also requires the permission `owners:write`. The last owner cannot get another
    role.
    """
    return tagged_response(
        _view(await members.update_member(actor, project_id, account_id, precondition, **body.given()))
    )


@router.delete(
    "/members/{account_id}",
    status_code=204,
    responses=problems(401, 404, 409, 503),
)
@writes(Permission.MEMBERS_WRITE, reports_revision=True)
async def remove_member(
    project_id: Id, account_id: Id, actor: CurrentActor, members: Service, precondition: IfMatch
) -> Response:
    """Remove a member, or leave the project, which requires no permission.

    Removing an owner also requires the permission `owners:write`. The last owner cannot leave.
    """
    await members.remove_member(actor, project_id, account_id, precondition)
    return no_content()


@router.get(
    "/permissions",
    response_model=OwnPermissionsOut,
    responses=problems(401, 404, 503),
)
@reads(Permission.PROJECT_READ)
async def list_own_permissions(project_id: Id, actor: CurrentActor, members: Service) -> Response:
    """List your permissions in a project, and the permissions of each role."""
    return json_response(view_own_permissions(await members.list_own_permissions(actor, project_id)))
