"""Cuts long JSON into short parts, which are decoded one by one, so that other requests are answered in between.

A thread would not help: a decoder lets no other thread run.
"""

import re
from collections.abc import Iterator

from flagstaff.values.errors import invalid_field

_KIB = 1024
_SLICE_BYTES = 8 * _KIB
_STEP_BYTES = 4 * _KIB  # looked at in one step, which takes half a millisecond at most
ITEM_MAX_BYTES = 64 * _KIB
_find_marks = re.compile(rb'\\.|[]["{},]', re.DOTALL).finditer
_QUOTE, _COMMA, _BACKSLASH = b'",\\'
_OPENING = b"[{"


def steps(document: bytes) -> Iterator[bytes]:
    """Yield short parts that are together the document. None ends between a backslash and what it escapes."""
    start = 0
    while start < len(document):
        part = document[start : start + _STEP_BYTES]
        if len(part) > 1 and (len(part) - len(part.rstrip(b"\\"))) % 2:
            part = part[:-1]
        start += len(part)
        yield part


def slices(document: bytes, item_max_bytes: int = ITEM_MAX_BYTES) -> Iterator[bytes]:
    """Yield the items of an object or a list in objects or lists of some 8 KiB; what is neither as it is.

    Parts are empty while a long item is searched for its end. The document must be well-formed, as a `msgspec.Raw` is.

    Raises:
        Error: INVALID for an item that is longer than this.
    """
    if document[:1] not in (b"{", b"["):
        yield document
        return
    opening, closing, start, end = document[:1], document[-1:], 1, len(document) - 1
    for place, is_comma in _searching(document[1:end]):
        if not is_comma:
            _require_short(document[start:place], item_max_bytes)
            yield opening + closing
        elif place - start >= _SLICE_BYTES:
            yield opening + _require_short(document[start:place], item_max_bytes) + closing
            start = place + 1
    yield opening + _require_short(document[start:end], item_max_bytes) + closing


def _searching(items: bytes) -> Iterator[tuple[int, bool]]:
    """Yield the places of the commas between items, which begin at 1, with True; with False, the time of each step."""
    level, is_text, start = 0, False, 1
    for step in steps(items):
        if start > 1:
            yield start, False
        for found in _find_marks(step):
            mark = step[found.start()]
            if mark == _QUOTE:
                is_text = not is_text
            elif is_text or mark == _BACKSLASH:
                continue
            elif mark != _COMMA:
                level += 1 if mark in _OPENING else -1
            elif level == 0:
                yield start + found.start(), True
        start += len(step)


def _require_short(part: bytes, item_max_bytes: int) -> bytes:
    # All items but the last end within the length of a slice.
    if len(part) > _SLICE_BYTES + item_max_bytes:
        raise invalid_field("body", f"must not have an item of more than {item_max_bytes // _KIB} KiB")
    return part
