"""The author of a change, as responses show it."""

from typing import Any

from pydantic import Field

from flagstaff.api.schemas import Uuid
from flagstaff.changes.changes import Actor
from flagstaff.http.response_models import ResponseModel


class TokenNameOut(ResponseModel):
    """An access token, which may have been revoked."""

    id: Uuid
    name: str


class ReleaseNameOut(ResponseModel):
    """A release that makes a change by itself."""

    id: Uuid
    name: str | None
    guard: str | None = Field(description="The key of the metric whose guard acted, if one did.")


class ActorOut(ResponseModel):
    """The author of a change; all fields are null for the command line."""

    id: Uuid | None
    email: str | None
    token: TokenNameOut | None = Field(description="The access token that the account used, if any.")
    release: ReleaseNameOut | None = Field(description="The release that made the change for the account, if any.")


def view_actor(actor: Actor) -> dict[str, Any]:
    """An actor as responses have it."""
    return {
        "id": actor.account_id,
        "email": actor.email,
        "token": actor.token and actor.token._asdict(),
        "release": actor.release and actor.release._asdict(),
    }
