"""Slots of accounts: how many requests of one account run at the same time, and how many wait."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from uuid import UUID
from weakref import WeakValueDictionary

from flagstaff.values.errors import Code, Error

# Requests of one account that run at the same time. SQLite has four readers; one is left for other accounts.
AT_ONCE = 3
# Further ones that wait. The rate limit alone would let more than a thousand wait, each with its body in memory.
WAITING = 64
# Requests that decide or compare flags, besides the slot of a read: of one account, and of all accounts together.
LONG_AT_ONCE, LONG_IN_ALL = 1, 16
_RETRY_AFTER_SECONDS = 1


class _Share:
    """One account's slots."""

    def __init__(self, at_once: int) -> None:
        self.free = asyncio.Semaphore(at_once)
        self.waiting = 0


class Slots:
    """Grants each account's requests their slots, in the order in which they ask."""

    def __init__(self, at_once: int = AT_ONCE, in_all: int | None = None) -> None:
        """Each account has `at_once`, and all of them together `in_all`, unless it is None."""
        self._at_once = at_once
        self._in_all = None if in_all is None else asyncio.Semaphore(in_all)
        self._shares: WeakValueDictionary[UUID, _Share] = WeakValueDictionary()

    @asynccontextmanager
    async def take(self, account_id: UUID) -> AsyncIterator[None]:
        """Wait for a slot, and keep it until the context ends; raises Error LIMITED when too many requests wait."""
        share = self._shares.get(account_id) or self._shares.setdefault(account_id, _Share(self._at_once))
        if share.waiting >= WAITING:
            message = "Too many requests of this account are waiting. Send fewer at a time, or try again shortly."
            raise Error(Code.LIMITED, message, retry_after_seconds=_RETRY_AFTER_SECONDS)
        share.waiting += 1
        try:
            await share.free.acquire()
        finally:
            share.waiting -= 1
        try:
            async with self._in_all or nullcontext():
                yield
        finally:
            share.free.release()
