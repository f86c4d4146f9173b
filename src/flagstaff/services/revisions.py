"""Which revision of a project a request has made."""

from flagstaff.storage.revisions import Written, watch_revision

__all__ = ["Written", "watch_revision"]
