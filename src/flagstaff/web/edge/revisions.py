"""The header Flagstaff-Revision: which state a write has made, or an answer is from."""

REVISION = "Flagstaff-Revision"
_NAME = REVISION.lower().encode()


def revision_header(revision: int) -> tuple[bytes, bytes]:
    """The header for a response, raw."""
    return (_NAME, b"%d" % revision)
