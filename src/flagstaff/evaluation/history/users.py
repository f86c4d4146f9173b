"""How many users there were, as the history answers it."""

from typing import NamedTuple


class DistinctUsers(NamedTuple):
    """How many users had a flag on, and how many had it off; a user can be among both.

    `error` is the relative standard error of both numbers, 0 if they are exact.
    """

    on: int
    off: int
    error: float
