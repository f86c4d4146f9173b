"""Favourites: the flags that an account wants to see first in a project, by their keys."""

from flagstaff.values.errors import Code, Error

FAVOURITES_MAX = 200


def require_room_for_favourite(present: int) -> None:
    """Raise Error CONFLICT if an account has too many favourites in a project to add another."""
    if present >= FAVOURITES_MAX:
        raise Error(
            Code.CONFLICT, f"You have {present} favourites in this project, which is the most. Remove some first."
        )
