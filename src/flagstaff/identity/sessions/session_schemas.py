"""A session, as its owner and the administrators see it."""

from typing import Any

from pydantic import Field

from flagstaff.api.schemas import Moment, Uuid
from flagstaff.http.response_models import ResponseModel
from flagstaff.identity.sessions.sessions import Session
from flagstaff.values.moments import format_moment


class AccountSessionOut(ResponseModel):
    """An open session of an account."""

    id: Uuid
    device: str | None = Field(description="The user agent of the browser or program; at most 255 characters.")
    address: str | None = Field(description="The address from which the session was opened.")
    created_at: Moment
    last_seen_at: Moment = Field(description="When the session was last used, accurate to a few minutes.")
    expires_at: Moment


def session_view(session: Session) -> dict[str, Any]:
    """A session as JSON."""
    return {
        "id": session.id,
        "device": session.device,
        "address": session.address,
        "created_at": format_moment(session.created_at),
        "last_seen_at": format_moment(session.last_seen_at),
        "expires_at": format_moment(session.expires_at),
    }
