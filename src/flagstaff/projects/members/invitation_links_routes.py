"""HTTP of the links in invitations: what whoever opens one sees of it, without an account."""

from typing import Annotated

from fastapi import Depends
from pydantic import Field
from starlette.responses import Response

from flagstaff.api.admission import admission
from flagstaff.api.operations import writes
from flagstaff.api.routers import Router
from flagstaff.api.schemas import Moment, Uuid
from flagstaff.http.operations import SMALL_BODY, Caller
from flagstaff.http.problems import problems
from flagstaff.http.response_models import ResponseModel
from flagstaff.http.responses import json_response
from flagstaff.http.services import service
from flagstaff.projects.members.invitations_routes import Acceptance
from flagstaff.projects.members.invitations_service import Invitations
from flagstaff.values.moments import format_moment

router = Router(tags=["Invitations"])

Service = Annotated[Invitations, Depends(service(Invitations))]


class OpenedInvitationOut(ResponseModel):
    """An invitation that can be accepted."""

    project_id: Uuid
    project: str = Field(description="The project's name.")
    inviter: str = Field(description="The address of the member who has invited you.")
    email: str = Field(description="The address that was invited. An account with another one cannot accept.")
    role: str
    expires_at: Moment


@router.post(
    "/auth/invitation",
    response_model=OpenedInvitationOut,
    responses=problems(400, 413, 429, 503),
    dependencies=[Depends(admission(lambda limits: limits.reset))],
)
@writes(Caller.ANYONE, body_max_bytes=SMALL_BODY, reports_revision=False, repeatable=False)
async def open_invitation(body: Acceptance, invitations: Service) -> Response:
    """Show an invitation, with the token from its mail. It remains open.

    It is a POST so that no log contains the token. It counts towards the limit of password resets.
    """
    opened = await invitations.open_link(token=body.token)
    invitation = opened.invitation
    return json_response(
        {
            "project_id": invitation.project_id,
            "project": opened.project,
            "inviter": opened.inviter_email,
            "email": invitation.email,
            "role": invitation.role,
            "expires_at": format_moment(invitation.expires_at),
        }
    )
