"""Answers of an instance that may have missed changes, because it is cut off from the others."""

import re

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from flagstaff.cluster.lease import Lease
from flagstaff.http.revisions import stale_header
from flagstaff.values.errors import Code, Error

_REPORTS = re.compile(r"/unleash/api/(client|frontend/client)/(register|metrics(/bulk|/edge)?)")
_RETRY_AFTER_SECONDS = 1


class CutOff:
    """In front of the routes that evaluate: marks their responses while the lease has lapsed, or refuses requests.

    The fast path marks its answers itself, and passes on what is to be refused.
    """

    def __init__(self, app: ASGIApp, lease: Lease, *, refuses: bool) -> None:
        self._app = app
        self._lease = lease
        self._refuses = refuses

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not self._lease.has_lapsed() or _REPORTS.fullmatch(scope["path"]):
            await self._app(scope, receive, send)
            return
        if self._refuses:
            raise Error(
                Code.UNAVAILABLE,
                "This instance is cut off from the others and may have missed changes, so it does not evaluate "
                "(FLAGSTAFF_WHEN_CUT_OFF=refuse). Try again shortly, at another instance if there is one.",
                retry_after_seconds=_RETRY_AFTER_SECONDS,
            )
        mark = stale_header(self._lease.stale_seconds())

        async def send_marked(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], mark]
            await send(message)

        await self._app(scope, receive, send_marked)
