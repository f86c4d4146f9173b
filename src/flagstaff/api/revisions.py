"""The headers Flagstaff-Revision, -Change, -Live-On and -Missing, which say what a write has made or found."""

from collections.abc import Iterator
from contextlib import contextmanager

from starlette.types import Message, Send

from flagstaff.database.revisions_service import Written, watch_revision
from flagstaff.http.revisions import Header, change_header, live_on_headers, revision_header


@contextmanager
def reporting_revision(send: Send) -> Iterator[Send]:
    """A `send` that adds the headers if a request has changed what is evaluated, or found it as asked for."""
    with watch_revision() as written:

        async def send_with_revision(message: Message) -> None:
            if message["type"] == "http.response.start" and written.concerns_evaluations:
                message["headers"] = [*message["headers"], *_headers(written)]
            await send(message)

        yield send_with_revision


def _headers(written: Written) -> list[Header]:
    own = [revision_header(written.revision)] if written.revision is not None else []
    own += [change_header(written.change)] if written.change is not None else []
    return own + (live_on_headers(written.live_on) if written.live_on is not None else [])
