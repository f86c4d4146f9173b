"""Claims on what all accounts share, such as the database: for whom something is done, and how urgent it is."""

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from enum import IntEnum
from typing import NamedTuple
from uuid import UUID


class Priority(IntEnum):
    """The classes of work, the most urgent first."""

    KILL = 0
    """A flag is turned off or a key is revoked, also what that waits for; and what keeps this instance serving."""
    SHORT = 1
    LONG = 2
    """Many rows are read or written, as by copies, bulk actions and deletions."""


class Claim(NamedTuple):
    """Whose work it is, and how urgent. A client is an account, a project for what it does by itself, or the server.

    `project` is the one that is written to, if that is known before.
    """

    client: Hashable
    priority: Priority
    project: UUID | None = None


SERVER = Claim(None, Priority.SHORT)
_claim: ContextVar[Claim] = ContextVar("claim", default=SERVER)


@contextmanager
def claiming(client: Hashable, priority: Priority = Priority.SHORT, project: UUID | None = None) -> Iterator[None]:
    """Let what is done inside, and tasks that are created inside, wait for its turns with this claim."""
    token = _claim.set(Claim(client, priority, project))
    try:
        yield
    finally:
        _claim.reset(token)


def current_claim() -> Claim:
    """The claim of what is done at the moment: the server's own outside of any `claiming`."""
    return _claim.get()
