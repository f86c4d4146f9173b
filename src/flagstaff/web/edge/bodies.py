"""The bound on request bodies."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from flagstaff.domain.errors import Code, Error
from flagstaff.web.edge.heads import content_length

BODY_MAX_BYTES = 256 * 1024
_TOO_LARGE = f"The body is larger than {BODY_MAX_BYTES // 1024} KiB."


class BodyLimit:
    """Refuses a body over the bound: at once when its length is announced, else as soon as it has grown too long."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        for name, value in scope["headers"]:
            if name == b"content-length" and (content_length(value) or 0) > BODY_MAX_BYTES:
                raise Error(Code.TOO_LARGE, _TOO_LARGE)
        received = 0

        async def receive_within_bound() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > BODY_MAX_BYTES:
                raise Error(Code.TOO_LARGE, _TOO_LARGE)
            return message

        await self._app(scope, receive_within_bound, send)
