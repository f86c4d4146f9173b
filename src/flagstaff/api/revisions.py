"""The headers Flagstaff-Revision, -Change, -Live-On and -Missing, which say what a write has made or found."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from flagstaff.database.revisions_service import Written, watch_revision
from flagstaff.http.operations import operation_of
from flagstaff.http.revisions import Header, change_header, live_on_headers, revision_header


class RevisionHeader:
    """Adds the headers to the response of each request that has changed what is evaluated, or found it as asked for."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        operation = operation_of(scope)
        if operation is None or not operation.reports_revision:
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
