"""Who is calling: a bearer token opens `/api`, and nothing under it answers without one."""

from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import Depends, Request
from fastapi.security import HTTPBearer
from starlette.types import ASGIApp, Receive, Scope, Send

from flagstaff.domain.changes import Actor
from flagstaff.domain.errors import Code, Error

PREFIX = "/api"
_scheme = HTTPBearer(bearerFormat="JWT", auto_error=False, description="The token from POST /auth/login.")


class Authentication:
    """Lets a request to `/api` pass only with a valid token; before its body is read, before its route is looked up."""

    def __init__(self, app: ASGIApp, authenticate: Callable[[str], Awaitable[Actor]]) -> None:
        self._app = app
        self._authenticate = authenticate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and (scope["path"] == PREFIX or scope["path"].startswith(f"{PREFIX}/")):
            scope["state"]["actor"] = await self._authenticate(bearer_token(scope))
        await self._app(scope, receive, send)


def bearer_token(scope: Scope) -> str:
    """The token that a request brings; raises Error UNAUTHENTICATED unless it brings exactly one."""
    given: list[bytes] = [value for name, value in scope["headers"] if name == b"authorization"]
    if len(given) != 1:
        raise Error(Code.UNAUTHENTICATED, "Send one Authorization header: Bearer and the token from POST /auth/login.")
    kind, _, token = given[0].decode("latin-1").strip().partition(" ")
    if kind.lower() != "bearer" or not token.strip():
        raise Error(
            Code.UNAUTHENTICATED, "The Authorization header must be: Bearer and the token from POST /auth/login."
        )
    return token.strip()


async def _actor(request: Request, _documented: Annotated[object, Depends(_scheme)]) -> Actor:
    actor: Actor = request.state.actor
    return actor


CurrentActor = Annotated[Actor, Depends(_actor)]


async def _token(request: Request, _documented: Annotated[object, Depends(_scheme)]) -> str:
    return bearer_token(request.scope)


CurrentToken = Annotated[str, Depends(_token)]
