"""Demands a second factor of every account, if the instance does."""

from starlette.types import ASGIApp, Receive, Scope, Send

from flagstaff.domain.changes import Actor
from flagstaff.services.second_factors import SecondFactors
from flagstaff.web.management.auth import PREFIX

# Where an account enrols a second factor, and what else concerns only itself.
_OF_ACCOUNT = f"{PREFIX}/me"


class SecondFactorDemand:
    """Refuses requests to `/api` of accounts without a second factor, except those about the account itself."""

    def __init__(self, app: ASGIApp, second_factors: SecondFactors) -> None:
        self._app = app
        self._second_factors = second_factors

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if f"{scope['path']}/".startswith(f"{PREFIX}/") and not f"{scope['path']}/".startswith(f"{_OF_ACCOUNT}/"):
            actor: Actor = scope["state"]["actor"]
            await self._second_factors.require_some(actor)
        await self._app(scope, receive, send)
