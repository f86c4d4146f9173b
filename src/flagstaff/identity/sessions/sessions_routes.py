"""HTTP of the caller's sessions."""

from typing import Annotated

from fastapi import Depends
from pydantic import Field
from starlette.responses import Response

from flagstaff.api.auth import CurrentActor, CurrentSession
from flagstaff.api.ids import Id
from flagstaff.api.operations import reads, writes
from flagstaff.api.routers import Router
from flagstaff.http.operations import Caller
from flagstaff.http.problems import problems
from flagstaff.http.responses import json_array_response, no_content
from flagstaff.http.services import service
from flagstaff.identity.sessions.session_schemas import AccountSessionOut, session_view
from flagstaff.identity.sessions.sessions_service import Sessions

router = Router(prefix="/api/me/sessions", tags=["Accounts"])


class SessionOut(AccountSessionOut):
    """A session, which a login has opened."""

    current: bool = Field(description="Whether the request was made in this session.")


Service = Annotated[Sessions, Depends(service(Sessions))]


@router.get("", response_model=list[SessionOut], responses=problems(401, 503))
@reads(Caller.ACCOUNT)
async def list_sessions(actor: CurrentActor, current: CurrentSession, sessions: Service) -> Response:
    """Your sessions that have neither ended nor expired: the current one first, then the most recently used."""
    found = sorted(await sessions.list_sessions(actor), key=lambda each: each.id != current)
    return await json_array_response({**session_view(each), "current": each.id == current} for each in found)


@router.delete("", status_code=204, responses=problems(401, 503))
@writes(Caller.ACCOUNT, reports_revision=False)
async def end_other_sessions(actor: CurrentActor, sessions: Service) -> Response:
    """End all your sessions except the one in which the request is made, immediately on every instance."""
    await sessions.end_other_sessions(actor)
    return no_content()


@router.delete("/{session_id}", status_code=204, responses=problems(401, 404, 503))
@writes(Caller.ACCOUNT, reports_revision=False)
async def end_session(session_id: Id, actor: CurrentActor, sessions: Service) -> Response:
    """End a session immediately on every instance: its token is no longer valid."""
    await sessions.end_session(actor, session_id)
    return no_content()
