"""The spelling of addresses: a path that a proxy's rule may read otherwise than this server names nothing.

A proxy that compares paths as they are sent does not see that `/%6Detrics` is `/metrics`.
"""

import re

from flagstaff.values.errors import Code, Error

_HIDDEN = re.compile(rb"%(?:(2[DE]|3[0-9]|[46][1-9A-F]|[57][0-9A]|5F|7E)|[01][0-9A-F]|2F|7F)", re.IGNORECASE)
"""Percent-encodings of unreserved characters (RFC 3986, 2.3), which are a group, of control characters, and of a slash.

An unreserved character is the same as its encoding. A control character or a slash is not, but the framework takes an
encoded slash for a separator, and leaves out a line feed at the end.
"""


def require_plain(path: bytes) -> None:
    """Raise Error NOT_FOUND for a path, as it was sent, that spells a character in a way that a proxy may not see."""
    hidden = _HIDDEN.search(path)
    if hidden is None:
        return
    spelled = hidden[0].decode().upper()
    character = hidden[1] and chr(int(hidden[1], 16))
    advice = f"Write {character} instead of {spelled} in its path." if character else f"Its path cannot have {spelled}."
    raise Error(Code.NOT_FOUND, f"There is nothing at this address. {advice}")
