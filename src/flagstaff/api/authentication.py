"""Authentication: everything under `/api` requires a bearer token, of a session or for machines."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from time import monotonic
from uuid import UUID

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from flagstaff.api.shown import may_see, showing_only_identity
from flagstaff.changes.changes import Actor, Authenticated
from flagstaff.concurrency.claims import claiming
from flagstaff.concurrency.pacing import until
from flagstaff.concurrency.slots import LongSlots, Slots, write_slots
from flagstaff.concurrency.supervisor import Supervisor
from flagstaff.http.bodies import BODY
from flagstaff.http.clients import Clients
from flagstaff.http.limits import Limits, admit
from flagstaff.http.operations import ACCOUNT_ID, find_priority, only_reads, operation_of
from flagstaff.http.responses import ENDS_WITH_CLIENT, IS_STREAM
from flagstaff.limits.limiter import SlidingWindow
from flagstaff.values.errors import Code, Error

# Our tokens have about 400. Parsing a long one takes time, and a deeply nested one can exhaust Python's stack.
_TOKEN_MAX_LENGTH = 512
# A client can hold its body back for half a minute, in which its token may be ended, or a second factor be demanded.
_CHECKED_FOR_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Credential:
    """A token whose form is right: how its account is found, and what it says itself of the account and a session."""

    authenticate: Callable[[], Awaitable[Authenticated]]
    account_id: UUID | None = None
    session_id: UUID | None = None


class Authentication:
    """Admits requests to `/api` only with a valid token, which is checked before the body is read.

    An account's requests count against its limit. Only a few run at a time; the others wait. So an account gets only a
    share of the event loop, the database and the memory. Reads and each class of writes have separate slots: however
    slowly an account's clients receive long lists, and whatever it copies, its next toggle does not wait for them.
    """

    def __init__(
        self,
        read_credential: Callable[[str], Credential],
        require_second_factor: Callable[[Authenticated], Awaitable[None]],
        limits: Limits,
        clients: Clients,
        supervisor: Supervisor,
        *,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """`read_credential` raises Error UNAUTHENTICATED, without a query, for a token that none can be.

        `require_second_factor` raises Error MFA_ENROLMENT_REQUIRED if the instance demands one that an account lacks.
        """
        self.require_second_factor = require_second_factor
        self._supervisor = supervisor
        self._clock = clock
        self._read_credential = read_credential
        self._limits = limits
        self._clients = clients
        self._limiter: SlidingWindow | None = limits.api
        self._read_slots = Slots()
        self._write_slots = write_slots()
        self._long_slots = LongSlots(self._read_slots)

    async def admit(self, app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        """Let an application answer a request, which has a body in its state, if its token is valid."""
        token = bearer_token(scope)
        credential = self._read_credential(token)
        operation = operation_of(scope)
        claimed_by = credential.account_id or self._limits.client(scope)
        with claiming(claimed_by, find_priority(operation, None)):
            authenticated = scope["state"]["authenticated"] = await self._authenticate(scope, credential)
        actor = authenticated.actor
        assert actor.account_id is not None
        scope["state"]["session_id"] = credential.session_id
        scope["state"][ACCOUNT_ID] = actor.account_id
        self._clients.remember(token, actor.account_id)
        _require_use(scope, actor)
        authenticated_at = self._clock()
        body = await scope["state"][BODY].read()
        priority = find_priority(operation, body)
        reads, long = only_reads(scope), operation is not None and operation.takes_long
        if operation is not None and not may_see(actor, operation):
            send = showing_only_identity(send, operation)
        # A read has its slot until the last part is sent, because the whole response is in memory; a write, from the
        # arrival of its body until its response begins. A stream lasts as long as its client likes, and has none.
        async with AsyncExitStack() as slot:
            work_is_done: Callable[[], None] | None = None
            if long:
                work_is_done = await slot.enter_async_context(self._long_slots.take(actor.account_id))
            else:
                slots = self._read_slots if reads else self._write_slots[priority]
                await slot.enter_async_context(slots.take(actor.account_id))
            if self._clock() - authenticated_at > _CHECKED_FOR_SECONDS:
                with claiming(actor.account_id, priority):
                    scope["state"]["authenticated"] = await credential.authenticate()

            async def send_on(message: Message) -> None:
                if work_is_done is not None:
                    work_is_done()
                if not reads or scope["state"].get(IS_STREAM):
                    await slot.aclose()
                await send(message)

            with claiming(actor.account_id, priority, _find_project(scope)):
                if long:
                    await self._answer_while_present(app, scope, receive, send_on)
                else:
                    await app(scope, receive, send_on)

    async def _authenticate(self, scope: Scope, credential: Credential) -> Authenticated:
        """The token's account and the demand of the instance.

        The request is counted first, so that a refused one costs no query. Which account an access token belongs to is
        not known before. Until then its client is counted, so that guesses are limited.
        """
        counted_by: Hashable = credential.account_id or self._limits.client(scope)
        admit(self._limiter, counted_by)
        try:
            authenticated = await credential.authenticate()
        except Error as error:
            if error.code is Code.UNAUTHENTICATED and credential.account_id is not None:
                self._forgive(counted_by)  # someone with an ended token must not use up the limit
            raise
        account_id = authenticated.actor.account_id
        if counted_by != account_id:
            self._forgive(counted_by)
            admit(self._limiter, account_id)
        return authenticated

    async def _answer_while_present(self, app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        """Let an application answer until the client leaves."""

        async def wait_for_the_end() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass

        scope["state"][ENDS_WITH_CLIENT] = True
        leaving = self._supervisor.spawn("client_of_long_request", wait_for_the_end())
        try:
            with until(leaving.done):
                await app(scope, receive, send)
        finally:
            leaving.cancel()
            await asyncio.wait([leaving])

    def _forgive(self, counted_by: Hashable) -> None:
        if self._limiter is not None:
            self._limiter.forgive(counted_by)


def _require_use(scope: Scope, actor: Actor) -> None:
    """Refuse an access token where only a person may act: on the account itself, and outside of projects."""
    operation = operation_of(scope)
    if actor.token is not None and operation is not None and not operation.accepts_access_tokens:
        raise Error(
            Code.FORBIDDEN, "This cannot be done with an access token. Log in, and use the token of the session."
        )


def _find_project(scope: Scope) -> UUID | None:
    """The project in the path of a request, if there is one."""
    try:
        return UUID(scope["path_params"]["project_id"])
    except (KeyError, ValueError):
        return None


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
