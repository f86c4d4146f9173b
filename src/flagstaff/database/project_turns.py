"""Writes to a project wait for each other without a connection, so that they do not keep any from other projects.

With PostgreSQL each write locks the row of its project. Those that waited for a row, of one copy after the other, would
otherwise hold all connections of the pool, also those that are kept for kills.
"""

import random
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from time import monotonic
from uuid import UUID
from weakref import WeakValueDictionary

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.database import tables
from flagstaff.database.turns import Turns

WAIT_SECONDS = 10.0
"""For how long a write waits for others to its project: in this process, and then on other instances."""
_PAUSES_SECONDS = 0.005, 0.05
_projects = tables.projects
_present = sa.select(_projects.c.id).where(_projects.c.id == sa.bindparam("project"))
_lock = _present.with_for_update(skip_locked=True)


class ProjectTurns:
    """Lets one write to each project of this process go on at a time: kills first, and accounts in turns."""

    def __init__(self) -> None:
        self._turns: WeakValueDictionary[UUID, Turns] = WeakValueDictionary()

    @asynccontextmanager
    async def take(self, project: UUID | None) -> AsyncIterator[None]:
        """Wait for the turn, and keep it until the context ends; raises Error UNAVAILABLE if it does not come in time.

        None stands for what is not known to write to one project. It does not wait.
        """
        if project is None:
            yield
            return
        turns = self._turns.get(project)
        if turns is None:
            turns = self._turns[project] = Turns(1, wait_seconds=WAIT_SECONDS)
        async with turns.take():
            yield


async def lock(connection: AsyncConnection, project: UUID) -> bool:
    """Lock a project until the transaction ends; return False, without waiting, while another instance writes to it."""
    given = {"project": project}
    if (await connection.execute(_lock, given)).first() is not None:
        return True
    return (await connection.execute(_present, given)).first() is None  # there is nothing to lock


def pauses() -> Iterator[float]:
    """The pauses between attempts at a lock, in seconds, which grow, until it has taken too long."""
    gives_up_at = monotonic() + WAIT_SECONDS
    seconds, longest = _PAUSES_SECONDS
    while monotonic() < gives_up_at:
        yield seconds * random.uniform(0.5, 1.0)  # noqa: S311 - no secret
        seconds = min(2 * seconds, longest)
