"""The routes of operations, which check the facts of their operations before the framework reads a request."""

from collections.abc import Callable, Coroutine
from contextlib import nullcontext
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Receive, Scope, Send

from flagstaff.api.admission import Admission
from flagstaff.api.authentication import Authentication
from flagstaff.api.idempotency import carry_out_once
from flagstaff.api.operations import facts_of
from flagstaff.api.revisions import reporting_revision
from flagstaff.api.strict_json import decode_json
from flagstaff.api.unread_input import require_read
from flagstaff.concurrency.claims import claiming
from flagstaff.concurrency.pacing import pause
from flagstaff.http.bodies import BODY, Body
from flagstaff.http.limits import Limits
from flagstaff.http.nesting import IS_LARGE, LARGE_BYTES, require_simple
from flagstaff.http.operations import OPERATION, SMALL_BODY, Caller, Operation, find_priority
from flagstaff.http.services import SERVICES

_PREFIX = "/api"
_DEMANDING = (Caller.PERSON, Caller.TOKEN)
"""The callers of whom the instance can demand a second factor."""


class OperationRoute(APIRoute):
    """The route of an operation. What it refuses has not reached the framework, and has changed nothing."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **given: Any) -> None:
        """`given` is as for the framework's. Raises LookupError unless the endpoint states its facts."""
        super().__init__(path, endpoint, **given)
        self._operation = facts_of(self)

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request at the route's path."""
        if scope["method"] in (self.methods or ()):
            await admit(self._answer, scope, receive, send, self._operation)
        else:
            await admit(super().handle, scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        operation = self._operation
        if operation.caller in _DEMANDING:
            await scope[SERVICES][Authentication].require_second_factor(scope["state"]["authenticated"])
        with reporting_revision(send) if operation.reports_revision else nullcontext(send) as send_on:
            if not operation.lenient:
                await require_read(scope, operation)
            if operation.is_repeatable:
                await carry_out_once(self.app, scope, receive, send_on)
            else:
                await self.app(scope, receive, send_on)

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The framework's, for a request that was counted against the limits of the route."""
        handle = super().get_route_handler()
        admissions = [each.dependency for each in self.dependencies if isinstance(each.dependency, Admission)]

        async def admit_and_handle(request: Request) -> Response:
            for each in admissions:
                each.admit(request)
            return await handle(_SimpleRequest(request.scope, request.receive))

        return admit_and_handle


async def admit(app: ASGIApp, scope: Scope, receive: Receive, send: Send, operation: Operation | None = None) -> None:
    """Let an application answer a request to an operation, or to none, with a bounded body and, at `/api`, an account.

    It answers nothing if the client leaves before the end of its request.

    Raises:
        Error: TOO_LARGE, or UNAUTHENTICATED and what else `Authentication` refuses.
    """
    state, path = scope["state"], scope["path"]
    state[OPERATION] = operation
    state[BODY] = Body(scope, receive, SMALL_BODY if operation is None else operation.body_max_bytes)
    try:
        if path == _PREFIX or path.startswith(f"{_PREFIX}/"):
            await scope[SERVICES][Authentication].admit(app, scope, receive, send)
        else:
            with claiming(scope[SERVICES][Limits].client(scope), find_priority(operation, None)):
                await app(scope, receive, send)
    except ClientDisconnect:
        return


class _SimpleRequest(Request):
    """A request with a body that is within the bounds on JSON, of which a large one is checked in a step of its own."""

    async def body(self) -> bytes:
        state = self.scope["state"]
        body: bytes = await state[BODY].read()
        if IS_LARGE not in state:
            require_simple(body)
            state[IS_LARGE] = len(body) > LARGE_BYTES
            if state[IS_LARGE]:
                await pause()
        return body

    async def json(self) -> Any:
        return decode_json(await self.body())
