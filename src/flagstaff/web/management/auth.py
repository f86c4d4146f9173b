"""Who is calling: a bearer token opens `/api`, and nothing under it answers without one."""

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
# What an account may have done at the same time. SQLite has four readers, one of which is left to the others.
AT_ONCE = 3
# Ours have some 250. To take a long one apart costs time, and a deeply nested one Python's stack.
_TOKEN_MAX_LENGTH = 512
_scheme = HTTPBearer(bearerFormat="JWT", auto_error=False, description="The token from POST /auth/login.")


class Authentication:
    """Lets a request to `/api` pass only with a valid token; before its body is read, before its route is looked up.

    An account's requests count against its limit, and some at a time are worked on until their answers have left; the
    others wait. So no account keeps more than a share of the event loop, the database and the memory to itself.
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
    """The token that a request brings; raises Error UNAUTHENTICATED unless it brings exactly one."""
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
