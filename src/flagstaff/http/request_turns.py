"""Lets requests begin in the turns of their clients, and bounds the requests of strangers.

A stranger has no valid key or token. All that come from one address have a share, whatever they ask for. Probes have
none: a load balancer must not take an instance for dead because somebody floods it from its address.
"""

from starlette.types import ASGIApp, Receive, Scope, Send

from flagstaff.concurrency.loop_turns import Rank, loop_turns, working_for
from flagstaff.http.clients import IS_FREE, Clients
from flagstaff.http.limits import Limits
from flagstaff.telemetry.metrics import Metrics
from flagstaff.values.errors import Code, Error

_PROBES = frozenset({"/health", "/ready"})


class RequestTurns:
    """In front of the routes."""

    def __init__(self, app: ASGIApp, clients: Clients, limits: Limits) -> None:
        self.refused = 0
        """The number of strangers' requests that were refused."""
        self.waited = 0
        """The number of requests that have waited for their turn."""
        self._app = app
        self._clients = clients
        self._limits = limits

    def export_metrics(self, metrics: Metrics) -> None:
        """Export the numbers of requests that wait or were refused."""
        metrics.add_counter(
            "anonymous_requests_refused",
            "Requests without a valid key or token beyond the limit of their address.",
            lambda: self.refused,
        )
        metrics.add_counter("requests_waited", "Requests that waited for their client's turn.", lambda: self.waited)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        client = self._clients.find(scope)
        turns = loop_turns()
        if turns.is_busy() and not turns.has_room(client):
            self.waited += 1
            await turns.wait(client)
        with working_for(client):
            if client.rank is Rank.STRANGER and scope["path"] not in _PROBES:
                await self._answer_stranger(scope, receive, send)
            else:
                await self._app(scope, receive, send)

    async def _answer_stranger(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Count a request against its address, unless it turns out to be somebody's; raises Error LIMITED."""
        share, address = self._limits.anonymous, self._limits.client(scope)
        if share is None:
            await self._app(scope, receive, send)
            return
        if wait_seconds := share.hit(address):
            self.refused += 1
            raise Error(
                Code.LIMITED,
                "There were too many requests without a valid key or token from this address "
                "(FLAGSTAFF_ANONYMOUS_RATE_LIMIT). Try again later.",
                retry_after_seconds=wait_seconds,
            )
        try:
            await self._app(scope, receive, send)
        finally:
            if scope["state"].get(IS_FREE) or self._clients.has_become_known(scope):
                share.forgive(address)
