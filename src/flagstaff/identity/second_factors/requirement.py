"""Demands a second factor of every account, as long as the instance does."""

from starlette.types import ASGIApp, Receive, Scope, Send

from flagstaff.api.auth import PREFIX
from flagstaff.identity.administration.instance_service import Instance

# Where an account enrols a second factor, and what else concerns only itself.
_OF_ACCOUNT = f"{PREFIX}/me"


class SecondFactorDemand:
    """Refuses requests to `/api` of accounts without a second factor, if the instance demands one.

    Requests about the account itself are not refused.
    """

    def __init__(self, app: ASGIApp, instance: Instance) -> None:
        self._app = app
        self._instance = instance

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if f"{scope['path']}/".startswith(f"{PREFIX}/") and not f"{scope['path']}/".startswith(f"{_OF_ACCOUNT}/"):
            await self._instance.require_second_factor(scope["state"]["authenticated"])
        await self._app(scope, receive, send)
