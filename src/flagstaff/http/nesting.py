"""The bound on how deeply the JSON of a body is nested, the same with every Python.

Without it, the interpreter's own limit decides, which differs between versions and with the depth of the stack.
"""

from itertools import accumulate

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from flagstaff.values.errors import invalid_field

NESTING_MAX = 512
"""Objects and lists inside each other. A decoder needs one level of Python's stack for each, of about a thousand."""

_BLOCK = 256
_STEPS = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")  # one level deeper or, as a signed byte, less deep
_OTHERS = bytes(set(range(256)) - set(b'[{]}"'))


def require_shallow(body: bytes) -> None:
    """Refuse a body that is nested more deeply; raises Error INVALID."""
    if len(body) > NESTING_MAX and body.count(b"[") + body.count(b"{") > NESTING_MAX and _is_deep(body):
        raise invalid_field("body", f"must not be nested more than {NESTING_MAX} levels deep")


def _is_deep(body: bytes) -> bool:
    marks = body.replace(rb"\\", b"").replace(rb"\"", b"").translate(_STEPS, _OTHERS)
    steps = b"".join(marks.split(b'"')[::2])  # outside of texts
    level = 0
    for start in range(0, len(steps), _BLOCK):
        block = steps[start : start + _BLOCK]
        opened = block.count(1)
        # Few blocks can reach the bound, and only those are looked at byte by byte.
        if level + opened > NESTING_MAX and max(accumulate(memoryview(block).cast("b"), initial=level)) > NESTING_MAX:
            return True
        level += 2 * opened - len(block)
    return False


class NestingBound:
    """Refuses bodies that are nested too deeply when their last part is read."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        parts: list[bytes] = []

        async def receive_shallow() -> Message:
            message = await receive()
            parts.append(message.get("body", b""))
            if not message.get("more_body"):
                require_shallow(b"".join(parts))
                parts.clear()
            return message

        await self._app(scope, receive_shallow, send)
