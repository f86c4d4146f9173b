"""Writes to a project wait for each other without a connection, so that they do not keep any from other projects.

With PostgreSQL each write locks the row of its project. Those that waited for a row, of one copy after the other, would
otherwise hold all connections of the pool, also those that are kept for kills.
"""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.concurrency.claims import Priority, current_claim
from flagstaff.database import tables

WAIT_SECONDS = 10.0
"""For how long a write waits for others to its project, in this process and on other instances."""
_PAUSES, _PAUSES_OF_KILLS = (0.005, 0.05), (0.002, 0.01)
_projects = tables.projects
_present = sa.select(_projects.c.id).where(_projects.c.id == sa.bindparam("project"))
_lock = _present.with_for_update(skip_locked=True)


class ProjectTurns:
    """Lets one write to each project of this process go on at a time.

    Nobody keeps the turn of a project while it waits for a connection, nor a connection while it waits for the turn:
    it asks again. Otherwise a project's kill would wait for its copy, which waits behind other projects' copies.
    """

    def __init__(self) -> None:
        self._written: set[UUID] = set()

    def is_free(self, project: UUID | None) -> bool:
        """Return whether nobody writes to a project here. None stands for what writes to no project that is known."""
        return project not in self._written

    @contextmanager
    def writing(self, project: UUID | None) -> Iterator[None]:
        """Keep a free project for this write until the context ends."""
        if project is None:
            yield
            return
        self._written.add(project)
        try:
            yield
        finally:
            self._written.discard(project)


async def lock(connection: AsyncConnection, project: UUID) -> bool:
    """Lock a project until the transaction ends; return False, without waiting, while another instance writes to it."""
    given = {"project": project}
    if (await connection.execute(_lock, given)).first() is not None:
        return True
    return (await connection.execute(_present, given)).first() is None  # there is nothing to lock


def pauses() -> Iterator[float]:
    """The pauses between attempts, in seconds, which grow, until it has taken too long. A kill pauses for less."""
    gives_up_at = monotonic() + WAIT_SECONDS
    seconds, longest = _PAUSES_OF_KILLS if current_claim().priority is Priority.KILL else _PAUSES
    while monotonic() < gives_up_at:
        yield seconds * random.uniform(0.5, 1.0)  # noqa: S311 - no secret
        seconds = min(2 * seconds, longest)
