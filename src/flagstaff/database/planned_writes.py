"""Writes that are planned before their transaction begins, because others wait for its turn.

A plan rests on what was read outside. The write compares that with what it finds in its transaction, and is planned
again if it has changed.
"""

from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from flagstaff.database.database import Database, Transaction
from flagstaff.values.errors import Code, Error

P = TypeVar("P")
T = TypeVar("T")

PLANS_MAX = 3
"""How often a write is planned, before it is refused because others change what it rests on all the time."""


class OutdatedError(Exception):
    """A plan rests on something that has been changed since."""


@dataclass(frozen=True, slots=True)
class Planning(Generic[P]):
    """How to plan a write, and how to take back what the plan has prepared if it is not carried out."""

    plan: Callable[[], Awaitable[P]]
    take_back: Callable[[P], Awaitable[None]] | None = None

    async def undo(self, plan: P) -> None:
        """Take back what a plan has prepared."""
        if self.take_back is not None:
            await self.take_back(plan)


class _PlansAhead:
    """The plans of a write inside of `Database.shared_transaction`: they cannot be made in there."""

    def __init__(self) -> None:
        self.wanted: Planning[Any] | None = None
        self._made: tuple[Planning[Any], Any] | None = None
        self._is_used = False
        self._count = 0

    def use(self, planning: Planning[P]) -> P:
        """Return the plan that was made; raises Error UNAVAILABLE if there is none, and notes that it is wanted."""
        if self._made is None:
            self.want(planning)
            raise _busy()
        self._is_used = True
        plan: P = self._made[1]
        return plan

    def want(self, planning: Planning[Any]) -> None:
        """Note which plan is wanted, unless there were too many."""
        if self._count < PLANS_MAX:
            self.wanted = planning

    async def make(self) -> None:
        """Make the plan that is wanted, outside of all transactions."""
        planning, self.wanted = self.wanted, None
        assert planning is not None
        await self.undo()
        self._count, self._is_used = self._count + 1, False
        self._made = planning, await planning.plan()

    async def undo(self) -> None:
        """Take back what the plan that was made last has prepared."""
        if self._made is not None:
            (planning, plan), self._made = self._made, None
            await planning.undo(plan)

    async def end(self) -> None:
        """Take back the plan if the work has done without it."""
        if not self._is_used:
            await self.undo()


_ahead: ContextVar[_PlansAhead | None] = ContextVar("plans ahead", default=None)


async def plan_ahead(work: Callable[[], Awaitable[T]]) -> T:
    """Do work that opens a shared transaction. If a write in there wants a plan, make it, and do the work again."""
    ahead = _PlansAhead()
    token = _ahead.set(ahead)
    try:
        while True:
            try:
                result = await work()
            except Exception:
                if ahead.wanted is None:
                    await ahead.undo()
                    raise
            else:
                await ahead.end()
                return result
            await ahead.make()
    finally:
        _ahead.reset(token)


async def write_planned(
    database: Database, planning: Planning[P], write: Callable[[Transaction, P], Awaitable[T]]
) -> T:
    """Plan a write, and carry it out in a transaction; again if `write` raises OutdatedError.

    Raises:
        Error: UNAVAILABLE if `PLANS_MAX` plans were outdated. Nothing is changed then.
    """
    ahead = _ahead.get()
    if ahead is not None:
        return await _write_ahead(database, ahead, planning, write)
    for _ in range(PLANS_MAX):
        plan = await planning.plan()
        try:
            async with database.transaction() as transaction:
                return await write(transaction, plan)
        except OutdatedError:
            await planning.undo(plan)
        except Exception:
            await planning.undo(plan)
            raise
    raise _busy()


async def plan_outside(planning: Planning[P]) -> P:
    """Make a plan that is only shown, outside of all transactions that write."""
    ahead = _ahead.get()
    return await planning.plan() if ahead is None else ahead.use(planning)


async def _write_ahead(
    database: Database, ahead: _PlansAhead, planning: Planning[P], write: Callable[[Transaction, P], Awaitable[T]]
) -> T:
    async with database.transaction() as transaction:
        try:
            return await write(transaction, ahead.use(planning))
        except OutdatedError:
            ahead.want(planning)
            raise _busy() from None


def _busy() -> Error:
    return Error(
        Code.UNAVAILABLE,
        "Others have changed what the request is about several times while it was carried out. Nothing was changed. "
        "Try again shortly.",
        retry_after_seconds=1,
    )
