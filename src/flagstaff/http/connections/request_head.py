"""Request heads: what the parser accepts but HTTP/1.1 (RFC 9112) forbids or this server does not support, and paths."""

import re
from collections.abc import Sequence

from flagstaff.http.operations import PROTOCOLS

CONTENT_LENGTH_MAX = 10**15
"""The value that `content_length` returns for any larger number: far above every bound, and cheap to compare."""

is_host = re.compile(rb"[A-Za-z0-9._~!$&'()*+,;=:%\[\]-]*").fullmatch
"""Matches a Host header, which may be empty."""

_LENGTH_DIGITS = 15
_slashes = re.compile(rb"//+")
_PROTOCOLS = tuple(start.encode() for start in PROTOCOLS)


def objection(method: bytes, version: str, headers: Sequence[tuple[bytes, bytes]]) -> tuple[int, str] | None:
    """The status and detail with which to refuse a head; None if it is valid. Header names are in lower case."""
    if version not in ("1.1", "1.0"):
        return 505, f"HTTP/{version} is not supported. Use HTTP/1.1."
    if method == b"CONNECT":
        return 501, "The method CONNECT is not supported. This server is not a proxy."
    hosts = 0
    for name, value in headers:
        if name == b"host":
            hosts += 1
            if not is_host(value):
                return 400, "The Host header is not a valid host name or address."
        elif name == b"transfer-encoding" and value.strip().lower() != b"chunked":
            # A proxy that interprets a coding differently sees the body end elsewhere.
            return 501, "The request's Transfer-Encoding is not supported. Use Transfer-Encoding: chunked."
    if hosts > 1 or (not hosts and version == "1.1"):
        return 400, f"The request has {hosts or 'no'} Host headers. Send exactly one."
    return None


def content_length(value: bytes) -> int | None:
    """The length that a Content-Length header announces, at most CONTENT_LENGTH_MAX; None if it is not a number.

    Python's int() refuses texts of thousands of digits, which a client may send.
    """
    if not value.isdigit():
        return None
    digits = value.lstrip(b"0")
    return int(digits or b"0") if len(digits) <= _LENGTH_DIGITS else CONTENT_LENGTH_MAX


def merge_slashes(url: bytes, path_prefix: bytes = b"") -> bytes:
    """The URL of a request with one slash for several in its path, if that is a path of applications after the prefix.

    Their clients append a path to an address that may end in a slash. All other paths stay as they are: a proxy has
    rules for some, such as `/metrics`, which `//metrics` must not pass by.
    """
    path, question, query = url.partition(b"?")
    merged = _slashes.sub(b"/", path)
    return merged + question + query if merged.removeprefix(path_prefix).startswith(_PROTOCOLS) else url
