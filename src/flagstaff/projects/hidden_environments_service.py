"""Builds environments that nobody sees yet, and removes those that nobody sees any more.

Each transaction is short, because others wait for it. What a process that was killed has built, or was removing, is
removed by the next one.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import TypeVar
from uuid import UUID

from flagstaff.concurrency.claims import SERVER, Priority, claiming
from flagstaff.database.database import Database, Transaction
from flagstaff.projects import hidden_environments_store
from flagstaff.projects.projects import Environment
from flagstaff.values.errors import Error
from flagstaff.values.lists import parts_of

T = TypeVar("T")

ROWS_AT_ONCE = 200
"""The most rows that a transaction adds to a hidden environment: others wait for it."""
REMOVED_EVERY_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class HiddenEnvironments:
    """The use cases of environments without a project. They check no permissions."""

    database: Database

    @asynccontextmanager
    async def building(self, environment: Environment) -> AsyncIterator[None]:
        """Build an environment; if that fails, it is removed."""
        async with self.database.transaction() as transaction:
            await hidden_environments_store.build_environment(transaction.connection, environment)
        try:
            yield
        except Exception:
            await self.give_up(environment.id)
            raise

    async def add(
        self, environment_id: UUID, rows: Sequence[T], write: Callable[[Transaction, Sequence[T]], Awaitable[object]]
    ) -> None:
        """Write rows into an environment that is being built, some in each transaction."""
        for some in parts_of(rows, ROWS_AT_ONCE):
            async with self.database.transaction() as transaction:
                await hidden_environments_store.hold_environment(transaction.connection, environment_id)
                await write(transaction, some)

    async def give_up(self, environment_id: UUID) -> None:
        """Let what was built be removed. If the database is away, this happens when its time is over."""
        with suppress(Error):
            async with self.database.transaction() as transaction:
                await hidden_environments_store.give_up_environment(transaction.connection, environment_id)

    async def remove_all(self) -> None:
        """Remove all rows that nobody needs any more, after what others wait for."""
        with claiming(SERVER.client, Priority.LONG):
            await self.remove()

    async def remove(self, most: int | None = None) -> None:
        """Remove rows that nobody needs any more: all of them, or as many as so many transactions can."""
        async with self.database.query() as connection:
            if not await hidden_environments_store.is_any_unneeded(connection):
                return
        turns = 0
        while most is None or turns < most:
            async with self.database.transaction() as transaction:
                if not await hidden_environments_store.remove_some(transaction.connection):
                    return
            turns += 1
