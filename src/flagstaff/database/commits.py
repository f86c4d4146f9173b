"""Tells whether a request has begun to commit a change, which may then be stored although nobody has confirmed it."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(slots=True)
class Commits:
    """The commits of a request: `have_begun` is True once one has begun."""

    have_begun: bool = False


_watched: ContextVar[Commits | None] = ContextVar("watched commits", default=None)


@contextmanager
def watching(commits: Commits) -> Iterator[None]:
    """Note in `commits` whether one begins inside this context, also in tasks that are created in it."""
    token = _watched.set(commits)
    try:
        yield
    finally:
        _watched.reset(token)


def record_commit() -> None:
    """Tell whoever watches that a commit begins."""
    if (commits := _watched.get()) is not None:
        commits.have_begun = True
