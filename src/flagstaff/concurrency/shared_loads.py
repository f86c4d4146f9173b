"""Loads of one thing, one after another, so that a slow one cannot replace a newer state."""

import asyncio
from collections.abc import Awaitable, Callable

from flagstaff.concurrency.supervisor import Supervisor


class SharedLoad:
    """Loads one thing again and again. Callers share a load that has not begun: it sees what they wait for."""

    def __init__(self, supervisor: Supervisor, work: Callable[[], Awaitable[None]]) -> None:
        self._supervisor = supervisor
        self._work = work
        self._lock = asyncio.Lock()
        self._next: asyncio.Task[None] | None = None

    @property
    def is_busy(self) -> bool:
        """True while it is being loaded, or about to be."""
        return self._lock.locked() or (self._next is not None and not self._next.done())

    def begin(self) -> asyncio.Task[None]:
        """Start a load that begins after this call, unless there is one that has not begun yet."""
        if self._next is None or self._next.done():  # a task that was cancelled before it had begun
            self._next = self._supervisor.spawn("load", self._run())
        return self._next

    async def _run(self) -> None:
        async with self._lock:
            self._next = None  # later callers may need changes that this load does not see
            await self._work()
