"""HTTP of invitations to a project."""

from typing import Annotated

from fastapi import Depends, Request
from pydantic import Field
from starlette.responses import Response

from flagstaff.api.auth import CurrentActor
from flagstaff.api.entity_tags import TaggedOut, if_match, tagged_response
from flagstaff.api.ids import Id
from flagstaff.api.operations import reads, writes
from flagstaff.api.routers import Router
from flagstaff.api.schemas import Body, Email, EnvironmentRoles, RoleName, Text, Uuid
from flagstaff.changes.changes import Actor
from flagstaff.concurrency.supervisor import Supervisor
from flagstaff.database.preconditions import Precondition
from flagstaff.http.operations import SMALL_BODY, Caller
from flagstaff.http.problems import problems
from flagstaff.http.response_models import ResponseModel
from flagstaff.http.responses import json_array_response, json_response, no_content
from flagstaff.http.services import service, service_of
from flagstaff.permissions.members import Role
from flagstaff.permissions.permissions import Permission
from flagstaff.projects.members.invitations import Invitation
from flagstaff.projects.members.invitations_service import Invitations
from flagstaff.values.views import view_of

router = Router(prefix="/api", tags=["Invitations"])

_INVITATIONS = "/projects/{project_id}/invitations"


class InvitationOut(TaggedOut, of=Invitation, without=("project_id",)):
    """An invitation. `sent_at` is when it was last mailed, and null until then."""

    environments: EnvironmentRoles


class NewInvitation(Body):
    """An address to invite, and the role that it gets."""

    email: Email
    role: RoleName
    environments: EnvironmentRoles = Field(default_factory=dict)


class Acceptance(Body):
    """The token in the link of the mail."""

    token: Text


class MembershipOut(ResponseModel):
    """The project of which you are now a member, and your roles."""

    project_id: Uuid
    role: RoleName
    environments: EnvironmentRoles


_view = view_of(Invitation, without=("project_id",))
Service = Annotated[Invitations, Depends(service(Invitations))]
IfMatch = Annotated[Precondition[Invitation], Depends(if_match("invitation", _view))]


def _start_sending(request: Request, actor: Actor, invitation: Invitation) -> None:
    # After the response, which must not wait for the mail.
    supervisor = service_of(request, Supervisor)
    invitations = service_of(request, Invitations)
    supervisor.start("invitation mail", invitations.send(actor, invitation))


@router.get(
    _INVITATIONS,
    response_model=list[InvitationOut],
    responses=problems(401, 404, 503),
)
@reads(Permission.MEMBERS_READ)
async def list_invitations(project_id: Id, actor: CurrentActor, invitations: Service) -> Response:
    """The invitations of a project that have neither been accepted nor expired, newest first."""
    return await json_array_response(map(_view, await invitations.list_invitations(actor, project_id)))


@router.post(
    _INVITATIONS,
    status_code=201,
    response_model=InvitationOut,
    responses=problems(400, 401, 404, 409, 413, 429, 503),
)
@writes(Permission.MEMBERS_WRITE, body_max_bytes=SMALL_BODY, reports_revision=True, repeatable=True)
async def create_invitation(
    project_id: Id, body: NewInvitation, request: Request, actor: CurrentActor, invitations: Service
) -> Response:
    """Invite an address by mail. The response is the same whether or not it has an account.

    Inviting an owner also requires the permission `owners:write`. The link in the mail works once, for seven days.
    """
    roles = {key: Role(role) for key, role in body.environments.items()}
    invitation = await invitations.create_invitation(
        actor, project_id, email=body.email, role=Role(body.role), environments=roles
    )
    _start_sending(request, actor, invitation)
    return tagged_response(_view(invitation), 201)


@router.get(
    _INVITATIONS + "/{invitation_id}",
    response_model=InvitationOut,
    responses=problems(401, 404, 503),
)
@reads(Permission.MEMBERS_READ)
async def get_invitation(project_id: Id, invitation_id: Id, actor: CurrentActor, invitations: Service) -> Response:
    """One invitation that has neither been accepted nor expired."""
    return tagged_response(_view(await invitations.get_invitation(actor, project_id, invitation_id)))


@router.delete(
    _INVITATIONS + "/{invitation_id}",
    status_code=204,
    responses=problems(401, 404, 503),
)
@writes(Permission.MEMBERS_WRITE, reports_revision=True)
async def delete_invitation(
    project_id: Id, invitation_id: Id, actor: CurrentActor, invitations: Service, precondition: IfMatch
) -> Response:
    """Revoke an invitation. Its link ends."""
    await invitations.delete_invitation(actor, project_id, invitation_id, precondition)
    return no_content()


@router.post(
    _INVITATIONS + "/{invitation_id}/send",
    response_model=InvitationOut,
    responses=problems(401, 404, 429, 503),
)
@writes(Permission.MEMBERS_WRITE, reports_revision=True, repeatable=True)
async def send_invitation(
    project_id: Id,
    invitation_id: Id,
    request: Request,
    actor: CurrentActor,
    invitations: Service,
    precondition: IfMatch,
) -> Response:
    """Mail an invitation again, with a new link for seven days. The previous link ends."""
    invitation = await invitations.renew_invitation(actor, project_id, invitation_id, precondition)
    _start_sending(request, actor, invitation)
    return tagged_response(_view(invitation))


@router.post("/invitations/accept", response_model=MembershipOut, responses=problems(400, 401, 409, 413, 503))
@writes(Caller.PERSON, body_max_bytes=SMALL_BODY, reports_revision=False, repeatable=True)
async def accept_invitation(body: Acceptance, actor: CurrentActor, invitations: Service) -> Response:
    """Become a member with the token from the mail, which must have been sent to the address of your account."""
    member = await invitations.accept_invitation(actor, token=body.token)
    view = {"project_id": member.project_id, "role": member.role, "environments": member.environments}
    return json_response(view)
