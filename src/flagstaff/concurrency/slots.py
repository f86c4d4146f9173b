"""Slots of accounts: how many requests of one account run at the same time, and how many wait.

A `FairQueue` bounds all clients together, so it has to choose whose turn is next and who makes room; here, each account
has a bound of its own, and nobody to choose from. One class with both bounds was written and measured: it had as many
lines as these two modules, and could be set up in ways that nobody uses.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from uuid import UUID
from weakref import WeakValueDictionary

from flagstaff.concurrency.claims import Priority
from flagstaff.values.errors import Code, Error

# Requests of one account that run at the same time. SQLite has four readers for them; one is left for other accounts.
AT_ONCE = 3
# Writes of one account that run at the same time, by class.
WRITES_AT_ONCE = {Priority.KILL: 3, Priority.SHORT: 3, Priority.LONG: 1}
# Further ones that wait. The rate limit alone would let more than a thousand wait, each with its body in memory.
WAITING = 64
# The time that a write waits for a slot. While another program has SQLite's file locked, each before it takes seconds.
WRITE_WAIT_SECONDS = 10.0
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

    def __init__(self, at_once: int = AT_ONCE, wait_seconds: float | None = None) -> None:
        """Each account has `at_once`. A request waits for `wait_seconds` at most, or for as long as it takes."""
        self._at_once = at_once
        self._wait_seconds = wait_seconds
        self._shares: WeakValueDictionary[UUID, _Share] = WeakValueDictionary()

    def has_free(self, account_id: UUID) -> bool:
        """Return whether an account's next request gets a slot at once."""
        share = self._shares.get(account_id)
        return share is None or not share.free.locked()

    @asynccontextmanager
    async def take(self, account_id: UUID) -> AsyncIterator[None]:
        """Wait for a slot, and keep it until the context ends; raises Error LIMITED when too many wait, or too long."""
        share = self._shares.get(account_id) or self._shares.setdefault(account_id, _Share(self._at_once))
        if share.waiting >= WAITING:
            raise _too_many()
        share.waiting += 1
        try:
            async with asyncio.timeout(self._wait_seconds):
                await share.free.acquire()
        except TimeoutError:
            raise _too_many() from None
        finally:
            share.waiting -= 1
        try:
            yield
        finally:
            share.free.release()


def write_slots(wait_seconds: float = WRITE_WAIT_SECONDS) -> Mapping[Priority, Slots]:
    """Slots of the writes of each class, so that no account's kill waits for its own longer ones."""
    return {each: Slots(WRITES_AT_ONCE[each], wait_seconds) for each in Priority}


class LongSlots:
    """Slots of requests that take long. All accounts share them, and each has one at a time."""

    def __init__(self, reads: Slots) -> None:
        """Such a request also takes one of its account's slots for `reads`."""
        self._reads = reads
        self._one_of_each = Slots(LONG_AT_ONCE)
        self._of_all = asyncio.Semaphore(LONG_IN_ALL)

    @asynccontextmanager
    async def take(self, account_id: UUID) -> AsyncIterator[Callable[[], None]]:
        """Wait until all slots are free; then they are kept until the context ends.

        While a request waits for one of them, it keeps no slot that others wait for: neither one of its account's
        reads, nor one that all accounts share. The value gives back the latter, when the work is done and only its
        response is left, which a client may receive slowly.
        """
        async with self._one_of_each.take(account_id):
            while True:
                await self._of_all.acquire()
                if self._reads.has_free(account_id):
                    break
                self._of_all.release()
                async with self._reads.take(account_id):
                    pass  # now one is free, and shall be so when a shared one is
            give_back = _once(self._of_all.release)
            try:
                async with self._reads.take(account_id):
                    yield give_back
            finally:
                give_back()


def _too_many() -> Error:
    message = "Too many requests of this account are waiting. Send fewer at a time, or try again shortly."
    return Error(Code.LIMITED, message, retry_after_seconds=_RETRY_AFTER_SECONDS)


def _once(call: Callable[[], None]) -> Callable[[], None]:
    calls = [call]
    return lambda: calls.pop()() if calls else None
