"""The headers Flagstaff-Revision, -Change, -Live-On and -Missing, which say what a write has made."""

import re

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from flagstaff.services.revisions import watch_revision
from flagstaff.web.edge.revisions import change_header, live_on_headers, revision_header
from flagstaff.web.management.reading import only_reads

_evaluated = re.compile(r"/api/projects(/[^/]+)?(/(environments|segments|regenerate-key|changes|flags|copy)(/.*)?)?")


def makes_revision(method: str, path: str) -> bool:
    """Whether a request may change what is evaluated."""
    return not only_reads(method, path) and _evaluated.fullmatch(path) is not None


class RevisionHeader:
    """Adds the headers to the response of each request that has changed what is evaluated."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not makes_revision(scope["method"], scope["path"]):
            await self._app(scope, receive, send)
            return
        with watch_revision() as written:

            async def send_with_revision(message: Message) -> None:
                if message["type"] == "http.response.start":
                    revision, live_on = written.revision, written.live_on
                    own = [revision_header(revision)] if revision is not None else []
                    own += [change_header(written.change)] if written.change is not None else []
                    message["headers"] = [*message["headers"], *own, *(live_on_headers(live_on) if live_on else [])]
                await send(message)

            await self._app(scope, receive, send_with_revision)
