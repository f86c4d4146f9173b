"""Authentication: everything under `/api` requires a bearer token."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Annotated
from uuid import UUID
from weakref import WeakValueDictionary

from fastapi import Depends, Request
from fastapi.security import HTTPBearer
from starlette.types import ASGIApp, Receive, Scope, Send

from flagstaff.domain.changes import Actor
from flagstaff.domain.errors import Code, Error
from flagstaff.runtime.limiter import SlidingWindow
from flagstaff.web.edge.limits import admit

PREFIX = "/api"
# Requests of one account that run at the same time. SQLite has four readers; one is left for other accounts.
AT_ONCE = 3
# Our tokens have about 250. Parsing a long one takes time, and a deeply nested one can exhaust Python's stack.
_TOKEN_MAX_LENGTH = 512
_scheme = HTTPBearer(bearerFormat="JWT", auto_error=False, description="The token from POST /auth/login.")


class Authentication:
    """Admits requests to `/api` only with a valid token, checked before the body is read and the route looked up.

    An account's requests count against its limit. Only a few run at a time, until their responses are sent; the others
    wait. So an account gets only a share of the event loop, the database and the memory.
    """

    def __init__(
        self, app: ASGIApp, authenticate: Callable[[str], Awaitable[Actor]], limiter: SlidingWindow | None
    ) -> None:
        self._app = app
        self._authenticate = authenticate
        self._limiter = limiter
        self._turns: WeakValueDictionary[UUID | None, asyncio.Semaphore] = WeakValueDictionary()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not (scope["path"] == PREFIX or scope["path"].startswith(f"{PREFIX}/")):
            await self._app(scope, receive, send)
            return
        actor = await self._authenticate(bearer_token(scope))
        admit(self._limiter, actor.account_id)
        scope["state"]["actor"] = actor
        turns = self._turns.get(actor.account_id) or self._turns.setdefault(
            actor.account_id, asyncio.Semaphore(AT_ONCE)
        )
        async with turns:
            await self._app(scope, receive, send)


def bearer_token(scope: Scope) -> str:
    """The token in a request; raises Error UNAUTHENTICATED unless there is exactly one."""
    given: list[bytes] = [value for name, value in scope["headers"] if name == b"authorization"]
    if len(given) != 1:
        raise Error(Code.UNAUTHENTICATED, "Send one Authorization header: Bearer and the token from POST /auth/login.")
    kind, _, token = given[0].decode("latin-1").strip().partition(" ")
    if kind.lower() != "bearer" or not 0 < len(token.strip()) <= _TOKEN_MAX_LENGTH:
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
