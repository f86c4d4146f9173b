"""The bounds on the JSON of a body, which are checked before it is decoded: its nesting and its size in items.

Without the first, the interpreter's own limit decides, which differs between versions and with the depth of the stack.
Without the others, a small body can have so many fields, lists and items that reading them one by one takes tens of
milliseconds. The bodies of evaluations, which may not take one, have a bound of their own.
"""

from collections.abc import Iterator
from itertools import accumulate

from flagstaff.http.slices import steps
from flagstaff.values.errors import invalid_field

NESTING_MAX = 512
"""Objects and lists inside each other. A decoder needs one level of Python's stack for each, of about a thousand."""

FIELDS_MAX = 20_000
"""Fields of all objects of a body."""

REPORT_FIELDS_MAX = 60_000
"""Fields of a report: twelve for each of 5,000 flags."""

REPORT_ITEMS_MAX = 120_000
"""Objects and lists of a report, and their fields and items."""

REPORT_ESCAPES_MAX = 60_000
"""Backslashes of a report, each of which makes its decoding longer."""

CONTAINERS_MAX = 20_000
"""Objects and lists of a body."""

ITEMS_MAX = 60_000
"""Commas outside of texts: fields, and items of lists."""

MARKS_MAX = 8_192
"""Quotes, commas, colons, brackets and backslashes of an evaluation's body, also those in texts."""

IS_LARGE = "is_large"
"""The name in a request's state by which it says whether its body is large, once that is checked."""

LARGE_BYTES = 32 * 1024
"""Decoding a larger body takes a millisecond or more."""

_MARKS = b'"\\,:[]{}'
_BLOCK = 256
_STEPS = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")  # one level deeper or, as a signed byte, less deep
_NO_STRUCTURE = bytes(set(range(256)) - set(b'[{]}:,"'))


def require_simple(body: bytes) -> None:
    """Refuse a body that is nested more deeply, or has more fields, lists or items; raises Error INVALID."""
    require_shallow(body)
    if body.count(b":") > FIELDS_MAX and _count(body, b":") > FIELDS_MAX:
        raise invalid_field("body", f"must not have more than {FIELDS_MAX:,} fields")
    if body.count(b"[") + body.count(b"{") > CONTAINERS_MAX and _count(body, b"[", b"{") > CONTAINERS_MAX:
        raise invalid_field("body", f"must not have more than {CONTAINERS_MAX:,} objects and lists")
    if body.count(b",") > ITEMS_MAX and _count(body, b",") > ITEMS_MAX:
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


def require_decodable(body: bytes) -> None:
    """Refuse the body of a report that takes long to decode; raises Error INVALID."""
    level = fields = items = 0
    for marks in _outside_texts(body):
        level = _follow(marks, level)
        fields += marks.count(b":")
        items += marks.count(b",") + marks.count(b"[") + marks.count(b"{")
        if fields > REPORT_FIELDS_MAX:
            raise invalid_field("body", f"must not have more than {REPORT_FIELDS_MAX:,} fields")
        if items > REPORT_ITEMS_MAX:
            raise invalid_field("body", f"must not have more than {REPORT_ITEMS_MAX:,} objects, lists and their items")
    if body.count(b"\\") > REPORT_ESCAPES_MAX:
        raise invalid_field("body", f"must not have more than {REPORT_ESCAPES_MAX:,} backslashes")


def require_shallow(body: bytes) -> None:
    """Refuse a body that is nested more deeply; raises Error INVALID."""
    if len(body) > NESTING_MAX and body.count(b"[") + body.count(b"{") > NESTING_MAX:
        level = 0
        for marks in _outside_texts(body):
            level = _follow(marks, level)


def _count(body: bytes, *wanted: bytes) -> int:
    """Count these marks outside of texts."""
    return sum(marks.count(each) for marks in _outside_texts(body) for each in wanted)


def _outside_texts(body: bytes) -> Iterator[bytes]:
    """Yield the brackets, colons and commas outside of texts, in steps."""
    is_text = False
    for part in steps(body):
        marks = part.replace(rb"\\", b"").replace(rb"\"", b"").translate(None, _NO_STRUCTURE).split(b'"')
        yield b"".join(marks[is_text::2])
        is_text ^= len(marks) % 2 == 0


def _follow(marks: bytes, level: int) -> int:
    """Return the level after these marks, which begin at a level; raises Error INVALID for one that is too deep."""
    steps = marks.translate(_STEPS, b":,")
    for start in range(0, len(steps), _BLOCK):
        block = steps[start : start + _BLOCK]
        opened = block.count(1)
        # Few blocks can reach the bound, and only those are looked at byte by byte.
        if level + opened > NESTING_MAX and max(accumulate(memoryview(block).cast("b"), initial=level)) > NESTING_MAX:
            raise invalid_field("body", f"must not be nested more than {NESTING_MAX} levels deep")
        level += 2 * opened - len(block)
    return level
