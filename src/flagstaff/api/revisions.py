"""The headers Flagstaff-Revision, -Change, -Live-On and -Missing, which say what a write has made or found."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from flagstaff.api.reading import only_reads
from flagstaff.database.revisions_service import Written, watch_revision
from flagstaff.http.revisions import Header, change_header, live_on_headers, revision_header

_PROJECTS = "/api/projects"


def makes_revision(method: str, path: str) -> bool:
    """Whether the description of a request has the headers. The transactions decide whether a response has them."""
    return not only_reads(method, path) and path.startswith(_PROJECTS)


class RevisionHeader:
    """Adds the headers to the response of each request that has changed what is evaluated, or found it as asked for."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or only_reads(scope["method"], scope["path"]):
            await self._app(scope, receive, send)
            return
        with watch_revision() as written:

            async def send_with_revision(message: Message) -> None:
                if message["type"] == "http.response.start" and written.concerns_evaluations:
                    message["headers"] = [*message["headers"], *_headers(written)]
                await send(message)

            await self._app(scope, receive, send_with_revision)


def _headers(written: Written) -> list[Header]:
    own = [revision_header(written.revision)] if written.revision is not None else []
    own += [change_header(written.change)] if written.change is not None else []
    return own + (live_on_headers(written.live_on) if written.live_on is not None else [])
