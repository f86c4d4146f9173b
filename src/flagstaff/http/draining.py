"""The time before a stop, in which proxies learn to send their requests elsewhere."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from flagstaff.http.connections.protocol import HAS_MORE


class Draining:
    """In front of the application: once it has begun, each response ends its connection.

    The client has got every answer then: what it has sent before is answered first.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self.has_begun = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_last(message: Message) -> None:
            if self.has_begun and message["type"] == "http.response.start" and not has_more(scope):
                message["headers"] = [*message.get("headers", ()), (b"connection", b"close")]
            await send(message)

        await self._app(scope, receive, send_last)


def has_more(scope: Scope) -> bool:
    """Return whether further requests of the same connection wait; False for a server without this extension."""
    find = scope.get("extensions", {}).get(HAS_MORE)
    return find is not None and find()
