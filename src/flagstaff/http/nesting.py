"""The bounds on the JSON of a body, which are checked before it is decoded: its nesting and its size in items.

Without the first, the interpreter's own limit decides, which differs between versions and with the depth of the stack.
Without the others, a small body can have so many fields, lists and items that reading them one by one takes tens of
milliseconds. The bodies of evaluations, which may not take one, have a bound of their own.
"""

from itertools import accumulate

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from flagstaff.concurrency.pacing import pause
from flagstaff.values.errors import invalid_field

NESTING_MAX = 512
"""Objects and lists inside each other. A decoder needs one level of Python's stack for each, of about a thousand."""

FIELDS_MAX = 20_000
"""Fields of all objects of a body."""

REPORT_FIELDS_MAX = 60_000
"""Fields of a report: twelve for each of 5,000 flags."""

CONTAINERS_MAX = 20_000
"""Objects and lists of a body."""

ITEMS_MAX = 60_000
"""Commas outside of texts: fields, and items of lists."""

MARKS_MAX = 8_192
"""Quotes, commas, colons, brackets and backslashes of an evaluation's body, also those in texts."""

IS_LARGE = "is_large"
"""The name in a request's state by which it says that decoding its body takes a millisecond or more."""

_LARGE_BYTES = 32 * 1024
_MARKS = b'"\\,:[]{}'
_BLOCK = 256
_STEPS = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")  # one level deeper or, as a signed byte, less deep
_OTHERS = bytes(set(range(256)) - set(b'[{]}"'))
_ALL_BUT_COLONS = bytes(set(range(256)) - set(b':"'))
_ALL_BUT_COMMAS = bytes(set(range(256)) - set(b',"'))
_ALL_BUT_STARTS = bytes(set(range(256)) - set(b'[{"'))


def require_simple(body: bytes) -> None:
    """Refuse a body that is nested more deeply, or has more fields, lists or items; raises Error INVALID."""
    require_shallow(body)
    if body.count(b":") > FIELDS_MAX and _count(body, _ALL_BUT_COLONS) > FIELDS_MAX:
        raise invalid_field("body", f"must not have more than {FIELDS_MAX:,} fields")
    if body.count(b"[") + body.count(b"{") > CONTAINERS_MAX and _count(body, _ALL_BUT_STARTS) > CONTAINERS_MAX:
        raise invalid_field("body", f"must not have more than {CONTAINERS_MAX:,} objects and lists")
    if body.count(b",") > ITEMS_MAX and _count(body, _ALL_BUT_COMMAS) > ITEMS_MAX:
        raise invalid_field("body", f"must not have more than {ITEMS_MAX:,} fields and items of lists")


def require_plain(body: bytes) -> None:
    """Refuse the body of an evaluation that takes long to read; raises Error INVALID. None of up to 8 KiB does."""
    if len(body) > MARKS_MAX and len(body) - len(body.translate(None, _MARKS)) > MARKS_MAX:
        raise invalid_field(
            "body",
            f"must not have more than {MARKS_MAX:,} quotes, commas, colons, brackets and backslashes, also in texts; "
            "send fewer attributes, or shorter lists and texts",
        )
    require_shallow(body)


def require_countable(body: bytes) -> None:
    """Refuse the body of a report that is nested more deeply or has more fields; raises Error INVALID."""
    require_shallow(body)
    if body.count(b":") > REPORT_FIELDS_MAX and _count(body, _ALL_BUT_COLONS) > REPORT_FIELDS_MAX:
        raise invalid_field("body", f"must not have more than {REPORT_FIELDS_MAX:,} fields")


def require_shallow(body: bytes) -> None:
    """Refuse a body that is nested more deeply; raises Error INVALID."""
    if len(body) > NESTING_MAX and body.count(b"[") + body.count(b"{") > NESTING_MAX and _is_deep(body):
        raise invalid_field("body", f"must not be nested more than {NESTING_MAX} levels deep")


def _count(body: bytes, others: bytes) -> int:
    """Count the marks outside of texts that are not among other characters."""
    marks = body.replace(rb"\\", b"").replace(rb"\"", b"").translate(None, others)
    return sum(map(len, marks.split(b'"')[::2]))


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
    """Refuses bodies that are nested too deeply, or have too many fields or lists, when their last part is read.

    A large body is checked, decoded and validated in one step each, with a pause in between.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        parts: list[bytes] = []

        async def receive_simple() -> Message:
            message = await receive()
            parts.append(message.get("body", b""))
            if not message.get("more_body"):
                body = b"".join(parts)
                parts.clear()
                require_simple(body)
                if len(body) > _LARGE_BYTES:
                    scope["state"][IS_LARGE] = True
                    await pause()
            return message

        await self._app(scope, receive_simple, send)
