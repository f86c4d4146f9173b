"""The header Flagstaff-Min-Revision: the revision that a request demands of its answer."""

import re

from flagstaff.http.revisions import REVISION
from flagstaff.serving.entity_tags import Headers
from flagstaff.values.errors import Code, Error

MIN_REVISION = "Flagstaff-Min-Revision"
DEMAND = MIN_REVISION.lower().encode()
_number = re.compile(rb"[0-9]{1,18}")


def demanded_in(headers: Headers) -> int | None:
    """The revision that a request demands; None if it demands none. Raises Error INVALID unless it is a number."""
    given = [value for name, value in headers if name == DEMAND]
    if not given:
        return None
    if len(given) > 1 or not _number.fullmatch(given[0]):
        raise Error(
            Code.INVALID,
            f"The header {MIN_REVISION} is not a number. Send the one in {REVISION} of a change's response.",
        )
    return int(given[0])
