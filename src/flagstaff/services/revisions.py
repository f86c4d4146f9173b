"""Which revision of a project a request has made."""

from flagstaff.storage.revisions import watch_revision

__all__ = ["watch_revision"]
