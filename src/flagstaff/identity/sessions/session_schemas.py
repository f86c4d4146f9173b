"""A session, as its owner and the administrators see it."""

from pydantic import Field

from flagstaff.api.schemas import Moment
from flagstaff.http.response_models import ResponseModel
from flagstaff.identity.sessions.sessions import Session
from flagstaff.values.views import view_of


class AccountSessionOut(ResponseModel, of=Session, without=("account_id",)):
    """An open session of an account."""

    device: str | None = Field(description="The user agent of the browser or program; at most 255 characters.")
    address: str | None = Field(description="The address from which the session was opened.")
    last_seen_at: Moment = Field(description="When the session was last used, accurate to a few minutes.")


session_view = view_of(Session, without=("account_id",))
"""A session as JSON."""
