r"""Bodies that contain halves of characters, such as "\ud83d", which is what remains of an emoji that was cut in two.

JSON permits them, and JavaScript and Python write them, but no UTF-8 text contains them, and the decoder refuses a body
with one anywhere. They must not make an evaluation fail if they are in attributes or unknown fields.
"""

import re

_LONE = re.compile(
    rb"\\u[dD](?:[89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])"  # the first half of a pair without the second
    rb"|(?<!\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD])[c-fC-F][0-9a-fA-F]{2})"
)
_MAX_HALVES = 1000  # the decoder refuses a body with more, so that no body takes long
# Bytes that UTF-8 never contains.
_BACKSLASHES, _NO_CHARACTER = b"\xfe\xfe", b"\xff"


def without_lone_surrogates(body: bytes) -> bytes | None:
    """The body with a byte that is not UTF-8 in place of each half, or None if it has none.

    The decoder skips texts with such a byte, and refuses them where it reads text.
    """
    if b"\\u" not in body or _BACKSLASHES in body:
        return None
    marked = body.replace(b"\\\\", _BACKSLASHES)  # an escaped backslash before a u begins no escape
    repaired, found = _LONE.subn(_NO_CHARACTER, marked, count=_MAX_HALVES)
    return repaired.replace(_BACKSLASHES, b"\\\\") if found else None
