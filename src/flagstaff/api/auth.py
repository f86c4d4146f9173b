"""Dependencies of routes on who makes a request, once its token has been found valid."""

from typing import Annotated
from uuid import UUID

from fastapi import Depends, Request
from fastapi.security import HTTPBearer

from flagstaff.api.authentication import bearer_token
from flagstaff.changes.changes import Actor, Authenticated
from flagstaff.concurrency.pacing import pause
from flagstaff.http.nesting import IS_LARGE

_scheme = HTTPBearer(
    bearerFormat="JWT",
    auto_error=False,
    description="The token from POST /auth/login; for machines, an access token (`fst_…`), which only operations on "
    "projects and GET /api/me accept.",
)


async def _actor(request: Request, _documented: Annotated[object, Depends(_scheme)]) -> Actor:
    authenticated: Authenticated = request.state.authenticated
    if request.scope["state"].get(IS_LARGE):
        await pause()  # the framework has decoded the body, and validates it after this
    return authenticated.actor


CurrentActor = Annotated[Actor, Depends(_actor)]


async def _session(request: Request) -> UUID | None:
    session_id: UUID | None = request.state.session_id
    return session_id


CurrentSession = Annotated[UUID | None, Depends(_session)]
"""The id of the session that the request is made in; an access token has none."""


async def _token(request: Request, _documented: Annotated[object, Depends(_scheme)]) -> str:
    return bearer_token(request.scope)


CurrentToken = Annotated[str, Depends(_token)]
