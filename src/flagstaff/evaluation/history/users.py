"""The number of users, as the history answers it."""

from typing import NamedTuple


class DistinctUsers(NamedTuple):
    """The number of users with a flag on, and with it off; a user can be among both.

    `error` is the relative standard error of both numbers, 0 if they are exact.
    """

    on: int
    off: int
    error: float
