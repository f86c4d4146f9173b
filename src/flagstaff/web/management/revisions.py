"""The header Flagstaff-Revision, which says which state a write has made."""

import re

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from flagstaff.services.revisions import watch_revision
from flagstaff.web.edge.revisions import revision_header
from flagstaff.web.management.reading import only_reads

_evaluated = re.compile(r"/api/projects(/[^/]+)?(/(environments|segments|regenerate-key)(/.*)?)?")


def makes_revision(method: str, path: str) -> bool:
    """Whether a request may change what is evaluated."""
    return not only_reads(method, path) and _evaluated.fullmatch(path) is not None


class RevisionHeader:
    """Adds the header to the response of each request that has changed what is evaluated."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not makes_revision(scope["method"], scope["path"]):
            await self._app(scope, receive, send)
            return
        with watch_revision() as written:

            async def send_with_revision(message: Message) -> None:
                if message["type"] == "http.response.start" and written.revision is not None:
                    message["headers"] = [*message["headers"], revision_header(written.revision)]
                await send(message)

            await self._app(scope, receive, send_with_revision)
