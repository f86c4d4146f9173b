"""Authentication: everything under `/api` requires a bearer token."""

from collections.abc import Callable
from contextlib import AsyncExitStack
from time import monotonic
from typing import Annotated, Any
from uuid import UUID

from fastapi import Depends, Request
from fastapi.security import HTTPBearer
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from flagstaff.domain.changes import Actor
from flagstaff.domain.errors import Code, Error
from flagstaff.domain.permissions import Permission
from flagstaff.runtime.limiter import SlidingWindow
from flagstaff.services.sessions import Sessions
from flagstaff.services.tokens import Claims
from flagstaff.web.edge.bodies import read_body, replay
from flagstaff.web.edge.limits import admit
from flagstaff.web.management.reading import only_reads
from flagstaff.web.management.slots import Slots

PREFIX = "/api"
PERMISSION = "x-required-permission"
_WITHOUT_BODY = ("GET", "HEAD")
# Our tokens have about 400. Parsing a long one takes time, and a deeply nested one can exhaust Python's stack.
_TOKEN_MAX_LENGTH = 512
# A client can hold its body back for half a minute, in which its token may be ended.
_CHECKED_FOR_SECONDS = 0.5
_scheme = HTTPBearer(bearerFormat="JWT", auto_error=False, description="The token from POST /auth/login.")


class Authentication:
    """Admits requests to `/api` only with a valid token, checked before the body is read and the route looked up.

    An account's requests count against its limit. Only a few run at a time; the others wait. So an account gets only a
    share of the event loop, the database and the memory. Reads and writes have separate slots: however slowly an
    account's clients receive long lists, its next toggle does not wait for them.
    """

    def __init__(
        self,
        app: ASGIApp,
        sessions: Sessions,
        limiter: SlidingWindow | None,
        *,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._app = app
        self._clock = clock
        self._sessions = sessions
        self._limiter = limiter
        self._read_slots = Slots()
        self._write_slots = Slots()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not (scope["path"] == PREFIX or scope["path"].startswith(f"{PREFIX}/")):
            await self._app(scope, receive, send)
            return
        claims = self._sessions.read_token(bearer_token(scope))
        scope["state"]["actor"] = await self._authenticate(claims)
        scope["state"]["session_id"] = claims.token_id if claims.has_session else None
        authenticated_at = self._clock()
        if scope["method"] not in _WITHOUT_BODY:
            body = await read_body(receive)
            if body is None:
                return
            receive = replay(body, receive)
        if only_reads(scope["method"], scope["path"]):
            # Until the last part is sent, because the whole response is in memory.
            async with self._read_slots.take(claims.account_id):
                await self._check_again(claims, authenticated_at)
                await self._app(scope, receive, send)
            return
        # A write has its slot only from the arrival of its body until its response begins.
        async with AsyncExitStack() as slot:
            await slot.enter_async_context(self._write_slots.take(claims.account_id))
            await self._check_again(claims, authenticated_at)

            async def release_and_send(message: Message) -> None:
                await slot.aclose()
                await send(message)

            await self._app(scope, receive, release_and_send)

    async def _authenticate(self, claims: Claims) -> Actor:
        """The token's account. The request is counted first, so that a refused one costs no query."""
        admit(self._limiter, claims.account_id)
        try:
            return await self._sessions.authenticate(claims)
        except Error as error:
            if self._limiter is not None and error.code is Code.UNAUTHENTICATED:
                self._limiter.forgive(claims.account_id)  # someone with an ended token must not use up the limit
            raise

    async def _check_again(self, claims: Claims, authenticated_at: float) -> None:
        """Raise Error UNAUTHENTICATED if the token was ended while the request waited for its body or its slot."""
        if self._clock() - authenticated_at > _CHECKED_FOR_SECONDS:
            await self._sessions.authenticate(claims)


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


async def _session(request: Request) -> UUID | None:
    session_id: UUID | None = request.state.session_id
    return session_id


CurrentSession = Annotated[UUID | None, Depends(_session)]
"""The id of the session that the request is made in; a token of an earlier release has none."""


def needs(permission: Permission) -> dict[str, Any]:
    """The documentation of the permission that a route's service requires, for `openapi_extra`."""
    return {PERMISSION: permission}


async def _token(request: Request, _documented: Annotated[object, Depends(_scheme)]) -> str:
    return bearer_token(request.scope)


CurrentToken = Annotated[str, Depends(_token)]
