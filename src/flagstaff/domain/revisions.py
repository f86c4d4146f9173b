"""Revisions: numbers that tell the states of what is evaluated apart, the same on all instances."""

from typing import NamedTuple


class Revision(NamedTuple):
    """The revision of an environment, and of its project when it was read: all changes up to `project` are in it."""

    environment: int
    project: int
