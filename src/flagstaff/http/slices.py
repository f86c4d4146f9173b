"""Cuts long JSON into short parts, which are decoded one by one, so that other requests are answered in between.

A thread would not help: a decoder lets no other thread run.
"""

import re
from collections.abc import Iterator

from flagstaff.values.errors import invalid_field

_KIB = 1024
_SLICE_BYTES = 8 * _KIB
ITEM_MAX_BYTES = 64 * _KIB
_find_marks = re.compile(rb'"(?:[^"\\]|\\.)*"|[][{},]', re.DOTALL).finditer
_OPENING, _CLOSING, _COMMA = b"[{", b"]}", ord(",")


def slices(document: bytes, item_max_bytes: int = ITEM_MAX_BYTES) -> Iterator[bytes]:
    """Yield the items of an object or a list in objects or lists of some 8 KiB; what is neither as it is.

    The document must be well-formed, as a `msgspec.Raw` is.

    Raises:
        Error: INVALID for an item that is longer than this.
    """
    if document[:1] not in (b"{", b"["):
        yield document
        return
    opening, closing, end = document[:1], document[-1:], len(document) - 1
    start, level = 1, 0
    for found in _find_marks(document, 1, end):
        place = found.start()
        mark = document[place]
        if mark in _OPENING:
            level += 1
        elif mark in _CLOSING:
            level -= 1
        elif mark == _COMMA and level == 0 and place - start >= _SLICE_BYTES:
            yield opening + _require_short(document[start:place], item_max_bytes) + closing
            start = place + 1
    yield opening + _require_short(document[start:end], item_max_bytes) + closing


def _require_short(part: bytes, item_max_bytes: int) -> bytes:
    # All items but the last end within the length of a slice.
    if len(part) > _SLICE_BYTES + item_max_bytes:
        raise invalid_field("body", f"must not have an item of more than {item_max_bytes // _KIB} KiB")
    return part
