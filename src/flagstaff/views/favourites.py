"""Favourites: the flags that an account wants to see first in a project, by their keys."""

FAVOURITES_MAX = 200
"""The number of favourites of an account in a project at most."""
