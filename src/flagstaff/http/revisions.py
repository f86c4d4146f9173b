"""The headers that say which state and which change a write has made, and where and since when it is in force."""

from flagstaff.database.revisions import LiveOn

REVISION = "Flagstaff-Revision"
CHANGE = "Flagstaff-Change"
LIVE_ON = "Flagstaff-Live-On"
MISSING = "Flagstaff-Missing"
STALE = "Flagstaff-Stale"
_NAME = REVISION.lower().encode()

Header = tuple[bytes, bytes]


def revision_header(revision: int) -> Header:
    """The header for a response, raw."""
    return (_NAME, b"%d" % revision)


def change_header(number: int) -> Header:
    """The header that names the latest change that a request has made, raw."""
    return (CHANGE.lower().encode(), b"%d" % number)


def live_on_headers(live_on: LiveOn) -> list[Header]:
    """On how many of the instances a change is served, such as 2/3, and the others' addresses."""
    headers = [(LIVE_ON.lower().encode(), b"%d/%d" % (live_on.live, live_on.known))]
    if live_on.missing:
        headers.append((MISSING.lower().encode(), ", ".join(live_on.missing).encode()))
    return headers


def stale_header(seconds: int) -> Header:
    """For how many seconds the instance may have missed changes."""
    return (STALE.lower().encode(), b"%d" % seconds)
