"""The bounds on request bodies, by path, and reading whole bodies."""

import re

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from flagstaff.http.request_head import content_length
from flagstaff.values.errors import Code, Error

_KIB = 1024
BODY_MAX_BYTES = 256 * _KIB
"""For evaluations."""

# Contexts whose members are all attributes: tens of thousands would take many milliseconds to read.
_WITH_CONTEXT = 64 * _KIB
# A description has up to 10,000 characters, and JSON may spell a character with twelve bytes.
_WITH_DESCRIPTION = 128 * _KIB
# Conditions have lists of up to 10,000 values: enough for so many UUIDs.
_WITH_CONDITIONS = 512 * _KIB
# Enough for a password of 1,024 such characters and an email.
_OTHERS = 16 * _KIB
_BOUNDS = (
    (re.compile(r"/ofrep/.*|/unleash/api/frontend(/.*)?"), _WITH_CONTEXT),
    (re.compile(r"/(sdk|unleash)/.*"), BODY_MAX_BYTES),
    (re.compile(r"/api/projects(/[^/]+(/flags)?)?"), _WITH_DESCRIPTION),
    (re.compile(r"/api/projects/[^/]+/(environments/[^/]+/answers|playground)"), BODY_MAX_BYTES),
    (re.compile(r"/api/projects/[^/]+/segments(/[^/]+)?"), _WITH_CONDITIONS),
    (re.compile(r"/api/projects/[^/]+/environments/[^/]+/(explain|flags/[^/]+/impact)"), _WITH_CONDITIONS),
    (re.compile(r"/api/projects/[^/]+/environments/[^/]+/flags(/[^/]+)?"), _WITH_DESCRIPTION),
    (re.compile(r"/api/projects/[^/]+/environments/[^/]+/flags/[^/]+/rules(/[^/]+)?"), _WITH_CONDITIONS),
)


def body_max_bytes(path: str) -> int:
    """The maximum length of a body sent to a path."""
    return next((bound for pattern, bound in _BOUNDS if pattern.fullmatch(path)), _OTHERS)


class BodyLimit:
    """Refuses a body over the bound: at once if Content-Length exceeds it, otherwise when too much has arrived."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        bound = body_max_bytes(scope["path"])
        for name, value in scope["headers"]:
            if name == b"content-length" and (content_length(value) or 0) > bound:
                raise _too_large(bound)
        received = 0

        async def receive_within_bound() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > bound:
                raise _too_large(bound)
            return message

        await self._app(scope, receive_within_bound, send)


async def read_body(receive: Receive) -> bytes | None:
    """The whole body, or None if the client has left before its end."""
    parts = []
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        parts.append(message.get("body", b""))
        if not message.get("more_body"):
            return b"".join(parts)


def replay(body: bytes, receive: Receive) -> Receive:
    """A `receive` that returns the body that was read, and then later messages."""
    unread = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_again() -> Message:
        return unread.pop() if unread else await receive()

    return receive_again


def _too_large(bound: int) -> Error:
    return Error(Code.TOO_LARGE, f"The body is larger than {bound // _KIB} KiB, the most that this path accepts.")
