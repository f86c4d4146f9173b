"""Answers of an instance that may have missed changes, because it is cut off from the others."""

import re

from starlette.types import ASGIApp, Receive, Scope, Send

from flagstaff.cluster.lease import Lease
from flagstaff.http.operations import PROTOCOLS
from flagstaff.http.revisions import Header, stale_header
from flagstaff.values.errors import Code, Error

_REPORTS = re.compile(r"/unleash/api/(client|frontend/client)/(register|metrics(/bulk|/edge)?)")
_RETRY_AFTER_SECONDS = 1


class CutOff:
    """The treatment of applications' requests while the instance's lease has lapsed: it marks responses, or refuses.

    Whatever writes a response asks here for its mark: the application's outermost layer, so that errors of any layer
    have it, the fast path, and the refusals of requests that reach neither.
    """

    def __init__(self, lease: Lease, *, refuses: bool) -> None:
        self.lease = lease
        self.refuses = refuses

    def marks(self, path: str) -> tuple[Header, ...]:
        """The headers of every response at a path to a request that is read now: its mark, or none."""
        if not self.lease.has_lapsed() or self.refuses or not _is_answered_from_memory(path):
            return ()
        return (stale_header(self.lease.stale_seconds()),)

    def guard(self, app: ASGIApp) -> ASGIApp:
        """A route that refuses requests while the lease has lapsed, if the instance is to refuse them."""
        if not self.refuses:
            return app

        async def refuse_or_pass_on(scope: Scope, receive: Receive, send: Send) -> None:
            if self.lease.has_lapsed() and _is_answered_from_memory(scope["path"]):
                raise Error(
                    Code.UNAVAILABLE,
                    "This instance is cut off from the others and may have missed changes, so it does not evaluate "
                    "(FLAGSTAFF_WHEN_CUT_OFF=refuse). Try again shortly, at another instance if there is one.",
                    retry_after_seconds=_RETRY_AFTER_SECONDS,
                )
            await app(scope, receive, send)

        return refuse_or_pass_on


def _is_answered_from_memory(path: str) -> bool:
    return path.startswith(PROTOCOLS) and not _REPORTS.fullmatch(path)
