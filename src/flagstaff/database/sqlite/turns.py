"""Turns at SQLite's one writer: accounts take turns, however many requests each has waiting.

With 40 connections, two accounts that create flags in a hundred environments would otherwise keep a third one's toggle
waiting for six of their transactions.
"""

import asyncio
from collections.abc import AsyncIterator, Hashable, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar

from flagstaff.concurrency.fair_queue import FairQueue
from flagstaff.values.errors import unavailable

WAIT_SECONDS = 5.0
"""For how long a transaction waits for its turn. Then it waits as long for a file that another program has locked."""
_WAITING = 4096

_writer: ContextVar[Hashable] = ContextVar("writer", default=None)


@contextmanager
def writing_as(client: Hashable) -> Iterator[None]:
    """Let the transactions inside take the turns of a client. Others take the server's own."""
    token = _writer.set(client)
    try:
        yield
    finally:
        _writer.reset(token)


class Turns:
    """Grants one transaction at a time its turn."""

    def __init__(self, wait_seconds: float = WAIT_SECONDS) -> None:
        self._wait_seconds = wait_seconds
        message = "Too many changes are waiting to be stored. Try again shortly."
        # An account's requests are bounded where they are admitted; what has no account is bounded only in all.
        self._queue = FairQueue(
            at_once=1, waiting=_WAITING, waiting_of_one=_WAITING, too_many=message, too_many_of_one=message
        )

    @asynccontextmanager
    async def take(self) -> AsyncIterator[None]:
        """Wait for a turn, and keep it until the context ends; raises Error UNAVAILABLE if none comes in time."""
        turn = self._queue.take(_writer.get())
        try:
            async with asyncio.timeout(self._wait_seconds):
                await turn.__aenter__()
        except TimeoutError:
            raise unavailable(
                "The database is busy with other changes. Nothing was changed. Try again shortly."
            ) from None
        try:
            yield
        finally:
            await turn.__aexit__(None, None, None)
