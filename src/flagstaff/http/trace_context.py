"""The trace that a request belongs to, as W3C's Trace Context describes it."""

import re

_TRACEPARENT = re.compile(rb"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?", re.DOTALL)
_NO_TRACE, _NO_SPAN = b"0" * 32, b"0" * 16
_NO_VERSION, _FIRST_VERSION = b"ff", b"00"
_MAX_BYTES = 256


def trace_id_in(traceparent: bytes | None) -> str | None:
    """The trace's id in a `traceparent`; None if there is no header, or one that the specification calls invalid.

    Later versions may be longer than the first.
    """
    if traceparent is None or len(traceparent) > _MAX_BYTES:
        return None
    found = _TRACEPARENT.fullmatch(traceparent)
    if found is None:
        return None
    version, trace, span, more = found.groups()
    if version == _NO_VERSION or trace == _NO_TRACE or span == _NO_SPAN or (version == _FIRST_VERSION and more):
        return None
    trace_id: str = trace.decode()
    return trace_id
