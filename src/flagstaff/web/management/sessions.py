"""HTTP of the caller's sessions."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel, Field
from starlette.responses import Response

from flagstaff.domain.moments import format_moment
from flagstaff.domain.sessions import Session
from flagstaff.services.sessions import Sessions
from flagstaff.web.edge.problems import problems
from flagstaff.web.edge.responses import json_array_response, no_content
from flagstaff.web.management.auth import CurrentActor, CurrentSession
from flagstaff.web.management.ids import Id
from flagstaff.web.management.schemas import Moment, Uuid

router = APIRouter(prefix="/api/me/sessions", tags=["Accounts"])


class SessionOut(BaseModel):
    """A session, which a login has opened."""

    id: Uuid
    device: str | None = Field(description="What the browser or program called itself; at most 255 characters.")
    address: str | None = Field(description="The address from which the session was opened.")
    created_at: Moment
    last_seen_at: Moment = Field(description="When the session was last used, to within a few minutes.")
    expires_at: Moment
    current: bool = Field(description="Whether the request was made in this session.")


def _view(session: Session, current: UUID | None) -> dict[str, Any]:
    return {
        "id": session.id,
        "device": session.device,
        "address": session.address,
        "created_at": format_moment(session.created_at),
        "last_seen_at": format_moment(session.last_seen_at),
        "expires_at": format_moment(session.expires_at),
        "current": session.id == current,
    }


async def _sessions(request: Request) -> Sessions:
    sessions: Sessions = request.app.state.sessions
    return sessions


Service = Annotated[Sessions, Depends(_sessions)]


@router.get("", response_model=list[SessionOut], responses=problems(401, 503))
async def list_sessions(actor: CurrentActor, current: CurrentSession, sessions: Service) -> Response:
    """Your sessions that have neither ended nor expired, newest first."""
    found = await sessions.list_sessions(actor)
    return await json_array_response(_view(each, current) for each in found)


@router.delete("/{session_id}", status_code=204, responses=problems(401, 404, 503))
async def end_session(session_id: Id, actor: CurrentActor, sessions: Service) -> Response:
    """End a session immediately on every instance: its token is no longer valid."""
    await sessions.end_session(actor, session_id)
    return no_content()
