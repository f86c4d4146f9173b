"""Revisions: numbers that tell the states of what is evaluated apart, the same on all instances."""

from collections.abc import Sequence
from typing import NamedTuple


class Revision(NamedTuple):
    """The revision of an environment, and of its project when it was read: all changes up to `project` are in it."""

    environment: int
    project: int


class LiveOn(NamedTuple):
    """The instances that serve a change: how many of how many, and the names of those that may not serve it.

    These have lost their connection to the database, or have ended without saying so.
    """

    live: int
    known: int
    missing: Sequence[str]


class Wanted(NamedTuple):
    """The state of a project that others must serve: at least a revision or, if it is None, whatever is committed.

    `is_announced` says that they have been told of the change, and load it without being asked.
    """

    revision: int | None
    is_announced: bool = False
