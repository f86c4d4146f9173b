"""Demands a second factor of every account, as long as the instance does."""

from starlette.types import ASGIApp, Receive, Scope, Send

from flagstaff.http.operations import Caller, operation_of
from flagstaff.identity.administration.instance_service import Instance

_DEMANDING = (Caller.PERSON, Caller.TOKEN)


class SecondFactorRequirement:
    """Refuses requests to `/api` of accounts without a second factor, if the instance demands one.

    Requests about the account itself are not refused.
    """

    def __init__(self, app: ASGIApp, instance: Instance) -> None:
        self._app = app
        self._instance = instance

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        operation = operation_of(scope)
        if operation is not None and operation.caller in _DEMANDING:
            await self._instance.require_second_factor(scope["state"]["authenticated"])
        await self._app(scope, receive, send)
